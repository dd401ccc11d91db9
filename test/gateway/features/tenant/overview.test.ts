import { expect, test } from "vitest";
import { parse } from "valibot";
import { overviewSchema, type Overview } from "../../../../gateway/features/tenant/overview_schema.ts";
import { aChange, fail } from "../../../support/change_builders.ts";
import { buildFinding, createProducer } from "../../../support/producers.ts";
import { changeEvents } from "../../../support/published.ts";
import type { TestTenant } from "../../../support/operator.ts";
import { openTestGateway } from "../../../support/test_gateway.ts";

const gateway = await openTestGateway();

async function readOverview(as: string, query = ""): Promise<Overview> {
  const response = await gateway.request(`/api/v1/overview${query}`, { as });
  expect(response.status).toBe(200);
  return parse(overviewSchema, await response.json());
}

async function putSeen(as: string): Promise<unknown> {
  const response = await gateway.request("/api/v1/seen", { method: "PUT", as });
  expect(response.status).toBe(200);
  return (await response.json()) as unknown;
}

const orgUrl = "https://acme.okta.com";

/** A scan and a monitor, each with a finding of CAT I that fails. */
async function fill(tenant: TestTenant): Promise<void> {
  const producer = createProducer(gateway.url, tenant.apiKey);
  const org = { org_url: "https://scanned.okta.com" };
  const scanned = { severity: "high", resource_name: "Scanned", waiver_reason: "agreed" } as const;
  await producer.scanned([buildFinding({ ...scanned, to_pass: "Edit it" }), buildFinding()], org);
  await producer.scanned([buildFinding({ check: "network_zone_block_anonymized_proxies", status: "PASS" })], org);
  const monitor = await producer.follow({ org_url: orgUrl });
  const resource = { type: "app", id: "0oa1", name: "Watched" };
  const rule = { ...fail, severity: "high" } as const;
  await monitor.store([
    aChange({ fingerprint: "start", resource, from: null, rule, to_waived: true, cause: "start", explained_by: [] }),
    aChange({ fingerprint: "moved", resource, rule, to_pass: "x".repeat(600) }),
  ]);
}

test("the overview has session, organizations, runs, changes and what fails in CAT I, of the caller's tenant only", async () => {
  await fill(gateway.acme);
  const overview = await readOverview(`Bearer ${gateway.acme.token}`);
  expect(overview.session).toMatchObject({ kind: "user", tenant: { id: gateway.acme.id } });
  expect(overview.organizations.map(({ name }) => name).toSorted()).toEqual(["acme.okta.com", "scanned.okta.com"]);
  expect([overview.monitors.length, overview.scans.length]).toEqual([1, 2]);
  // The first state is no change.
  expect(overview.changes.map(({ fingerprint }) => fingerprint)).toEqual(["moved"]);
  const failing = overview.cat1.flatMap(({ findings }) => findings);
  expect(failing.map(({ resource_name: name }) => name).toSorted()).toEqual(["Scanned", "Watched", "Watched"]);
  const changes = failing.flatMap(({ to_pass }) => to_pass ?? []);
  expect(changes.toSorted()).toEqual(["Edit it", "x".repeat(500)]);
  const waivers = failing.map(({ resource_name: name, waiver_reason: reason }) => [name, reason]);
  expect(waivers.filter(([name]) => name === "Scanned")).toEqual([["Scanned", "agreed"]]);
  // The list may be cut, so that what nobody waived comes first.
  expect(waivers.filter(([name]) => name === "Watched")).toEqual([
    ["Watched", null],
    ["Watched", ""],
  ]);
  const other = await readOverview(`Bearer ${gateway.globex.token}`);
  const { organizations, monitors, scans, cat1 } = other;
  expect([organizations, monitors, scans, other.changes, cat1].flat()).toEqual([]);
});

test("what a member has seen is kept for that member in that tenant, and a key keeps nothing", async () => {
  const [acme, globex] = [`Bearer ${gateway.acme.token}`, `Bearer ${gateway.globex.token}`];
  expect((await readOverview(acme)).seen_at).toBeNull();
  const seen = await putSeen(acme);
  expect(seen).toEqual({ seen_at: expect.any(String) as string });
  expect(await readOverview(acme)).toMatchObject(seen as object);
  expect((await readOverview(globex)).seen_at).toBeNull();
  const key = `Api-Key ${gateway.acme.apiKey}`;
  expect(await putSeen(key)).toEqual({ seen_at: null });
  expect((await readOverview(key)).seen_at).toBeNull();
});

test("it is no larger than a page shows, however much was published, and has all that is new", async () => {
  const long = "x".repeat(20_000);
  const producer = createProducer(gateway.url, gateway.globex.apiKey);
  const monitor = await producer.follow({ org_url: orgUrl });
  const { events } = changeEvents(
    monitor.id,
    Array.from({ length: 20 }, (_, n) => aChange({ fingerprint: `${n}` })),
  );
  const as = `Api-Key ${gateway.globex.apiKey}`;
  const path = `/api/v1/channels/monitor:${gateway.globex.id}:${monitor.id}/events`;
  for (const { data, ...event } of events) {
    const json = { ...event, data: { ...data, expected: long, actual: long, to_pass: long } };
    expect((await gateway.request(path, { as, json })).status).toBe(202);
  }
  const named = { severity: "high", resource_name: long.slice(0, 2000) } as const;
  const failing = Array.from({ length: 200 }, (_, n) => buildFinding({ ...named, check: `check_${n % 100}` }));
  for (const n of [1, 2, 3, 4]) await producer.scanned(failing, { org_url: `https://${n}.okta.com` });
  const { changes, cat1 } = await readOverview(as);
  expect(new Set(cat1.map((rule) => rule.organization_id)).size).toBe(3);
  expect(changes.length).toBeGreaterThan(10);
  expect(JSON.stringify(changes).length).toBeLessThan(1_100_000);
  expect(changes[0]?.fingerprint).toBe("19");
  const since = new Date().toISOString();
  await monitor.store(Array.from({ length: 22 }, (_, n) => aChange({ fingerprint: `new ${n}` })));
  const fresh = (await readOverview(as, `?since=${since}`)).changes;
  expect([fresh.length, fresh.at(-1)?.fingerprint]).toEqual([22, "new 0"]);
});
