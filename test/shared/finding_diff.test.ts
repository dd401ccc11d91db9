import { describe, expect, test } from "vitest";
import { compareFindings, type ComparedFinding } from "../../shared/finding_diff.ts";

function aFinding(changes: Partial<ComparedFinding> = {}): ComparedFinding {
  const { resource_id: id = "00p1" } = changes;
  return {
    check: "one_check",
    severity: "medium",
    fingerprint: `fingerprint of ${id}`,
    status: "FAIL",
    reason: null,
    resource_type: "policy",
    resource_id: id,
    resource_name: `Policy ${id}`,
    expected: "15 minutes",
    actual: "120 minutes",
    ...changes,
  };
}

const passing = { status: "PASS", actual: "15 minutes" } as const;
const manual = { status: "MANUAL", reason: "needs_review" } as const;
/** Stands for a list that could not be read. */
const unread = aFinding({ resource_type: "org", resource_id: "org", status: "MANUAL", reason: "missing_scope" });

function kinds(before: readonly ComparedFinding[], after: readonly ComparedFinding[]) {
  return compareFindings(before, after).changes.map(({ change, resource }) => `${change} ${resource.id}`);
}

describe("compareFindings", () => {
  test.each([
    ["nothing for the same finding", [aFinding()], [aFinding()], []],
    ["a new FAIL", [aFinding()], [aFinding(), aFinding({ resource_id: "2" })], ["new 2"]],
    ["a new PASS", [aFinding()], [aFinding(), aFinding({ resource_id: "2", ...passing })], ["new 2"]],
    ["FAIL to PASS", [aFinding()], [aFinding(passing)], ["resolved 00p1"]],
    ["MANUAL to PASS", [aFinding(manual)], [aFinding(passing)], ["resolved 00p1"]],
    ["PASS to FAIL", [aFinding(passing)], [aFinding()], ["verdict_moved 00p1"]],
    ["FAIL to MANUAL", [aFinding()], [aFinding(manual)], ["verdict_moved 00p1"]],
    ["another reason", [aFinding(manual)], [aFinding({ ...manual, reason: "unreadable" })], ["reason_moved 00p1"]],
    ["another value", [aFinding()], [aFinding({ actual: "60 minutes" })], ["value_changed 00p1"]],
    ["another expectation", [aFinding()], [aFinding({ expected: "10 minutes" })], ["value_changed 00p1"]],
    ["an open one whose resource is gone", [aFinding(), aFinding({ resource_id: "2" })], [aFinding()], ["resolved 2"]],
    [
      "a PASS whose resource is gone",
      [aFinding(), aFinding({ resource_id: "2", ...passing })],
      [aFinding()],
      ["gone 2"],
    ],
    ["an open one when the list could not be read", [aFinding()], [unread], ["new org", "gone 00p1"]],
  ] as const)("says %s", (_, before, after, expected) => {
    expect(kinds(before, after)).toEqual(expected);
  });

  test("pairs a resource that was made anew by its name, and only where one has it", () => {
    const named = (id: string, changes: Partial<ComparedFinding> = {}) =>
      aFinding({ resource_id: id, resource_name: "Employees", ...changes });
    expect(kinds([named("1")], [named("2")])).toEqual([]);
    expect(kinds([named("1")], [named("2", passing)])).toEqual(["resolved 2"]);
    expect(kinds([named("1"), named("2")], [named("3")])).toEqual(["new 3", "resolved 1", "resolved 2"]);
    expect(kinds([named("1")], [named("2", { resource_type: "app" })])).toEqual(["new 2", "resolved 1"]);
  });

  test("says nothing about a check that only one side evaluated", () => {
    const other = aFinding({ check: "other_check" });
    expect(compareFindings([aFinding(), other], [aFinding()])).toEqual({
      changes: [],
      notCompared: [{ check: "other_check", onlyIn: "before" }],
    });
    expect(compareFindings([aFinding()], [aFinding(), other]).notCompared).toEqual([
      { check: "other_check", onlyIn: "after" },
    ]);
  });

  test("does not depend on the order of findings", () => {
    const before = Array.from({ length: 30 }, (_, index) => aFinding({ resource_id: `${index}` }));
    const after = before.slice(3).map((finding, index) => (index % 5 === 0 ? { ...finding, ...passing } : finding));
    const expected = compareFindings(before, after);
    expect(compareFindings(before, before).changes).toEqual([]);
    expect(compareFindings(before, before.toReversed()).changes).toEqual([]);
    expect(compareFindings(before.toReversed(), after.toReversed())).toEqual(expected);
  });
});
