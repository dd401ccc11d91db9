import assert from "node:assert/strict";
import {
  call,
  createKey,
  createScan,
  openStream,
  refused,
  type GatewayCases,
  type GatewayUnderTest,
} from "./harness.ts";
import type { TestTenant } from "../support/operator.ts";

/** The token of an admin of the tenant. */
async function signAdmin({ control }: GatewayUnderTest, tenant: TestTenant): Promise<string> {
  await control.addUser(tenant.id, "root", "admin");
  return `Bearer ${await control.sign({ tenant_id: tenant.id, sub: "root" })}`;
}

/** Streams whose authority ends while they are open. */
export const endedAuthorityCases: GatewayCases = {
  "S4: a token and a key that expire close their streams at that moment, those of stream tokens too, and open none":
    async (gateway) => {
      const tenant = await gateway.control.createTenant("Expiry");
      const scan = await createScan(gateway, tenant);
      const member = `Bearer ${await gateway.control.sign({ tenant_id: tenant.id, sub: tenant.sub }, 11)}`;
      const expiresAtMs = Date.now() + 10_000;
      const json = { name: "ends", expires_at: new Date(expiresAtMs).toISOString() };
      const key = await createKey(gateway, await signAdmin(gateway, tenant), json);
      const asked = await call(gateway, "/api/v1/stream-tokens", { as: key.as, json: { scan_id: scan.id } });
      const { access_token: token } = (await asked.json()) as { readonly access_token: string };
      const streams = [
        await openStream(gateway, scan.event_stream, key.as),
        await openStream(gateway, scan.event_stream, `Bearer ${token}`),
        await openStream(gateway, scan.event_stream, member),
      ];
      for (const stream of streams) {
        assert.match(await stream.untilEnd(), /: close expired\n $/);
        // The gateway's clock may be another one.
        assert.ok(Date.now() > expiresAtMs - 250, `closed ${expiresAtMs - Date.now()} ms early`);
      }
      await refused(await call(gateway, scan.event_stream, { as: key.as }), 401);
      await refused(await call(gateway, scan.event_stream, { as: `Bearer ${token}` }), 401);
    },
  "S4: what is taken away over REST closes the streams in time; a member who may still read keeps theirs": async (
    gateway,
  ) => {
    const control = gateway.control;
    const tenant = await control.createTenant("Taken");
    const scan = await createScan(gateway, tenant);
    const root = await signAdmin(gateway, tenant);
    const sub = "removed@taken.test";
    for (const each of [sub, "other"]) await control.addUser(tenant.id, each, "admin");
    const open = (as: string) => openStream(gateway, scan.event_stream, as);
    const signed = async (of: string) => `Bearer ${await control.sign({ tenant_id: tenant.id, sub: of })}`;
    const [byRemoved, byDemoted] = [await open(await signed(sub)), await open(await signed("other"))];
    const path = `/api/v1/members/${encodeURIComponent(sub)}`;
    const change = async (method: string, path: string, json?: unknown) => {
      const response = await call(gateway, path, { method, as: root, json });
      assert.ok(response.ok, `${method} ${path}: ${response.status} ${await response.text()}`);
    };
    await change("PATCH", path, { role: "viewer" });
    await change("DELETE", path);
    assert.match(await byRemoved.untilEnd(), /: close revoked\n $/);
    await change("POST", "/api/v1/members", { sub, role: "admin" });
    await change("PATCH", "/api/v1/members/other", { role: "viewer" });
    byDemoted.take();
    // Two rounds of rechecks.
    await byDemoted.until(/: heartbeat\n(?:[^]*: heartbeat\n){3}/);
    assert.doesNotMatch(byDemoted.text(), /close/);
    byDemoted.leave();
  },
};
