import { describe, expect, test } from "vitest";
import { compareFindings } from "../../../scanner/diff/compare_findings.ts";
import type { Role } from "../../../shared/history/observation.ts";
import type { Finding } from "../../../shared/report.ts";
import { aCheckResult, aFinding as anyFinding } from "../../support/report_builders.ts";

function aFinding({ type = "policy", id = "00p1", name = `Policy ${id}`, ...changes }: Changes = {}): Finding {
  return anyFinding({ resource: { type, id, name }, fingerprint: `fingerprint of ${id}`, ...changes });
}

type Changes = Partial<Finding & Finding["resource"]>;

const passing = { status: "PASS", actual: "15 minutes" } as const;
const manual = { status: "MANUAL", reason: "needs_review" } as const;
/** Stands for a list that could not be read. */
const unread = aFinding({ type: "org", id: "org", status: "MANUAL", reason: "missing_scope" });

const unseen = aFinding({ ...unread.resource, status: "MANUAL", reason: "partly_automated" });

const compare = (before: readonly Finding[], after: readonly Finding[], role: Role = "super_admin") =>
  compareFindings([aCheckResult({ findings: before })], [aCheckResult({ findings: after })], role);

function kinds(before: readonly Finding[], after: readonly Finding[], role?: Role) {
  return compare(before, after, role).changes.map(({ change, resource }) => `${change} ${resource.id}`);
}

describe("compareFindings", () => {
  test.each([
    ["nothing for the same finding", [aFinding()], [aFinding()], []],
    ["a new FAIL", [aFinding()], [aFinding(), aFinding({ id: "2" })], ["new 2"]],
    ["FAIL to PASS", [aFinding()], [aFinding(passing)], ["resolved 00p1"]],
    ["MANUAL to PASS", [aFinding(manual)], [aFinding(passing)], ["resolved 00p1"]],
    ["PASS to FAIL", [aFinding(passing)], [aFinding()], ["verdict_moved 00p1"]],
    ["FAIL to MANUAL", [aFinding()], [aFinding(manual)], ["verdict_moved 00p1"]],
    ["another reason", [aFinding(manual)], [aFinding({ ...manual, reason: "unreadable" })], ["reason_moved 00p1"]],
    ["another value", [aFinding()], [aFinding({ actual: "60 minutes" })], ["value_changed 00p1"]],
    ["another expectation", [aFinding()], [aFinding({ expected: "10 minutes" })], ["value_changed 00p1"]],
    ["an open one whose resource is gone", [aFinding(), aFinding({ id: "2" })], [aFinding()], ["resolved 2"]],
    ["a PASS whose resource is gone", [aFinding(), aFinding({ id: "2", ...passing })], [aFinding()], ["gone 2"]],
    ["an open one when the list could not be read", [aFinding()], [unread], ["new org", "gone 00p1"]],
    ["an open one of which the role sees nothing", [aFinding()], [unseen], ["new org", "gone 00p1"]],
  ] as const)("says %s", (_, before, after, expected) => {
    expect(kinds(before, after)).toEqual(expected);
  });

  test("pairs a resource that was made anew by its name, and only where one has it", () => {
    const named = (id: string, changes: Changes = {}) => aFinding({ id: id, name: "Employees", ...changes });
    expect(kinds([named("1")], [named("2")])).toEqual([]);
    expect(kinds([named("1")], [named("2", passing)])).toEqual(["resolved 2"]);
    expect(kinds([named("1"), named("2")], [named("3")])).toEqual(["new 3", "resolved 1", "resolved 2"]);
    expect(kinds([named("1")], [named("2", { type: "app" })])).toEqual(["new 2", "resolved 1"]);
  });

  test("resolves no app that the role of the second scan may not see", () => {
    const app = aFinding({ type: "app" });
    expect(kinds([app, aFinding({ id: "2" })], [], "read_only_admin")).toEqual(["resolved 2", "gone 00p1"]);
    expect(kinds([app], [])).toEqual(["resolved 00p1"]);
  });

  test("says nothing about a check that only one side evaluated", () => {
    const [one, other] = [aCheckResult(), aCheckResult({ check: "other_check" })];
    expect(compareFindings([one, other], [one], "unknown")).toEqual({
      changes: [],
      notCompared: [{ check: "other_check", only_in: "before" }],
    });
    expect(compareFindings([one], [one, other], "unknown").notCompared).toEqual([
      { check: "other_check", only_in: "after" },
    ]);
  });
});
