import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { actorOf, filterChanges, isUnexplained, toChecks, toFinding } from "../../gateway/web/model/change_view.ts";
import { noChanges, withNewer, withOlder, type ChangeWindow } from "../../gateway/web/model/change_window.ts";
import { noFilter } from "../../gateway/web/model/findings_filter.ts";
import { watchStateOf } from "../../gateway/web/model/watch_state.ts";
import { parseChange, parseMonitor, type Monitor } from "../../gateway/web/monitor_wire.ts";
import type { Change } from "../../shared/schemas/change.ts";
import { aChange as aNewChange, anExplanation } from "../support/change_builders.ts";

// Written into the page by its build.
beforeAll(() => {
  const text = {
    title: "Admin Console MFA",
    stigId: "OKTA-APP-000560",
    vulnId: "V-273193",
    controls: [],
    scopes: [],
    fix: "",
  };
  vi.stubGlobal("CHECK_CATALOG", { mfa: { ...text, severity: "high" } });
});
afterAll(() => {
  vi.unstubAllGlobals();
});

const nowMs = Date.parse("2026-11-22T10:00:00.000Z");
const ago = (ms: number) => new Date(nowMs - ms).toISOString();

function aMonitor(changes: object = {}): Monitor {
  return parseMonitor({
    id: "m1",
    org_url: "https://acme.okta.com",
    client_id: null,
    status: "running",
    interval_seconds: 10,
    checks_total: 29,
    pass: 1,
    fail: 2,
    manual: 3,
    log_status: "reading",
    error_code: null,
    error_detail: null,
    last_look_at: ago(0),
    lag_seconds: 0,
    created_at: ago(0),
    updated_at: ago(0),
    ...changes,
  });
}

function aChange(changes: Partial<Change> = {}): Change {
  return { ...aNewChange(), schema: "scanstream.change/1", created_at: ago(0), ...changes };
}

describe("watchStateOf", () => {
  test.for([
    ["live", {}],
    ["live", { updated_at: ago(60_000), last_look_at: ago(60_000), lag_seconds: 60 }],
    ["stale", { updated_at: ago(60_001) }],
    ["delayed", { last_look_at: ago(60_001) }],
    ["delayed", { lag_seconds: 60.001 }],
    // Three intervals, where that is more than a minute.
    ["live", { interval_seconds: 60, updated_at: ago(180_000), last_look_at: ago(180_000) }],
    ["stale", { interval_seconds: 60, updated_at: ago(180_001) }],
    ["delayed", { interval_seconds: 60, last_look_at: ago(180_001) }],
    ["stale", { status: "stale" }],
    ["starting", { last_look_at: null, log_status: "unknown" }],
    ["blind", { log_status: "unreadable", last_look_at: ago(60_001) }],
    ["stale", { log_status: "unreadable", updated_at: ago(60_001) }],
    ["stopped", { status: "stopped", updated_at: ago(3_600_000), log_status: "unreadable" }],
    ["ended", { status: "ended" }],
  ] as const)("%s: %j", ([state, fields]) => {
    expect(watchStateOf(aMonitor(fields), nowMs)).toBe(state);
  });
});

describe("parseMonitor, parseChange", () => {
  test("refuse what is neither", () => {
    for (const value of [null, [], "text", {}, { id: 1 }]) {
      expect(() => parseMonitor(value)).toThrow(TypeError);
      expect(() => parseChange(value)).toThrow(TypeError);
    }
  });

  test("take nothing of another type from what any key may publish", () => {
    const odd = { status: 5, log_status: {}, pass: "many", lag_seconds: "long", last_look_at: "yesterday" };
    expect(aMonitor(odd)).toMatchObject({
      status: "running",
      logStatus: "unknown",
      pass: 0,
      lagSeconds: null,
      lastLookAtMs: null,
    });
  });
});

describe("toFinding", () => {
  test("is null where the finding is gone", () => {
    expect(toFinding(aChange({ to: null }), 1)).toBeNull();
  });

  test("has the severity of its check, and medium for a check that is not known", () => {
    expect(toFinding(aChange({ check: "mfa" }), 1)).toMatchObject({ severity: "high", status: "FAIL" });
    expect(toFinding(aChange({ check: "constructor" }), 1)).toMatchObject({ severity: "medium" });
  });

  test("says since when, and beside MANUAL what was known before", () => {
    const from = { status: "PASS", reason: null } as const;
    const to = { status: "MANUAL", reason: "provider_error" } as const;
    const change = aChange({ from, to, actual: "" });
    expect(toFinding(change, 1)).toMatchObject({ detail: "Pass before", sinceMs: Date.parse(change.seen_at) });
    expect(toFinding(aChange({ from: to, to }), 1)?.detail).not.toContain("before");
    expect(toFinding(aChange({ from: null, cause: "start", actual: "15 minutes" }), 1)?.detail).toBe("15 minutes");
  });
});

test("a window keeps the newest 1,000 changes and says that it left out older ones, however they come", () => {
  const page = (from: number, count: number) =>
    Array.from({ length: count }, (_change, index) => aChange({ id: String(from - index) }));
  const idsOf = ({ changes }: ChangeWindow) => [changes.length, changes[0]?.id, changes.at(-1)?.id];
  let window = withOlder(noChanges, page(50, 50), "older");
  for (let newest = 100; newest <= 1000; newest += 50) window = withNewer(window, page(newest, 60));
  expect([idsOf(window), window.isCut]).toEqual([[1000, "1000", "1"], true]);
  window = withNewer(window, page(5000, 550));
  expect([idsOf(window), window.isCut, window.nextCursor]).toEqual([[1000, "5000", "551"], true, null]);
  window = withOlder(noChanges, page(2000, 999), "older");
  expect([window.isCut, window.nextCursor]).toEqual([false, "older"]);
  expect(withOlder(window, page(1001, 1), "older")).toMatchObject({ isCut: true, nextCursor: null });
  expect(withOlder(window, [...page(1001, 1), aChange({ cause: "start" })], "older")).toMatchObject({ isCut: false });
});

test("toChecks takes the worst finding of each check", () => {
  const findings = [
    aChange({ check: "one", to: { status: "PASS", reason: null } }),
    aChange({ check: "two", to: { status: "MANUAL", reason: "needs_review" } }),
    aChange({ check: "one" }),
  ].flatMap((change, index) => toFinding(change, index) ?? []);
  expect(toChecks(findings)).toMatchObject([
    { check: "one", state: "fail", findingCount: 2 },
    { check: "two", state: "manual", findingCount: 1 },
  ]);
});

test("filterChanges matches what a change was and became, its severity, check, resource and people", () => {
  const failed = aChange({ check: "mfa" });
  const gone = aChange({
    check: "zones",
    from: { status: "MANUAL", reason: "unreadable" },
    to: null,
    explained_by: [],
  });
  const changes = [failed, gone];
  const filter = (change: Partial<typeof noFilter>) => filterChanges(changes, { ...noFilter, ...change });
  expect(filter({})).toEqual(changes);
  expect(filter({ states: new Set(["pass"]) })).toEqual([failed]);
  expect(filter({ states: new Set(["manual"]) })).toEqual([gone]);
  expect(filter({ severities: new Set(["high"]) })).toEqual([failed]);
  expect(filter({ check: "zones" })).toEqual([gone]);
  expect(filter({ text: "ADA rule.update" })).toEqual([failed]);
  expect(filter({ text: "ada zones" })).toEqual([]);
});

test("isUnexplained is what a full scan found and no event explains, the first state excepted", () => {
  expect(isUnexplained(aChange())).toBe(false);
  expect(isUnexplained(aChange({ cause: "reconciliation", explained_by: [] }))).toBe(true);
  expect(isUnexplained(aChange({ cause: "start", explained_by: [] }))).toBe(false);
});

test("actorOf names a person as well as the log does", () => {
  const actor = (name: string | null, login: string | null, id: string | null = "00u1") =>
    actorOf(anExplanation({ actor: { id, type: "User", login, name } }));
  expect(actor("Ada", "ada@acme.example")).toBe("Ada (ada@acme.example)");
  expect(actor("ada@acme.example", "ada@acme.example")).toBe("ada@acme.example");
  expect(actor(null, "ada@acme.example")).toBe("ada@acme.example");
  expect(actor("", null)).toBe("00u1");
  expect(actor(null, null, null)).toBeNull();
  expect(actorOf(anExplanation({ actor: null }))).toBeNull();
});
