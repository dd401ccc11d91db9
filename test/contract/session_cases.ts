import assert from "node:assert/strict";
import { call, createScan, openStream, refused, type GatewayCases, type GatewayUnderTest } from "./harness.ts";
import type { Session } from "../../gateway/http/session_schema.ts";
import type { TestTenant } from "../support/operator.ts";

const session = "/api/v1/session";
const tenantStream = "/api/v1/event-stream";
const nowhere = "7c9e6679-7425-40de-944b-e07fc1f90ae7";

/** `GET /api/v1/session`; fails unless it is a 200. */
async function readSession(
  gateway: Pick<GatewayUnderTest, "url">,
  as: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Session> {
  const response = await call(gateway, session, { as, headers });
  const text = await response.text();
  assert.equal(response.status, 200, text);
  return JSON.parse(text) as Session;
}

/** Tenants of their own, with one person who is a member of both. */
async function openTwo(gateway: GatewayUnderTest) {
  const { createTenant, sign } = gateway.control;
  // Their member is the same one, because their name is.
  const [first, second] = [await createTenant("Twin"), await createTenant("Twin")];
  assert.equal(first.sub, second.sub);
  /** A token of the person for both. */
  const as = `Bearer ${await sign({ tenant_id: [first.id, second.id], sub: first.sub })}`;
  return { first, second, as };
}

const naming = ({ id }: Pick<TestTenant, "id">) => ({ "x-tenant-id": id });

/** The session of a caller, and a person with several tenants. */
export const sessionCases: GatewayCases = {
  "a token for several tenants names one with each request, or is told so with 400": async (gateway) => {
    const { first, second, as } = await openTwo(gateway);
    const scan = await createScan(gateway, first);
    for (const path of ["/api/v1/scans", scan.event_stream, tenantStream]) {
      const response = await call(gateway, path, { as });
      assert.match(await response.clone().text(), /X-Tenant-Id/);
      await refused(response, 400);
    }
    const own = await call(gateway, `/api/v1/scans/${scan.id}`, { as, headers: naming(first) });
    assert.equal(own.status, 200);
    await refused(await call(gateway, `/api/v1/scans/${scan.id}`, { as, headers: naming(second) }), 404);
    await refused(await call(gateway, "/api/v1/scans", { as, headers: { "x-tenant-id": gateway.tenant.id } }), 403);
    // Two headers are joined by the runtime, and name no tenant.
    const both = { "x-tenant-id": `${first.id}, ${second.id}` };
    await refused(await call(gateway, "/api/v1/scans", { as, headers: both }), 403);
  },
  "the session of a token for several tenants lists the ones that the person is a member of": async (gateway) => {
    const { first, second } = await openTwo(gateway);
    const { sign } = gateway.control;
    const claims = { tenant_id: [first.id, nowhere, second.id], sub: first.sub, name: "Ann" };
    const as = `Bearer ${await sign(claims)}`;
    const open = await readSession(gateway, as);
    assert.deepEqual([open.tenant, open.name], [null, "Ann"]);
    assert.deepEqual(
      open.tenants.map(({ id, name }) => [id, name]),
      [
        [first.id, "Twin"],
        [second.id, "Twin"],
      ],
    );
    assert.equal((await readSession(gateway, as, naming(second))).tenant?.id, second.id);
    await refused(await call(gateway, session, { as, headers: { "x-tenant-id": nowhere } }), 403);
    const stranger = `Bearer ${await sign({ ...claims, sub: "stranger@example.com" })}`;
    await refused(await call(gateway, session, { as: stranger }), 403);
    const headers = naming(first);
    await refused(await call(gateway, "/api/v1/scans", { as: stranger, headers }), 403);
  },
  "a stream of a chosen tenant carries nothing of the person's others, also when a stream token opened it": async (
    gateway,
  ) => {
    const { first, second, as } = await openTwo(gateway);
    const issued = await call(gateway, "/api/v1/stream-tokens", {
      as,
      json: { event_stream: tenantStream },
      headers: naming(second),
    });
    assert.equal(issued.status, 200);
    const { access_token: token } = (await issued.json()) as { readonly access_token: string };
    const byHeader = await openStream(gateway, tenantStream, as, naming(first));
    const byToken = await openStream(gateway, `${tenantStream}?access_token=${token}`, null);
    const [mine, other] = [await createScan(gateway, first), await createScan(gateway, second)];
    await byHeader.until(mine.id);
    await byToken.until(other.id);
    assert.ok(!byHeader.text().includes(other.id));
    assert.ok(!byToken.text().includes(mine.id));
    byHeader.leave();
    byToken.leave();
  },
};
