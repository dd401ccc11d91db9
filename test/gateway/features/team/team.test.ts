import { describe, expect, test } from "vitest";
import { problemOf, openTestGateway } from "../../../support/test_gateway.ts";

const gateway = await openTestGateway();
const { acme } = gateway;
await gateway.addUser(acme.id, "ada", "admin");
const asUser = async (sub: string) => `Bearer ${await gateway.sign({ tenant_id: acme.id, sub })}`;
/** A person, because no key makes keys or members. */
const asAda = await asUser("ada");
const asKey = `Api-Key ${acme.apiKey}`;
const send = (method: string, path: string, json?: unknown, as = asAda) => gateway.send(method, path, json, as);

type Row = Readonly<Record<string, unknown>>;

async function list(path: string): Promise<readonly Row[]> {
  return ((await (await send("GET", path)).json()) as { readonly items: readonly Row[] }).items;
}

test.each([
  ["/api-keys", { name: "a\u0085b" }, "without control characters"],
  ["/api-keys", { name: "x", scopes: [] }, "/scopes: expected one or more of read, publish, admin, each once"],
  ["/api-keys", { name: "x", expires_at: "2020-01-01T00:00:00Z" }, "/expires_at: in the past: expected a future time"],
  ["/api-keys", { name: "x", expires_at: "tomorrow" }, "/expires_at: expected a time like"],
  ["/members", { sub: "a\u009bb" }, "without control characters"],
  ["/members", { sub: ".." }, "/sub: expected a subject that is not dots alone"],
  ["/members", { sub: "eve", role: "owner" }, "/role: expected viewer, operator, admin"],
])("%s refuses %j", async (path, json, words) => {
  const before = await list(`${path}?limit=200`);
  const problem = await problemOf(await send("POST", path, json));
  expect(problem).toMatchObject({ status: 422, detail: expect.stringContaining(words) });
  expect(await list(`${path}?limit=200`)).toEqual(before);
});

describe("API keys", () => {
  const listKeys = () => list("/api-keys?limit=200");
  const keyOf = async (id: string) => (await listKeys()).find((key) => key["id"] === id);

  async function create(name: string) {
    const response = await send("POST", "/api-keys", { name });
    expect(response.status, await response.clone().text()).toBe(201);
    const created = (await response.json()) as Row & { readonly id: string; readonly api_key: string };
    return { ...created, as: `Api-Key ${created.api_key}` };
  }

  test("a new one is shown once, and may read and publish unless scopes are named", async () => {
    const { as, api_key, ...shown } = await create("nightly");
    expect(api_key).toMatch(/^scs_[0-9a-f]{8}_[0-9a-f]{64}$/);
    expect(shown).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      name: "nightly",
      prefix: api_key.slice(0, 12),
      scopes: ["read", "publish"],
      expires_at: null,
      created_at: expect.stringMatching(/Z$/),
    });
    expect((await send("GET", "/scans", undefined, as)).status).toBe(200);
    expect((await send("GET", "/api-keys", undefined, as)).status).toBe(403);
    expect(await keyOf(shown.id)).toEqual({ ...shown, last_used_at: expect.stringMatching(/Z$/), revoked_at: null });
    expect(JSON.stringify(await listKeys())).not.toContain(api_key);
  });

  test("one is revoked for good, the first time counts, and the list still has it", async () => {
    const { id, as } = await create("old");
    const revoke = async () => (await send("DELETE", `/api-keys/${id}`)).status;
    expect(await revoke()).toBe(204);
    expect((await send("GET", "/scans", undefined, as)).status).toBe(401);
    const revoked = await keyOf(id);
    expect(revoked?.["revoked_at"]).toMatch(/Z$/);
    expect(await revoke()).toBe(204);
    expect(await keyOf(id)).toEqual(revoked);
  });

  test("none revokes itself or another tenant's", async () => {
    const own = await problemOf(await send("DELETE", `/api-keys/${acme.apiKeyId}`, undefined, asKey));
    expect(own).toMatchObject({ status: 409, detail: expect.stringContaining("cannot revoke itself") });
    for (const id of [gateway.globex.apiKeyId, crypto.randomUUID(), "x", "%00"]) {
      expect((await send("DELETE", `/api-keys/${id}`)).status).toBe(404);
    }
    expect((await send("GET", "/scans", undefined, `Api-Key ${gateway.globex.apiKey}`)).status).toBe(200);
  });

  test("the audit trail of one is filtered by action, actor, target and time, newest first", async () => {
    const audit = async (query = "") => (await list(`/audit?limit=200&${query}`)).map(({ action }) => action);
    const before = new Date(Date.now() - 60_000).toISOString();
    const { id } = await create("filtered");
    await send("DELETE", `/api-keys/${id}`);
    const both = ["api_key.revoked", "api_key.created"];
    for (const [query, actions] of [
      ["", both],
      ["&action=api_key.created", ["api_key.created"]],
      ["&actor=ada", both],
      ["&actor=bob", []],
      [`&from=${before}`, both],
      [`&to=${before}`, []],
    ] as const) {
      expect(await audit(`target=${id}${query}`), query).toEqual(actions);
    }
    for (const query of ["action=", "actor=a&actor=b", "target=%00", "from=yesterday", "cursor=x"]) {
      const detail = expect.stringContaining(`The query's ${query.split("=")[0]} is not valid`) as string;
      expect(await problemOf(await send("GET", `/audit?${query}`))).toMatchObject({ status: 400, detail });
    }
  });
});

describe("members", () => {
  const pathOf = (sub: string) => `/members/${encodeURIComponent(sub)}`;
  const add = (sub: string, role?: string, as = asAda) => send("POST", "/members", { sub, role }, as);
  const answerOf = async (response: Response) => [response.status, await response.json()] as const;
  const listMembers = async () =>
    Object.fromEntries((await list("/members?limit=200")).map(({ sub, role }) => [String(sub), role]));

  test("a new one is an operator unless a role is named; again: a role that is named changes, and stays otherwise", async () => {
    const created_at = expect.stringMatching(/Z$/) as string;
    expect(await answerOf(await add("ann"))).toEqual([201, { sub: "ann", role: "operator", created_at }]);
    expect((await add("ann", "viewer")).status).toBe(200);
    expect(await answerOf(await add("ann"))).toMatchObject([200, { role: "viewer" }]);
    expect(await listMembers()).toMatchObject({ ada: "admin", ann: "viewer" });
  });

  test.each(["a|9B2C7F50-1D3E-4A6B-8C9D-0E1F2A3B4C5D", "a/b", "a%2Fb", "..a", "ann +1@acme.example", "日本", "😀"])(
    "a subject like %s is changed and removed by its path",
    async (sub) => {
      const before = await listMembers();
      expect((await add(sub)).status).toBe(201);
      const changed = await send("PATCH", pathOf(sub), { role: "viewer" });
      expect(await answerOf(changed)).toMatchObject([200, { sub, role: "viewer" }]);
      expect((await send("DELETE", pathOf(sub), undefined, asKey)).status).toBe(204);
      expect(await listMembers()).toEqual(before);
      expect((await send("DELETE", pathOf(sub), undefined, asKey)).status).toBe(404);
    },
  );

  test("the last admin cannot be removed by a key; with a second one they can", async () => {
    const remove = () => send("DELETE", "/members/ada", undefined, asKey);
    const detail = expect.stringMatching(/last admin: make another member admin first, or use/) as string;
    expect(await problemOf(await remove())).toMatchObject({ status: 409, detail });
    await add("bob", "admin");
    expect((await remove()).ok).toBe(true);
    await gateway.addUser(acme.id, "ada", "admin");
  });

  const change = {
    "removed by DELETE": (sub: string, as: string) => send("DELETE", pathOf(sub), undefined, as),
    "demoted by PATCH": (sub: string, as: string) => send("PATCH", pathOf(sub), { role: "viewer" }, as),
    "demoted by POST": (sub: string, as: string) => add(sub, "operator", as),
  };

  test.each(Object.entries(change))("an admin is not %s by themselves", async (_name, run) => {
    await add("cyn", "admin");
    const detail = "You cannot change your own role or remove yourself: ask another admin";
    expect(await problemOf(await run("cyn", await asUser("cyn")))).toMatchObject({ status: 409, detail });
    expect(await listMembers()).toMatchObject({ cyn: "admin" });
  });
});
