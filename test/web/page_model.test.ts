import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { indexDecisions } from "../../gateway/web/model/decisions/decision_index.ts";
import { toFinding, type Finding } from "../../gateway/web/model/finding.ts";
import { needsYou } from "../../gateway/web/model/needs_you.ts";
import { byWhom, movedText, remedyOf, toNews } from "../../gateway/web/model/news.ts";
import { toPlan } from "../../gateway/web/model/plan.ts";
import { parseRoute, parseRulesView, toAddress } from "../../gateway/web/model/route.ts";
import { filterRules, passingDays, toRules } from "../../gateway/web/model/rules.ts";
import type { Change } from "../../shared/schemas/change.ts";
import type { Decision } from "../../shared/schemas/decision.ts";
import { mapNotes } from "../../shared/schemas/finding_notes.ts";
import type { HistoryDay } from "../../shared/schemas/history.ts";
import { aChange as aNewChange, anExplanation, fail, pass } from "../support/change_builders.ts";

const text = { stig_id: "OKTA-APP-000560", nist_800_53_r5: ["IA-2 (1)"], scopes: [], fix: "Require two factors." };

// Written into the page by its build.
beforeAll(() => {
  vi.stubGlobal("CHECK_CATALOG", {
    mfa: { ...text, title: "Admin Console MFA.", severity: "high" },
    idle: { ...text, title: "Idle time.", severity: "medium" },
  });
});
afterAll(() => {
  vi.unstubAllGlobals();
});

const nowMs = Date.parse("2026-11-22T10:00:00.000Z");
const ago = (ms: number) => new Date(nowMs - ms).toISOString();
const minuteMs = 60_000;
const dayMs = 86_400_000;
const open = { status: "MANUAL", reason: "partly_automated" } as const;
const better = { from: fail, to: pass } as const;
const unread = { status: "MANUAL", reason: "provider_error" } as const;

function aFinding(changes: Partial<Finding> = {}): Finding {
  return {
    ...mapNotes(() => null),
    fingerprint: `${changes.check ?? "mfa"} ${changes.resource_name ?? ""}`,
    check: "mfa",
    ...fail,
    severity: "high",
    resource_type: "app",
    resource_id: "0oa1",
    resource_name: "Admin Console",
    expected: "two factors",
    actual: "1FA",
    detail: "",
    automated: null,
    cause: null,
    advisory: false,
    ownWaiver: null,
    ownAttestation: null,
    created_at: ago(0),
    ...changes,
  };
}

function aChange(changes: Partial<Change> = {}): Change {
  const { check = "mfa", to = fail } = changes;
  const rule = { ...(to ?? pass), severity: check === "mfa" ? ("high" as const) : ("medium" as const) };
  return {
    schema: "scanstream.change/1",
    ...aNewChange({ check, fingerprint: check, rule, seen_at: ago(0) }),
    created_at: changes.seen_at ?? ago(0),
    ...changes,
  };
}

function aDecision(changes: Partial<Decision> = {}): Decision {
  const terms = { resource: null, status: null, reason: "accepted", expires: null, org_url: null } as const;
  // Its ids and times matter to nothing here.
  return { kind: "waiver", check: "mfa", by: "ada", state: "active", ...terms, ...changes } as Decision;
}

/** Decisions that its scan had in a file. */
const byEve = { status: "PASS", reason: "accepted", by: "eve" } as const;
const waivedUntil = (expires: string | null): Partial<Finding> => ({
  ownWaiver: { ...byEve, kind: "waiver", status: null, expires },
});
const attestedUntil = (expires: string, status: "PASS" | "FAIL" = "PASS"): Partial<Finding> => ({
  ownAttestation: { ...byEve, kind: "attestation", status, expires },
});
const ofRun = { ...waivedUntil(null), ...attestedUntil("2026-11-22") };
const failsByRun = { ...unread, ...ofRun, ...attestedUntil("2026-11-22", "FAIL") };
const passedByRun = { ...unread, ...attestedUntil("2026-11-21") };
const attested = aDecision({ kind: "attestation", status: "PASS" });

function decided(...decisions: readonly Decision[]) {
  return indexDecisions(decisions, { orgUrl: "https://acme.okta.com", nowMs });
}

function rulesOf(findings: readonly Finding[], decisions = decided(), changes: readonly Change[] = []) {
  return toRules({ findings, results: [], changes, history: null }, decisions);
}

test.each<[string, readonly Partial<Finding>[], readonly Decision[], object]>([
  ["a rule fails where one finding fails", [pass, fail], [], { state: "fail", isWaived: false, deciding: 1 }],
  ["advice decides nothing", [pass, { ...fail, advisory: true }], [], { state: "pass" }],
  ["a waived failure stays one", [fail], [aDecision()], { state: "fail", isWaived: true }],
  ["a failure is not attested away", [fail], [attested], { state: "fail" }],
  ["its scan's waiver is over", [{ ...fail, ...waivedUntil("2026-11-21") }], [], { isWaived: false }],
  ["its scan's attestation is over", [passedByRun], [], { state: "manual", attestation: null }],
  ["its scan's attestation is before the gateway's", [failsByRun], [attested], { state: "fail", isWaived: true }],
  ["it does not apply", [{ status: "MANUAL", reason: "not_applicable" }], [], { state: "not_applicable" }],
])("%s", (_, findings, decisions, expected) => {
  const all = findings.map((finding, index) => aFinding({ resource_name: `App ${index}`, ...finding }));
  expect(rulesOf(all, decided(...decisions)).find(({ check }) => check === "mfa")).toMatchObject(expected);
});

test.each<[string, Partial<Change>, Partial<Finding> | null, object | null]>([
  ["a waiver of the gateway's that has ended there", { to_waived: true }, null, { by: null }],
  ["no waiver, although the scan had one", {}, ofRun, null],
  ["its own waiver", { to_waived: true, waiver_reason: "CHG-2", waiver_by: "ada" }, ofRun, { by: "ada" }],
  ["no waiver that is over", { to_waived: true, waiver_reason: "CHG-2", waiver_expires: "2026-11-21" }, null, null],
  ["its own attestation", { to: unread, attestation_status: "PASS", attestation_by: "ada" }, null, { by: "ada" }],
  ["an attestation of the scan", { to: unread }, { ...unread, ...ofRun }, { by: "eve", status: "PASS" }],
  ["no attestation of another result", { to: open }, { ...unread, ...ofRun }, null],
  ["no attestation that has ended since", { to: unread, cause: "decision" }, { ...unread, ...ofRun }, null],
])("a finding of a monitor has %s", (_, change, scanned, expected) => {
  const finding = toFinding(aChange(change), scanned === null ? undefined : aFinding(scanned));
  const decision = finding && decided().ofFinding(finding);
  if (expected === null) expect(decision).toBeNull();
  else expect(decision).toMatchObject(expected);
});

test("a finding of a monitor has the value of a scan that is later and has the same result", () => {
  const scanned = aFinding({ actual: "60 minutes", read_from: "GET x", created_at: ago(minuteMs) });
  const [later, earlier] = [aChange({ actual: "30 minutes" }), aChange({ actual: "30 minutes", seen_at: ago(dayMs) })];
  expect(toFinding(earlier, scanned)).toMatchObject({ actual: "60 minutes", read_from: "GET x" });
  expect(toFinding(later, scanned)).toMatchObject({ actual: "30 minutes", read_from: null });
});

test.each([
  ["V-299999", ["v_299999"]],
  ["admin CONSOLE 1fa", ["mfa", "v_299999"]],
  ["IA-2", ["mfa", "idle"]],
])("the filter %j finds rules by any of their words", (words, checks) => {
  const rules = rulesOf([aFinding(), aFinding({ check: "v_299999", severity: "medium" })]);
  expect(filterRules(rules, { state: null, text: words, rule: null }).map(({ check }) => check)).toEqual(checks);
  expect(filterRules(rules, { state: "pass", text: "", rule: "mfa" }).map(({ check }) => check)).toEqual(["mfa"]);
});

test.each<[string, readonly HistoryDay["status"][], object | null]>([
  ["fails today", ["PASS", "FAIL"], null],
  ["passes since the last failure", ["FAIL", "PASS", "PASS"], { known: 2, unknown: 0 }],
  ["was not looked at in between", ["PASS", "UNKNOWN", "UNKNOWN", "PASS"], { known: 2, unknown: 2 }],
  ["was not looked at today", ["PASS", "UNKNOWN"], { known: 1, unknown: 1 }],
])("days of passing of a rule that %s", (_, statuses, expected) => {
  const days = statuses.map((status, index) => ({ day: `2026-11-0${index + 1}`, status, known_seconds: 0 }));
  const found = passingDays({ days });
  if (expected === null) expect(found).toBeNull();
  else expect(found).toMatchObject(expected);
});

test.each<[string, readonly Partial<Finding>[], object | null]>([
  ["its only finding moved", [fail], { atMs: nowMs - 5 * minuteMs, actor: "Ada Admin" }],
  ["another one failed before", [fail, fail], null],
  ["the others pass", [fail, pass], { atMs: nowMs - 5 * minuteMs, actor: "Ada Admin" }],
])("a change says since when a rule fails, and who did it, where %s", (_, findings, since) => {
  const all = findings.map((finding, index) => aFinding({ resource_name: `App ${index}`, ...finding }));
  const change = aChange({ fingerprint: "mfa App 0", seen_at: ago(5 * minuteMs) });
  const [rule] = rulesOf(all, decided(), [aChange({ ...change, from: fail, seen_at: ago(0) }), change]);
  expect(rule?.since).toEqual(since && { ...since, days: null });
});

test("news: a failure that passed again is over, asks for no fix, also when it fails anew, and still calls for a person", () => {
  const [passes, before] = [aChange({ from: fail, to: pass }), aChange({ seen_at: ago(minuteMs) })];
  const over = toNews([passes, before], null);
  expect(over.map((item) => [item.kind, movedText(item), remedyOf(item)])).toEqual([
    ["better", "PASS", null],
    ["over", "FAIL, then PASS", null],
  ]);
  expect(toNews([aChange(), passes, before], null).map(({ kind }) => kind)).toEqual(["worse", "better", "over"]);
  expect(needsYou({ watch: "live", news: over, cat1Open: 0, decisions: [] }, nowMs)).toEqual(["regression"]);
});

test("news: what one act moved is one line, CAT I for the worse is first, and what was seen is left out", () => {
  const namesake = { id: "00u2", type: "User", login: "ada@acme.example", name: "Ada Admin" };
  const act = [anExplanation(), anExplanation({ actor: namesake })];
  const news = toNews(
    [
      aChange({ id: "2", check: "idle", explained_by: act, seen_at: ago(minuteMs) }),
      aChange({ id: "3", check: "idle", from: fail, to: pass, explained_by: aNewChange().explained_by }),
      aChange({ id: "1", explained_by: act, seen_at: ago(minuteMs) }),
      aChange({ id: "0", seen_at: ago(dayMs) }),
    ],
    nowMs - 2 * minuteMs,
  );
  expect(news.map(({ kind, change, changes }) => [kind, change.rule.severity, changes.length])).toEqual([
    ["worse", "high", 2],
    ["better", "medium", 1],
  ]);
  expect(news.map(byWhom)).toEqual(["Ada Admin (admin@acme.example), Ada Admin (ada@acme.example)", "Ada Admin"]);
});

test("news: names who waived a failure, also when the waiver is over", () => {
  const waived = { to_waived: true, waiver_reason: "CHG-2", waiver_by: "ada", waiver_expires: "2026-11-21" };
  const news = toNews([aChange({ ...waived, from: fail, cause: "decision" })], null, decided().waiverOf);
  expect(news.map(byWhom)).toEqual(["waived by ada"]);
});

test("news: a failure of CAT I is before newer evidence of CAT I that was lost", () => {
  const failure = aChange({ id: "1", seen_at: ago(minuteMs) });
  const lost = aChange({ id: "2", from: pass, to: unread, explained_by: aNewChange().explained_by });
  expect(toNews([lost, failure], null).map(({ id }) => id)).toEqual(["1", "2"]);
});

test.each<[string, Partial<Change>, string]>([
  ["a failure that is waived", { from: pass, to: fail, to_waived: true }, "other"],
  ["lost evidence", { from: open, to: unread }, "worse"],
  ["a failure that is not known any more", { from: fail, to: unread }, "other"],
  ["a new finding that passes", { from: null, to: pass }, "other"],
  ["a finding that is gone", { from: pass, to: null }, "other"],
])("news: %s", (_, change, kind) => {
  expect(toNews([aChange(change)], null)[0]?.kind).toBe(kind);
});

test.each<[string, readonly Partial<Change>[], readonly string[]]>([
  ["a change for the worse", [{ cause: "log" }], ["regression"]],
  ["a change nobody explained", [{ ...better, cause: "reconciliation", explained_by: [] }], ["unexplained"]],
  ["a change for the better", [better], []],
])("needs you: %s", (_, changes, needs) => {
  const news = toNews(changes.map(aChange), null);
  expect(needsYou({ watch: "live", news, cat1Open: 0, decisions: [] }, nowMs)).toEqual(needs);
});

test.each([
  ["ends soon", "2026-12-01", ["decision ends"]],
  ["has ended", "2026-11-21", []],
  ["holds longer", "2027-12-01", []],
])("needs you: a decision that %s", (_, expires, needs) => {
  const decisions = [aDecision({ expires, org_url: "https://acme.okta.com" })];
  expect(needsYou({ watch: "live", news: [], cat1Open: 0, decisions }, nowMs)).toEqual(needs);
});

test("the plan names what fails before a run has named the object, CAT I first", () => {
  const rules = rulesOf([
    aFinding(),
    aFinding({ check: "idle", severity: "medium", cause: "00p1", to_pass: 'In policy "A": set it to 15' }),
  ]);
  const { changes } = toPlan(rules, decided());
  expect(changes.map(({ checks }) => checks)).toEqual([["mfa"], ["idle"]]);
  expect(changes.map(({ number }) => number)).toEqual([null, 1]);
  expect(changes[0]?.change).toBe("Require two factors.");
});

test("the plan counts a failure that only a person found", () => {
  const attested = decided(aDecision({ kind: "attestation", check: "idle", status: "FAIL", resource: null }));
  const findings = [aFinding({ cause: "rul1" }), aFinding({ ...open, check: "idle", severity: "medium" })];
  const { headline } = toPlan(rulesOf(findings, attested), attested);
  expect(headline).toBe("1 change closes 1 of the 2 rules that fail; for the other, see its fix");
});

test("an address keeps what is shown of an organization", () => {
  const address = "#/organizations/1?status=waived&q=console&rule=V-273193&as-of=2026-11-01";
  const view = parseRulesView(address);
  expect(view).toMatchObject({ text: "console", rule: "application_admin_console_mfa_required" });
  expect(toAddress("#/organizations/1?old=1", view)).toBe(address);
  // Ids are UUIDs, in any case.
  expect(parseRulesView("#/organizations/1?as-of=2F0F").asOf).toBe("2f0f");
  expect(parseRoute("#/scans/2F0F")).toEqual({ page: "scan", id: "2f0f" });
  expect(parseRulesView("#/organizations/1?status=N/A&rule=x")).toMatchObject({ state: "not_applicable", rule: "x" });
});
