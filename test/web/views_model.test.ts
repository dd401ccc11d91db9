import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { parseFindingAddress, toFindingAddress } from "../../gateway/web/model/finding_address.ts";
import { toAttention } from "../../gateway/web/model/attention.ts";
import { filterOverview, toOverview } from "../../gateway/web/model/overview.ts";
import { parseRoute } from "../../gateway/web/model/route.ts";
import { diffWords } from "../../gateway/web/model/word_diff.ts";
import type { Organization } from "../../gateway/web/organization_wire.ts";

/** What the views of the page decide without a browser: addresses, order and differences. */

beforeAll(() => {
  const rule = { title: "Sessions", stigId: "OKTA-APP-000020", vulnId: "V-273186", severity: "medium", fix: "" };
  vi.stubGlobal("CHECK_CATALOG", { signon_idle: { ...rule, controls: ["AC-11 a"], scopes: [] } });
});
afterAll(() => {
  vi.unstubAllGlobals();
});

test.each([
  ["", { page: "overview" }],
  ["#/?utm_source=mail", { page: "overview" }],
  ["#/organizations/a-1?status=fail", { page: "organization", id: "a-1" }],
  ["#/scans/a", { page: "scan", id: "a" }],
  ["#/monitors/a", { page: "monitor", id: "a" }],
  ["#/nothing/a/b", { page: "unknown" }],
  ["#/settings", { page: "settings", section: "" }],
  ["#/settings/keys", { page: "settings", section: "keys" }],
  ["#/scans/%E0%A4%A", { page: "unknown" }],
  [`#/scans/${"a".repeat(65)}`, { page: "unknown" }],
] as const)("the address %s names its page", (address, route) => {
  expect(parseRoute(address)).toMatchObject(route);
});

test("the filter and the open finding survive the address, and what is not understood is left out", () => {
  const address = "#/scans/a?rule=V-273186&status=fail%2Cmanual&cat=1&control=AC-11&q=a+b&order=resource&finding=f%231";
  const parsed = parseFindingAddress(address);
  expect(parsed.filter).toEqual({
    states: new Set(["fail", "manual"]),
    severities: new Set(["high"]),
    check: "signon_idle",
    control: "AC-11",
    text: "a b",
    order: "resource",
  });
  expect(parsed.finding).toBe("f#1");
  expect(toFindingAddress(address, parsed)).toBe(address);
  const nonsense = parseFindingAddress("#/scans/a?status=great&cat=9&order=best&utm_source=mail");
  expect(toFindingAddress("#/scans/a?x=1", nonsense)).toBe("#/scans/a");
});

function anOrganization(name: string, changes: Partial<Organization> = {}): Organization {
  const counts = {
    pass: 1,
    fail: 0,
    manual: 0,
    not_applicable: 0,
    unknown: 0,
    not_evaluated: 0,
    cat1_open: 0,
    cat2_open: 0,
    cat3_open: 0,
  };
  const scan = { last_scan_id: null, last_scan_at: new Date(nowMs).toISOString() };
  const monitor = { monitor_id: null, monitor_status: null };
  return {
    id: name,
    org_url: `https://${name}`,
    name,
    ...counts,
    ...scan,
    ...monitor,
    ...changes,
  };
}

const nowMs = Date.parse("2026-11-25T12:00:00Z");

test("the overview is worst first, what nobody looks at is last, and one whose monitor is not known is not said to be live", () => {
  const old = new Date(nowMs - 31 * 86_400_000).toISOString();
  const organizations = [
    anOrganization("fine"),
    anOrganization("forgotten", { cat1_open: 9, last_scan_at: old }),
    anOrganization("two", { cat2_open: 5 }),
    anOrganization("one", { cat1_open: 1, monitor_id: "m", monitor_status: "running" }),
  ];
  const tenant = {
    organizations: { items: organizations },
    monitors: { items: [] },
    scans: { items: [] },
    connection: { state: "live", problem: null, refetchedAtMs: nowMs },
  } as const;
  const connecting = { state: "connecting", problem: null, refetchedAtMs: null } as const;
  expect(toOverview({ ...tenant, connection: connecting }, nowMs)).toBeNull();
  const rows = toOverview(tenant, nowMs) ?? [];
  expect(rows.map(({ organization }) => organization.name)).toEqual(["one", "two", "fine", "forgotten"]);
  expect(rows.map(({ isEnded }) => isEnded)).toEqual([false, false, false, true]);
  expect(rows[0]?.watch).toBe("unknown");
  expect(toAttention(rows, { state: "live" })).toEqual({ level: "fail", words: "1 CAT I" });
  expect(toAttention(rows, { state: "reconnecting" })).toEqual({ level: "off", words: "not live" });
  expect(toAttention(rows.slice(1), { state: "live" })).toEqual({ level: "none", words: "" });
  const only = (text: string, which: "all" | "cat1") =>
    filterOverview(rows, { text, only: which }).map(({ organization }) => organization.name);
  expect(only("TW", "all")).toEqual(["two"]);
  expect(only("", "cat1")).toEqual(["one", "forgotten"]);
});

test("a difference marks the words that the other text lacks", () => {
  const marked = (parts: ReturnType<typeof diffWords>[0]) =>
    parts.filter(({ isOther }) => isOther).map(({ text }) => text);
  const [expected, actual] = diffWords("at most 15 minutes", "at most 120 minutes of idle");
  expect(marked(expected)).toEqual(["15"]);
  expect(marked(actual).join("")).toBe("120 of idle");
  for (const parts of diffWords("x ".repeat(5000), "y")) expect(marked(parts)).toEqual([]);
});
