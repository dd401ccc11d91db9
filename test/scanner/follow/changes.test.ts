import { describe, expect, it } from "vitest";
import { parseFailOn } from "../../../scanner/decisions/fail_on.ts";
import { changeTexts } from "../../../scanner/follow/change_text.ts";
import {
  isMoved,
  isNewFailure,
  type ChangeLine,
  type KnownFinding,
  type Move,
} from "../../../scanner/follow/changes.ts";
import { obtained } from "../../../scanner/evidence/artifacts.ts";
import { toLogEvent, type LogEvent } from "../../../scanner/follow/log_event.ts";
import { relateObjects } from "../../../scanner/follow/who_changed.ts";
import { ownDecisionsOf } from "../../../scanner/streaming/finding_created.ts";
import { aChange } from "../../support/change_builders.ts";

function known(changes: Partial<KnownFinding> = {}): KnownFinding {
  return {
    check: "a_check",
    fingerprint: "00p1-fingerprint",
    resource: { type: "policy", id: "00p1", name: "Default Policy" },
    status: "PASS",
    reason: null,
    causeId: null,
    advisory: false,
    waived: false,
    attested: null,
    own: ownDecisionsOf(null, null),
    ...changes,
  };
}

const review = { status: "MANUAL", reason: "needs_review" } as const;
const notApplicable = { status: "MANUAL", reason: "not_applicable" } as const;

describe("isNewFailure", () => {
  const move = (from: Partial<KnownFinding> | null, to: Partial<KnownFinding> | null): Move => ({
    from: from === null ? null : known(from),
    to: to === null ? null : known(to),
    expected: "at most 15 minutes",
    toPass: null,
    actual: "",
  });

  it.each<readonly [Move, string, boolean]>([
    [move({}, { status: "FAIL" }), "fail", true],
    [move(null, { status: "FAIL" }), "fail", true],
    [move({ status: "FAIL" }, {}), "fail", false],
    [move({ status: "FAIL" }, null), "fail", false],
    [move({}, { status: "FAIL", waived: true }), "fail", false],
    [move({ status: "FAIL", waived: true }, { status: "FAIL" }), "fail", true],
    [move({ status: "FAIL" }, { status: "FAIL", waived: true }), "fail", false],
    [move({ ...review, attested: "PASS" }, review), "manual", true],
    [move(review, { ...review, attested: "PASS" }), "manual", false],
    [move(review, { ...review, attested: "FAIL" }), "fail", true],
    [move({}, { status: "FAIL", advisory: true }), "fail", false],
    [move({ ...review, advisory: true }, review), "manual", true],
    [move({}, review), "manual", true],
    [move({ status: "FAIL" }, review), "manual", false],
    [move({}, notApplicable), "manual", false],
    [move(notApplicable, review), "manual", true],
  ])("%j with --fail-on %s: %s", (change, failOn, isNew) => {
    expect([isMoved(change), isNewFailure(change, parseFailOn(failOn), "medium")]).toEqual([true, isNew]);
  });
});

describe("changeTexts", () => {
  const changeText = (written: ChangeLine): string => changeTexts([written], table).join("\n");
  const line = (changes: Partial<ChangeLine>): ChangeLine => ({
    ...aChange(),
    schema: "scanstream.change/1",
    org_url: "https://acme.okta.com",
    monitor_id: "7b0a6f0e-6f3c-4a0c-9a46-3f4c0d7a1b12",
    seen_at: "2026-11-01T14:03:12.000Z",
    explained_by: [],
    ...changes,
  });
  const ruleOf = () => ({ vuln_id: "V-1", category: "II" as const, title: "Rule." });
  const table = { format: "table", color: false, ruleOf } as const;

  it("counts the first results of an org in one line, where they would fill a screen", () => {
    const starts = Array.from({ length: 21 }, () => line({ from: null, cause: "start" }));
    expect(changeTexts([...starts, line({ cause: "reconciliation" })], table)).toEqual([
      '2026-11-01 14:03:12Z  First results: 21 findings, 0 PASS, 21 FAIL, 0 MANUAL, 0 N/A. "scanstream scan" shows them',
      expect.stringContaining("PASS → FAIL"),
    ]);
    expect(changeTexts(starts.slice(1), table)).toHaveLength(20);
    expect(changeTexts(starts, { ...table, format: "ndjson" })).toHaveLength(21);
  });

  it("says of a list that cannot be read what became of its objects only", () => {
    const to = { status: "MANUAL", reason: "provider_error" } as const;
    const ofList = line({ from: null, to, resource: { type: "org", id: "o", name: "acme" } });
    expect(changeTexts([ofList, line({ to })], table)).toEqual([expect.not.stringContaining("(none)")]);
    expect(changeTexts([ofList, line({})], table)).toHaveLength(2);
  });

  it("names the attestation, too, where the decisions about a waived finding changed", () => {
    const attestation = { attestation_status: "PASS", attestation_by: "Bob" } as const;
    const both = {
      ...line({ cause: "decision" }),
      from_waived: true,
      to_waived: true,
      waiver_by: "Ada",
      ...attestation,
    };
    expect(changeText(both)).toMatch(/now waived by Ada, attested as PASS by Bob$/);
    expect(changeText({ ...both, to_waived: false })).toMatch(/the waiver ended, attested as PASS by Bob$/);
  });
});

it("an event names who changed a zone of 150,000 addresses", () => {
  const gateways = Array.from({ length: 150_000 }, () => ({ type: "CIDR", value: "192.0.2.0/24" }));
  const evidence = { network_zones: obtained([{ id: "nzo1", gateways }]) };
  const event = toLogEvent({ eventType: "zone.update", target: [{ id: "nzo1", type: "NetworkZone" }] }) as LogEvent;
  const isAbout = relateObjects(evidence, evidence, { needs: ["network_zones"], touching: [{ event, artifacts: [] }] });
  expect(isAbout({ type: "zone", id: "nzo1", name: "Office" })(event)).toBe(true);
});
