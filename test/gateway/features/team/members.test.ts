import { beforeEach, describe, expect, test } from "vitest";
import type { TestTenant } from "../../../support/operator.ts";
import { problemOf, openTestGateway } from "../../../support/test_gateway.ts";

let tenant: TestTenant;
/** A person, because no key makes members. */
let asRoot: string;
const gateway = await openTestGateway();
beforeEach(async () => {
  tenant = await gateway.createTenant("Initech");
  await gateway.gateway.admin("user.create", { tenant: tenant.id, sub: "root", role: "admin" });
  asRoot = await asUser("root");
});

const asKey = () => `Api-Key ${tenant.apiKey}`;
const asUser = async (sub: string) => `Bearer ${await gateway.sign({ tenant_id: tenant.id, sub })}`;
const path = (sub: string) => `/api/v1/members/${encodeURIComponent(sub)}`;

async function add(sub: string, role?: string, as = asRoot): Promise<Response> {
  return gateway.request("/api/v1/members", { as, json: role === undefined ? { sub } : { sub, role } });
}

async function list(): Promise<Readonly<Record<string, string>>> {
  const response = await gateway.request("/api/v1/members?limit=200", { as: asKey() });
  const { items } = (await response.json()) as { readonly items: readonly { sub: string; role: string }[] };
  return Object.fromEntries(items.filter(({ sub }) => sub !== "root").map(({ sub, role }) => [sub, role]));
}

/** The member that each tenant of these tests begins with, an operator. */
const first = "member@acme.test";

describe("POST /members", () => {
  test("makes an operator unless a role is named; again: changes a role that is named, and keeps it otherwise", async () => {
    const created = await add("ann");
    expect([created.status, await created.json()]).toEqual([
      201,
      { sub: "ann", role: "operator", created_at: expect.stringMatching(/Z$/) },
    ]);
    expect((await add("ann", "viewer")).status).toBe(200);
    const kept = await add("ann");
    expect([kept.status, await kept.json()]).toMatchObject([200, { role: "viewer" }]);
    expect(await list()).toEqual({ [first]: "operator", ann: "viewer" });
  });

  test.each([
    [{}, "/sub is required"],
    [{ sub: "" }, "/sub expected text of 1 to 255 characters"],
    [{ sub: "a\u009bb" }, "without control characters"],
    [{ sub: ".." }, "/sub expected a subject that is not dots alone"],
    [{ sub: "ann", role: "owner" }, "/role expected viewer, operator, admin"],
    [{ sub: "ann", more: 1 }, "/more is not a field of this body"],
  ])("refuses %j", async (json, words) => {
    const response = await gateway.request("/api/v1/members", { as: asRoot, json });
    expect(response.status).toBe(422);
    expect((await problemOf(response)).detail).toContain(words);
    expect(await list()).toEqual({ [first]: "operator" });
  });
});

test.each(["auth0|5f7c8ec7c33c6c004bbafe82", "a/b", "a%2Fb", "..a", "ann smith+1@acme.example", "日本", "😀"])(
  "a subject like %s is changed and removed by its path",
  async (sub) => {
    expect((await add(sub)).status).toBe(201);
    const changed = await gateway.request(path(sub), { as: asRoot, method: "PATCH", json: { role: "viewer" } });
    expect([changed.status, await changed.json()]).toMatchObject([200, { sub, role: "viewer" }]);
    expect((await gateway.request(path(sub), { as: asKey(), method: "DELETE" })).status).toBe(204);
    expect(await list()).toEqual({ [first]: "operator" });
    expect((await gateway.request(path(sub), { as: asKey(), method: "DELETE" })).status).toBe(404);
  },
);

describe("the last admin", () => {
  const change = {
    "removed by DELETE": (sub: string, as: string) => gateway.request(path(sub), { as, method: "DELETE" }),
    "demoted by PATCH": (sub: string, as: string) =>
      gateway.request(path(sub), { as, method: "PATCH", json: { role: "viewer" } }),
    "demoted by POST": (sub: string, as: string) => add(sub, "operator", as),
  };

  test("cannot be removed by a key; with a second admin it can", async () => {
    const removeRoot = () => gateway.request(path("root"), { as: asKey(), method: "DELETE" });
    const refused = await removeRoot();
    expect(refused.status).toBe(409);
    expect((await problemOf(refused)).detail).toMatch(/last admin: make another member admin first, or use/);
    await add("bob", "admin");
    expect((await removeRoot()).ok).toBe(true);
    expect((await gateway.request("/api/v1/members", { as: asRoot })).status).toBe(403);
  });

  test.each(Object.entries(change))("an admin is not %s by themselves", async (_name, run) => {
    await add("ann", "admin");
    await add("bob", "admin");
    const refused = await run("ann", await asUser("ann"));
    expect(refused.status).toBe(409);
    expect((await problemOf(refused)).detail).toMatch(
      /^You cannot change your own role or remove yourself: ask another admin$/,
    );
    expect((await list())["ann"]).toBe("admin");
  });
});
