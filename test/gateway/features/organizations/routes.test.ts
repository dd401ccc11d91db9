import { describe, expect, test } from "vitest";
import type {
  Organization,
  OrganizationDetails,
  OrganizationExposure,
  OrganizationHistory,
} from "../../../../shared/schemas/organization.ts";
import { aChange } from "../../../support/change_builders.ts";
import { createMonitorClient } from "../../../support/monitor_client.ts";
import { buildFinding, createProducer } from "../../../support/producers.ts";
import { readStream, openTestGateway } from "../../../support/test_gateway.ts";
import { eventsIn } from "../../../support/published.ts";

const gateway = await openTestGateway();

const [idle, adminConsole] = ["signon_global_session_idle_timeout_15min", "application_admin_console_mfa_required"];

const { send, read: get } = gateway;

const producer = createProducer(gateway.url, gateway.acme.apiKey);
const scan = async (org_url: string, ...findings: readonly Parameters<typeof buildFinding>[0][]) =>
  (await producer.scanned(findings.map(buildFinding), { org_url })).id;

async function organizationOf(orgUrl: string): Promise<Organization> {
  const { items } = await get<{ readonly items: readonly Organization[] }>("/organizations?limit=200");
  const found = items.find(({ org_url: url }) => url === orgUrl);
  if (found === undefined) throw new Error(`${orgUrl} is not listed`);
  return found;
}

const aHost = () => `${crypto.randomUUID()}.okta.com`;

interface ExposurePage {
  readonly items: readonly OrganizationExposure[];
  readonly next_cursor: string | null;
}

const historyOf = (id: string, query = "") => get<OrganizationHistory>(`/organizations/${id}/history${query}`);

test("an organization is the lower-case origin of an address, and its row says what was seen last", async () => {
  const host = aHost();
  const passing = [idle, "V-273193"].map((check) => ({ check, status: "PASS" }) as const);
  await scan(`https://${host.toUpperCase()}:443/app?x=1`, ...passing);
  const ofNext = buildFinding({ check: "v_299999", status: "PASS" });
  await producer.scanned([ofNext], { org_url: `https://${host}`, benchmark: "v1r3" });
  expect(await organizationOf(`https://${host}`)).toMatchObject({ pass: 1, fail: 0 });
  const last = await scan(
    `https://${host}`,
    { check: "OKTA-APP-000020" },
    { check: "V-273193", severity: "high" },
    { check: "V-273194", status: "MANUAL", reason: "missing_scope" },
    { check: "V-273195", status: "MANUAL", reason: "not_applicable" },
    { check: "V-273196", status: "MANUAL" },
    { check: "V-273197", status: "PASS" },
    { check: "V-273197", status: "MANUAL", advisory: true },
  );
  const organization = await organizationOf(`https://${host}`);
  expect(organization).toEqual({
    id: expect.any(String),
    org_url: `https://${host}`,
    name: host,
    pass: 1,
    fail: 2,
    manual: 1,
    not_applicable: 1,
    unknown: 1,
    not_evaluated: 23,
    cat1_open: 1,
    cat2_open: 1,
    cat3_open: 0,
    last_scan_id: last,
    last_scan_at: expect.stringMatching(/Z$/),
    monitor_id: null,
    monitor_status: null,
  });
  const { results, ...same } = await get<OrganizationDetails>(`/organizations/${organization.id}`);
  expect(same).toEqual(organization);
  expect(results.map(({ status }) => status).sort()).toEqual(["FAIL", "FAIL", "MANUAL", "MANUAL", "MANUAL", "PASS"]);
  expect(new Set(results.map(({ monitor_id, scan_id }) => monitor_id ?? scan_id))).toEqual(new Set([last]));
  const { started_at: began } = await get<{ readonly started_at: string }>(`/scans/${last}`);
  const { rules = [] } = (await historyOf(organization.id)).organizations[0] ?? {};
  expect(rules.flatMap(({ exposures }) => exposures.map(({ opened }) => opened.known_at))).toEqual([began, began]);

  await send("DELETE", `/scans/${last}`);
  expect(await organizationOf(`https://${host}`), "the history stays").toEqual({ ...organization, last_scan_id: null });
});

test("a rule that a monitor knows has the category that its producer names", async () => {
  const host = aHost();
  const monitor = createMonitorClient(gateway);
  await monitor.put({ org_url: `https://${host}`, interval_seconds: 10 });
  const counts = new RegExp(
    `organization\\.updated[^\n]*\n[^\n]*${host}[^\n]*"cat1_open":1,"cat2_open":1,"cat3_open":1`,
  );
  const updated = readStream(await send("GET", "/event-stream"), counts);
  const failing = (check: string) =>
    aChange({ check, fingerprint: check, to: { status: "FAIL", reason: null }, cause: "start" });
  await monitor.post([
    { ...failing("own_check"), rule: { status: "FAIL", reason: null, severity: "high" } },
    { ...failing(adminConsole), rule: { status: "FAIL", reason: null, severity: "low" } },
    failing(idle),
  ]);
  await updated;
  expect(await organizationOf(`https://${host}`)).toMatchObject({ cat1_open: 1, cat2_open: 1, cat3_open: 1 });
  const [, second] = (await monitor.list("/changes")).items;
  expect(second?.rule).toEqual({ status: "FAIL", reason: null, severity: "low" });
});

test("of two monitors that run and disagree the newer one decides, whichever reported last", async () => {
  const org_url = `https://${aHost()}`;
  const [older, newer] = [createMonitorClient(gateway), createMonitorClient(gateway)];
  const states: number[] = [];
  const report = async ({ put, post, patch }: typeof older, status: "PASS" | "FAIL") => {
    await put({ org_url, interval_seconds: 10 });
    await post([aChange({ check: idle, fingerprint: idle, to: { status, reason: null } })]);
    await patch({ last_look_at: new Date().toISOString() });
    states.push((await organizationOf(org_url)).fail);
  };
  await report(older, "PASS");
  for (let time = 0; time < 2; time += 1) {
    await report(newer, "FAIL");
    await report(older, "PASS");
  }
  expect(states).toEqual([0, 1, 1, 1, 1]);
  await newer.patch({ status: "stopped" });
  expect(await organizationOf(org_url)).toMatchObject({ fail: 0, monitor_id: older.id });
});

describe("history and exposures", async () => {
  const host = aHost();
  const monitor = createMonitorClient(gateway);
  await monitor.put({ org_url: `https://${host}`, interval_seconds: 3600 });
  const line = (check: string, status: "PASS" | "FAIL", time: string) =>
    aChange({ check, fingerprint: check, to: { status, reason: null }, seen_at: `2026-11-20T${time}.000Z` });
  await monitor.post([line(idle, "PASS", "08:00:00"), line(adminConsole, "FAIL", "08:00:00")]);
  await monitor.post([line(idle, "FAIL", "09:00:00"), line(idle, "PASS", "10:00:00"), line(idle, "FAIL", "11:00:00")]);
  await monitor.patch({ last_look_at: "2026-11-20T12:00:00.000Z" });
  const { id } = await organizationOf(`https://${host}`);
  const period = "from=2026-11-20T00:00:00Z&to=2026-11-20T23:00:00Z";

  test("has the shape of the command's", async () => {
    const history = await historyOf(id, `?${period}&rule=V-273186`);
    expect(history).toMatchObject({
      schema: "scanstream.history/1",
      from: "2026-11-20T00:00:00.000Z",
      to: "2026-11-20T23:00:00.000Z",
      organizations: [{ id, org_url: `https://${host}`, rules: [{ check: idle, vuln_id: "V-273186" }] }],
      next_cursor: null,
    });
    const [rule] = history.organizations[0]?.rules ?? [];
    expect(rule?.days).toEqual([{ day: "2026-11-20", status: "FAIL", known_seconds: 4 * 3600 }]);
    const byDay = await historyOf(id, `?${period}&rule=${idle}&resolution=day`);
    expect(byDay.organizations[0]?.rules[0]).toEqual({ ...rule, intervals: [] });
  });

  test("an exposure that reaches into the period is whole", async () => {
    const { items } = await get<ExposurePage>(
      `/organizations/${id}/exposures?rule=V-273186&from=2026-11-20T09:30:00Z&to=2026-11-20T10:30:00Z`,
    );
    expect(items).toMatchObject([
      { opened: { known_at: "2026-11-20T09:00:00.000Z" }, closed: { known_at: "2026-11-20T10:00:00.000Z" } },
    ]);
  });

  test("pages go rule by rule and end, exposures are the newest first of each rule", async () => {
    const pagesOf = async <Page extends { readonly next_cursor: string | null }>(path: string) => {
      const pages: Page[] = [];
      for (let query = ""; ; query = `&cursor=${pages.at(-1)?.next_cursor}`) {
        pages.push(await get<Page>(`/organizations/${id}/${path}limit=1${query}`));
        if (pages.at(-1)?.next_cursor === null) return pages;
      }
    };
    const rules = await pagesOf<OrganizationHistory>(`history?${period}&`);
    expect(rules.flatMap(({ organizations: [one] }) => one?.rules.map(({ check }) => check))).toEqual([
      adminConsole,
      idle,
    ]);
    const found = await pagesOf<ExposurePage>("exposures?");
    expect(
      found.flatMap(({ items }) => items.map(({ check, opened }) => `${check} ${opened.known_at.slice(11, 16)}`)),
    ).toEqual([`${adminConsole} 08:00`, `${idle} 11:00`, `${idle} 09:00`]);
    const open = async (value: string) =>
      (await get<ExposurePage>(`/organizations/${id}/exposures?open=${value}`)).items.length;
    expect([await open("true"), await open("false")]).toEqual([2, 1]);
  });
});

test("the tenant's stream says what an organization is now, at most once a second, and that it was deleted", async () => {
  const host = aHost();
  const read = readStream(await send("GET", "/event-stream"), "organization.deleted");
  const last = readStream(
    await send("GET", "/event-stream"),
    new RegExp(`organization\\.updated[^\n]*\n[^\n]*${host}[^\n]*"fail":1`),
  );
  const beganMs = performance.now();
  await scan(`https://${host}`, { status: "PASS" });
  let scanId = "";
  for (let times = 0; times < 5; times += 1) scanId = await scan(`https://${host}`, {});
  const { id, ...flat } = await organizationOf(`https://${host}`);
  await last;
  const without = readStream(await send("GET", "/event-stream"), `"last_scan_id":null`);
  expect((await send("DELETE", `/scans/${scanId}`)).status).toBe(204);
  await without;
  expect((await send("DELETE", `/organizations/${id}`)).status).toBe(204);
  expect((await send("GET", `/organizations/${id}`)).status).toBe(404);
  const ofHost = eventsIn(await read).filter(({ data }) => data["organization_id"] === id);
  const updates = ofHost.filter(({ type }) => type === "organization.updated");
  // Without a pace there are two for each scan; with it the first one is at once, and the last one after a second.
  expect(updates.length).toBeLessThanOrEqual((performance.now() - beganMs) / 1000 + 2);
  expect(updates.at(-1)?.data).toMatchObject({
    ...flat,
    organization_id: id,
    last_scan_id: null,
    last_scan_at: expect.any(String),
  });
  expect(ofHost.at(-1)).toEqual({ type: "organization.deleted", data: { organization_id: id } });
  await scan(`https://${host}`, {});
  const again = await organizationOf(`https://${host}`);
  expect(again.id).not.toBe(id);
  expect((await historyOf(again.id)).organizations[0]?.rules[0]?.exposures).toHaveLength(1);
});

test("results of too many checks are refused: each moment of a monitor would be stored with all of them", async () => {
  const checks = Array.from({ length: 400 }, (_, n) => `check_${n}_${"x".repeat(150)}`);
  const refusal = "limited to 32768 characters";
  const monitor = await producer.follow();
  await expect(monitor.store(checks.map((check, n) => aChange({ check, fingerprint: `${n}` })))).rejects.toThrow(
    refusal,
  );
  const { store, end } = await producer.register({ org_url: "https://acme.okta.com" });
  await store(checks.map((check) => buildFinding({ check })));
  await expect(end("completed", {})).rejects.toThrow(refusal);
});
