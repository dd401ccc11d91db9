import assert from "node:assert/strict";
import {
  call,
  createScan,
  gatewayCase,
  keyOf,
  openStream,
  refused,
  type GatewayCase,
  type GatewayUnderTest,
} from "./harness.ts";
import type { TestTenant } from "../support/operator.ts";

interface NewKey {
  readonly id: string;
  readonly as: string;
}

async function createKey(gateway: GatewayUnderTest, tenant: TestTenant, more: object = {}): Promise<NewKey> {
  const { control } = gateway;
  await control.addUser(tenant.id, "maker", "admin");
  const as = `Bearer ${await control.sign({ tenant_id: tenant.id, sub: "maker" })}`;
  const json = { name: "ends", ...more };
  const response = await call(gateway, "/api/v1/api-keys", { as, json });
  const text = await response.text();
  assert.equal(response.status, 201, text);
  const { id, api_key: apiKey } = JSON.parse(text) as { readonly id: string; readonly api_key: string };
  return { id, as: `Api-Key ${apiKey}` };
}

async function change(
  gateway: GatewayUnderTest,
  as: string,
  { method, path, json }: { readonly method: string; readonly path: string; readonly json?: unknown },
): Promise<void> {
  const response = await call(gateway, path, { method, as, ...(json === undefined ? {} : { json }) });
  assert.ok(response.ok, `${method} ${path}: ${response.status} ${await response.text()}`);
}

/** Streams whose authority ends while they are open. */
export const endedAuthorityCases: readonly GatewayCase[] = [
  gatewayCase(
    "S4: a key that expires closes its streams at that moment, those of its stream tokens too, and opens none",
    async (gateway) => {
      const tenant = await gateway.control.createTenant("Expiry");
      const scan = await createScan(gateway, tenant);
      const expiresAtMs = Date.now() + 10_000;
      const key = await createKey(gateway, tenant, { expires_at: new Date(expiresAtMs).toISOString() });
      const asked = await call(gateway, "/api/v1/stream-tokens", { as: key.as, json: { scan_id: scan.id } });
      const { access_token: token } = (await asked.json()) as { readonly access_token: string };
      const streams = [
        await openStream(gateway, scan.event_stream, key.as),
        await openStream(gateway, scan.event_stream, `Bearer ${token}`),
      ];
      for (const stream of streams) assert.match(await stream.untilEnd(), /: close expired\n $/);
      // Its clock may be another one.
      assert.ok(Date.now() > expiresAtMs - 250, `closed ${expiresAtMs - Date.now()} ms early`);
      await refused(await call(gateway, scan.event_stream, { as: key.as }), 401);
      await refused(await call(gateway, scan.event_stream, { as: `Bearer ${token}` }), 401);
    },
  ),
  gatewayCase(
    "S4: what is taken away over REST closes the streams in time; a member who may still read keeps theirs",
    async (gateway) => {
      const control = gateway.control;
      const tenant = await control.createTenant("Taken");
      const scan = await createScan(gateway, tenant);
      const key = await createKey(gateway, tenant);
      const sub = "removed@taken.test";
      for (const each of [sub, "other", "root"]) await control.addUser(tenant.id, each, "admin");
      const open = (as: string) => openStream(gateway, scan.event_stream, as);
      const signed = async (of: string) => `Bearer ${await control.sign({ tenant_id: tenant.id, sub: of })}`;
      const [byKey, byRemoved, byDemoted] = [
        await open(key.as),
        await open(await signed(sub)),
        await open(await signed("other")),
      ];
      const path = `/api/v1/members/${encodeURIComponent(sub)}`;
      await change(gateway, keyOf(tenant), { method: "DELETE", path: `/api/v1/api-keys/${key.id}` });
      const root = await signed("root");
      await change(gateway, root, { method: "PATCH", path, json: { role: "viewer" } });
      await change(gateway, root, { method: "DELETE", path });
      assert.match(await byKey.untilEnd(), /: close revoked\n $/);
      assert.match(await byRemoved.untilEnd(), /: close revoked\n $/);
      await change(gateway, root, { method: "POST", path: "/api/v1/members", json: { sub, role: "admin" } });
      await change(gateway, root, { method: "PATCH", path: "/api/v1/members/other", json: { role: "viewer" } });
      byDemoted.take();
      // Two rounds of rechecks.
      await byDemoted.until(/: heartbeat\n(?:[^]*: heartbeat\n){3}/);
      assert.doesNotMatch(byDemoted.text(), /close/);
      byDemoted.leave();
    },
  ),
];
