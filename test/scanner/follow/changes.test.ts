import { describe, expect, it } from "vitest";
import { parseFailOn } from "../../../scanner/decisions/fail_on.ts";
import { changeTexts } from "../../../scanner/follow/change_text.ts";
import {
  isMoved,
  isNewFailure,
  toExplanation,
  toChangeLine,
  type ChangeLine,
  type KnownFinding,
  type Move,
} from "../../../scanner/follow/changes.ts";
import { toLogEvent, type LogEvent } from "../../../scanner/follow/log_event.ts";
import { ownDecisionsOf } from "../../../scanner/streaming/finding_created.ts";

function known(changes: Partial<KnownFinding> = {}): KnownFinding {
  return {
    check: "a_check",
    fingerprint: "00p1-fingerprint",
    resource: { type: "policy", id: "00p1", name: "Default Policy" },
    status: "PASS",
    reason: null,
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
    [move({}, { status: "FAIL" }), "fail:high", false],
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
  const changeText = (...[written, options]: [ChangeLine, Parameters<typeof changeTexts>[1]]): string =>
    changeTexts([written], options).join("\n");
  const event = (login: string): LogEvent => {
    const found = toLogEvent({
      uuid: login,
      eventType: "policy.rule.update",
      actor: { alternateId: login, displayName: null },
      client: { ipAddress: "192.0.2.1" },
    });
    if (found === null) throw new TypeError("The event has no type");
    return found;
  };
  const line = (cause: ChangeLine["cause"], events: readonly LogEvent[] = []): ChangeLine =>
    toChangeLine(
      {
        from: cause === "start" ? null : known(),
        to: known({ status: "FAIL" }),
        expected: "at most 15 minutes",
        actual: "120 minutes",
        toPass: null,
      },
      {
        id: "7b0a6f0e-6f3c-4a0c-9a46-3f4c0d7a1b11",
        org_url: "https://acme.okta.com",
        monitor_id: "7b0a6f0e-6f3c-4a0c-9a46-3f4c0d7a1b12",
        rule: { status: "FAIL", reason: null, severity: "medium" },
        seen_at: "2026-11-01T14:03:12.000Z",
        cause,
        explained_by: events.map((one) => toExplanation(one, false)),
        also: [],
      },
    );
  const ruleOf = () => ({ vuln_id: "V-1", category: "II" as const, title: "Rule." });
  const table = { format: "table", color: false, ruleOf } as const;

  it("counts the first results of an org in one line, where they would fill a screen", () => {
    const starts = Array.from({ length: 21 }, () => line("start"));
    expect(changeTexts([...starts, line("reconciliation")], table)).toEqual([
      '14:03:12Z  First results: 21 findings, 0 PASS, 21 FAIL, 0 MANUAL, 0 N/A. "scanstream scan" shows them',
      expect.stringContaining("PASS → FAIL"),
    ]);
    expect(changeTexts(starts.slice(1), table)).toHaveLength(20);
    expect(changeTexts(starts, { ...table, format: "ndjson" })).toHaveLength(21);
  });

  it.each(["\u001b[31mred", "two\nlines", "\u202Ebidi"])("writes one harmless line where the actor is %j", (login) => {
    for (const format of ["table", "ndjson"] as const) {
      const text = changeText(line("log", [event(login)]), { format, color: false, ruleOf: () => undefined });
      expect(text).not.toMatch(/[\p{Cc}\u202a-\u202e]/u);
    }
  });

  it("names the attestation, too, where the decisions about a waived finding changed", () => {
    const attestation = { attestation_status: "PASS", attestation_by: "Bob" } as const;
    const both = { ...line("decision"), from_waived: true, to_waived: true, waiver_by: "Ada", ...attestation };
    expect(changeText(both, table)).toMatch(/now waived by Ada, attested as PASS by Bob$/);
    expect(changeText({ ...both, to_waived: false }, table)).toMatch(/the waiver ended, attested as PASS by Bob$/);
  });

  it("writes the whole line as JSON, without addresses", () => {
    const written = line("log", [event("a@x.example")]);
    const text = changeText(written, { format: "ndjson", color: false, ruleOf });
    expect(JSON.parse(text)).toEqual(written);
    expect(text).not.toContain("192.0.2.1");
  });
});
