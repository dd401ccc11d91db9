import { describe, expect, test } from "vitest";
import { problemOf, openTestGateway } from "../../../support/test_gateway.ts";

const gateway = await openTestGateway();
const tenant = gateway.acme;
await gateway.gateway.admin("user.create", { tenant: tenant.id, sub: "ada", role: "admin" });
const asAdmin = `Bearer ${await gateway.sign({ tenant_id: tenant.id, sub: "ada" })}`;

const path = "/api/v1/api-keys";

interface Created {
  readonly id: string;
  readonly api_key: string;
  readonly [field: string]: unknown;
}

async function create(json: object, as = asAdmin): Promise<Created> {
  const response = await gateway.request(path, { as, json });
  expect(response.status, await response.clone().text()).toBe(201);
  return (await response.json()) as Created;
}

async function list(): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const response = await gateway.request(`${path}?limit=200`, { as: asAdmin });
  return ((await response.json()) as { readonly items: readonly Readonly<Record<string, unknown>>[] }).items;
}

describe("POST /api-keys", () => {
  test("answers with the key this once, and with read and publish unless scopes are named", async () => {
    const created = await create({ name: "nightly" });
    expect(created).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      name: "nightly",
      prefix: created.api_key.slice(0, 12),
      scopes: ["read", "publish"],
      expires_at: null,
      created_at: expect.stringMatching(/Z$/),
      api_key: expect.stringMatching(/^scs_[0-9a-f]{8}_[0-9a-f]{64}$/),
    });
    const as = `Api-Key ${created.api_key}`;
    expect((await gateway.request("/api/v1/scans", { as })).status).toBe(200);
    expect((await gateway.request(path, { as })).status).toBe(403);
    const [listed] = await list();
    const { api_key: _key, ...shown } = created;
    expect(listed).toEqual({ ...shown, last_used_at: expect.stringMatching(/Z$/), revoked_at: null });
    expect(JSON.stringify(await list())).not.toContain(created.api_key);
  });

  test.each([
    [{}, "/name is required"],
    [{ name: "a\u0085b" }, "without control characters"],
    [{ name: "x", scopes: [] }, "/scopes expected one or more of read, publish, admin, each once"],
    [{ name: "x", scopes: ["write"] }, "/scopes/0 expected one or more"],
    [{ name: "x", expires_at: "2020-01-01T00:00:00Z" }, "/expires_at is in the past: expected a future time"],
    [{ name: "x", expires_at: "tomorrow" }, "/expires_at expected a time like"],
  ])("refuses %j", async (json, words) => {
    const before = (await list()).length;
    const response = await gateway.request(path, { as: asAdmin, json });
    expect(response.status).toBe(422);
    expect((await problemOf(response)).detail).toContain(words);
    expect((await list()).length).toBe(before);
  });
});

describe("DELETE /api-keys/{id}", () => {
  test("revokes for good, the first time counts, and the list still has it", async () => {
    const { id, api_key: key } = await create({ name: "old" });
    const revoke = () => gateway.request(`${path}/${id}`, { as: asAdmin, method: "DELETE" });
    expect((await revoke()).status).toBe(204);
    expect((await gateway.request("/api/v1/scans", { as: `Api-Key ${key}` })).status).toBe(401);
    const revokedAt = (await list()).find((each) => each["id"] === id)?.["revoked_at"];
    expect(revokedAt).toMatch(/Z$/);
    expect((await revoke()).status).toBe(204);
    expect((await list()).find((each) => each["id"] === id)?.["revoked_at"]).toBe(revokedAt);
  });

  test("not the key that asks, and not another tenant's", async () => {
    const own = await gateway.request(`${path}/${tenant.apiKeyId}`, {
      as: `Api-Key ${tenant.apiKey}`,
      method: "DELETE",
    });
    expect(own.status).toBe(409);
    expect((await problemOf(own)).detail).toMatch(/cannot revoke itself/);
    for (const id of [gateway.globex.apiKeyId, crypto.randomUUID(), "x", "%00"]) {
      expect((await gateway.request(`${path}/${id}`, { as: asAdmin, method: "DELETE" })).status).toBe(404);
    }
    const there = await gateway.request("/api/v1/scans", { as: `Api-Key ${gateway.globex.apiKey}` });
    expect(there.status).toBe(200);
  });
});

describe("GET /audit", () => {
  const audit = async (query = "") => {
    const response = await gateway.request(`/api/v1/audit?limit=200&${query}`, { as: asAdmin });
    const page = (await response.json()) as { readonly items: readonly Readonly<Record<string, unknown>>[] };
    return page.items;
  };

  test("filters by action, actor, target and time, newest first", async () => {
    const before = new Date(Date.now() - 60_000).toISOString();
    const { id } = await create({ name: "filtered" });
    await gateway.request(`${path}/${id}`, { as: asAdmin, method: "DELETE" });
    expect((await audit(`target=${id}`)).map(({ action }) => action)).toEqual(["api_key.revoked", "api_key.created"]);
    expect((await audit(`target=${id}&action=api_key.created`)).length).toBe(1);
    expect((await audit(`target=${id}&actor=ada`)).length).toBe(2);
    expect((await audit(`target=${id}&actor=bob`)).length).toBe(0);
    expect((await audit(`target=${id}&from=${before}`)).length).toBe(2);
    expect((await audit(`target=${id}&to=${before}`)).length).toBe(0);
    const numbers = (await audit()).map(({ number }) => Number(number));
    expect(numbers).toEqual(numbers.toSorted((a, b) => b - a));
  });

  test("a query that cannot be is refused by the name of its part", async () => {
    for (const query of ["action=", "actor=a&actor=b", "target=%00", "from=yesterday", "cursor=x"]) {
      const response = await gateway.request(`/api/v1/audit?${query}`, { as: asAdmin });
      expect(response.status).toBe(400);
      expect((await problemOf(response)).detail).toContain(`The query's ${query.split("=")[0]} is not valid`);
    }
  });
});
