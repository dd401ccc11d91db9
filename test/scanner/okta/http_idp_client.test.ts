import { expect, test } from "vitest";
import { setUpClient, setUpIdp, type IdpSetUp } from "../../support/idp_connection.ts";
import {
  apiError,
  issueToken,
  oauthError,
  tokenPath,
  verifyProof,
  type Reply,
  type ScriptedIdp,
} from "../../support/scripted_idp.ts";

const path = "/api/v1/policies?type=PASSWORD";
const request = { path, scope: "policies.read" };
const insufficientScope: Reply = {
  status: 403,
  headers: {
    "www-authenticate":
      'Bearer authorization_uri="http://test.okta.com/oauth2/v1/authorize", realm="http://test.okta.com", scope="okta.policies.read", error="insufficient_scope", error_description="The access token provided does not contain the required scopes.", resource="/api/v1/policies"',
  },
};

test.each<[string, Reply, string, number | null, string | null]>([
  ["403 E0000006", apiError(403, "E0000006"), "missing_role", 403, "E0000006"],
  ["403 insufficient_scope with an empty body", insufficientScope, "missing_scope", 403, null],
  ["403 E0000005", apiError(403, "E0000005"), "provider_error", 403, "E0000005"],
  ["401 E0000015", apiError(401, "E0000015"), "not_available", 401, "E0000015"],
  ["429 without end", apiError(429, "E0000047"), "provider_error", 429, "E0000047"],
  ["302", { status: 302, headers: { location: "https://login.example/?token=secret" } }, "provider_error", 302, null],
  ["404 with a web page", { status: 404, body: "<!doctype html><p>Blocked" }, "provider_error", 403, null],
  ["200 with cut-off JSON", { body: '[{"id":"p1"},{"id"' }, "provider_error", 200, null],
  ["200 with an object", { body: { items: [] } }, "unreadable", 200, null],
  ["200 nested beyond reason", { body: `{"a":${"[".repeat(150_000)}${"]".repeat(150_000)}}` }, "unreadable", 200, null],
  ["200 larger than 32 MiB", { body: " ".repeat(33_554_433) }, "provider_error", null, null],
  ["time-out", { fault: "hang" }, "provider_error", null, null],
  ["reset", { fault: "reset" }, "provider_error", null, null],
  ["cut-off connection", { fault: "cut", body: [{ id: "p1" }] }, "provider_error", null, null],
])("a list that is answered with %s is missing with that reason", async (_, reply, reason, httpStatus, errorCode) => {
  const { idp, client } = await setUp({ config: { timeoutMs: reply.fault === "hang" ? 400 : 5000 } });
  idp.on("GET", path, reply);
  const reading = await client.getList(request);
  expect(reading).toEqual({
    state: "missing",
    reason,
    partial: null,
    detail: expect.stringContaining("GET /api/v1/policies?type=PASSWORD") as string,
    refusal: { httpStatus, errorCode },
  });
  expect(JSON.stringify(reading)).not.toMatch(/secret|opaque-token/);
});

test.each<[body: readonly unknown[], partial: readonly unknown[]]>([
  [["p1"], []],
  [[null, { id: "p1" }, "p2", [{ id: "p3" }]], [{ id: "p1" }]],
  [[{ id: null, name: " ", status: "ACTIVE" }, { id: "p1" }, {}], [{ id: "p1" }]],
])("a list %# is unreadable, with its objects as partial", async (body, partial) => {
  const { idp, client } = await setUp();
  idp.on("GET", path, { body });
  expect(await client.getList(request)).toMatchObject({
    state: "missing",
    reason: "unreadable",
    partial,
    detail: expect.stringContaining("holds an entry without id, type and name") as string,
    refusal: { httpStatus: 200, errorCode: null },
  });
});

test("a refused call names the scope of the provider's challenge, and ours where it names none", async () => {
  const { idp, client } = await setUp();
  const refusedFor = async (challenge: string) => {
    idp.on("GET", path, { status: 403, headers: { "www-authenticate": challenge } });
    const reading = await client.getList(request);
    return reading.state === "missing" ? reading.detail : "";
  };
  const error = 'error="insufficient_scope"';
  expect(await refusedFor(`DPoP algs="ES256", scope="okta.users.read", ${error}`)).toMatch(
    /scope okta\.users\.read is/,
  );
  expect(await refusedFor(`Bearer scope="okta.a.read okta.b.read", ${error}`)).toContain("okta.a.read, okta.b.read is");
  expect(await refusedFor(`Bearer scope="<script>", ${error}`)).toContain("scope okta.policies.read is");
});

test.each<[string, object, string, fields?: readonly string[]]>([
  ["an error with a status of 200", { errorCode: "E0000006", errorSummary: "no" }, "is the error E0000006"],
  ["an object without any field", {}, "without any field"],
  ["an object of a proxy", { error: "upstream timed out" }, "without minutes or days", ["minutes", "days"]],
])("%s says nothing about a setting", async (_, body, words, fields) => {
  const { idp, client } = await setUp();
  idp.on("GET", path, { body });
  const reading = await client.getObject({ ...request, ...(fields && { fields }) });
  expect(reading).toMatchObject({ state: "missing", reason: "unreadable" });
  expect(reading.state === "missing" && reading.detail).toContain(words);
});

test("sends nothing for a scope that is not granted", async () => {
  const { idp, client } = await setUp();
  const reading = await client.getList({ path: "/api/v1/zones", scope: "networkZones.read" });
  expect(reading).toMatchObject({
    state: "missing",
    reason: "missing_scope",
    refusal: { httpStatus: null, errorCode: null },
  });
  expect(reading.state === "missing" && reading.detail).toContain("okta.networkZones.read");
  expect(idp.seen("/api/v1/zones")).toHaveLength(0);
});

const page = (idp: ScriptedIdp, items: readonly string[], next: string | null): Reply => ({
  body: items.map((id) => ({ id })),
  headers: {
    link: [
      `<${idp.url}/api/v1/apps?limit=2>; rel="self"`,
      ...(next === null ? [] : [`<${idp.url}/api/v1/apps?${next}>; rel="next"`]),
    ],
  },
});
const apps = { path: "/api/v1/apps?limit=2", scope: "apps.read" };

test("follows pages to their end, also short and empty ones", async () => {
  const { idp, client } = await setUp();
  idp.on("GET", "/api/v1/apps?limit=2", page(idp, ["a", "b"], "after=1&limit=2"));
  idp.on("GET", "/api/v1/apps?after=1&limit=2", page(idp, ["c"], "after=2&limit=2"));
  idp.on("GET", "/api/v1/apps?after=2&limit=2", page(idp, [], "after=3&limit=2"));
  idp.on("GET", "/api/v1/apps?after=3&limit=2", page(idp, ["d"], null));
  expect(await client.getList(apps)).toEqual({ state: "obtained", value: ["a", "b", "c", "d"].map((id) => ({ id })) });
});

test.each<[link: string, words: string]>([
  ["<{other}/api/v1/apps?after=2>", "is not followed"],
  ["<{https}/api/v1/apps?after=2>", "is not followed"],
  ["<{idp}/api/v1/apps?after=1&limit=2>", "already read"],
  ["</api/v1/users?after=2>", "another list"],
  ["</api/v1/apps?after=2&filter=x>", "another list"],
  ["</?after=2>", "another list"],
  ["<{idp}//[>", "cannot be read"],
  ["<https://", "cannot be read"],
])("a next link to %s is an error, with the pages before as partial: %s", async (link, words) => {
  const { idp, client } = await setUp();
  const { idp: other } = await setUpIdp();
  idp.on("GET", "/api/v1/apps?limit=2", page(idp, ["a"], "after=1&limit=2"));
  const bases = { other: other.url, https: idp.url.replace("http:", "https:"), idp: idp.url };
  const target = link.replace(/\{(\w+)\}/, (_, name: "idp") => bases[name]);
  idp.on("GET", "/api/v1/apps?after=1&limit=2", { body: [{ id: "b" }], headers: { link: `${target}; rel="next"` } });
  const reading = await client.getList(apps);
  expect(reading).toMatchObject({ state: "missing", reason: "provider_error", partial: [{ id: "a" }, { id: "b" }] });
  expect(reading.state === "missing" && reading.detail).toContain(words);
  expect(idp.seen("/api/v1/apps")).toHaveLength(2);
  expect(other.requests).toHaveLength(0);
});

const largePage = Array.from({ length: 3000 }, () => ({ id: "a", texts: Array(4).fill("n".repeat(2000)) }));

test.each([
  ["a thousand pages", [{ id: "a" }], { pages: 1000, reason: "provider_error" }],
  ["64 MiB", largePage, { pages: 3, reason: "unreadable" }],
])("a list stops after %s", async (_, body, { pages, reason }) => {
  const { idp, client } = await setUp({ dpop: false });
  let served = 0;
  idp.on("GET", "/api/v1/apps", () => ({ ...page(idp, [], `after=${++served}`), body }));
  expect(await client.getList(apps)).toMatchObject({ state: "missing", reason });
  expect(served).toBe(pages);
});

test("a 401 is retried once, E0000015 never", async () => {
  const { idp, client } = await setUp();
  idp.on("GET", path, apiError(401, "E0000011"));
  await client.getList(request);
  expect(idp.seen("/api/v1/policies")).toHaveLength(2);
  idp.on("GET", "/api/v1/off", apiError(401, "E0000015"));
  await client.getList({ path: "/api/v1/off", scope: "apps.read" });
  expect(idp.seen("/api/v1/off")).toHaveLength(1);
});

test("concurrent reads that are refused share one new token", async () => {
  const { idp, client } = await setUp();
  idp.on("POST", tokenPath, (asked) => issueToken(asked, { access_token: "new-token" }));
  idp.on("GET", "/api/v1/apps", (asked) =>
    asked.headers["authorization"] === "DPoP new-token" ? { body: [] } : apiError(401, "E0000011"),
  );
  const readings = await Promise.all(
    Array.from({ length: 8 }, (_, index) =>
      client.getList({ path: `/api/v1/apps?limit=${index}`, scope: "apps.read" }),
    ),
  );
  expect(readings.every(({ state }) => state === "obtained")).toBe(true);
  expect(idp.seen(tokenPath)).toHaveLength(3);
});

test.each([
  [
    "401 with WWW-Authenticate",
    { status: 401, headers: { "dpop-nonce": "n1", "www-authenticate": 'DPoP error="use_dpop_nonce"' } },
  ],
  ["400 with a body", { ...oauthError(400, "use_dpop_nonce", "Nonce please"), headers: { "dpop-nonce": "n1" } }],
] as const)("sends the nonce that a resource asks for by %s in a new proof", async (_, refusal) => {
  const { idp, client } = await setUp();
  idp.on("GET", path, async (asked) =>
    (await verifyProof(asked)).claims["nonce"] === "n1" ? { body: [], headers: { "dpop-nonce": "n2" } } : refusal,
  );
  expect(await client.getList(request)).toEqual({ state: "obtained", value: [] });
  const proofs = await Promise.all(idp.seen("/api/v1/policies").map(verifyProof));
  expect(proofs.map(({ claims }) => claims["nonce"])).toEqual([undefined, "n1"]);
  expect(new Set(proofs.map(({ claims }) => claims.jti)).size).toBe(2);
  expect(idp.seen(tokenPath)).toHaveLength(2);
  idp.on("GET", "/api/v1/next", { body: [] });
  await client.getList({ path: "/api/v1/next", scope: "apps.read" });
  expect((await Promise.all(idp.seen("/api/v1/next").map(verifyProof)))[0]?.claims["nonce"]).toBe("n2");
});

const settingsPath = "/api/v1/first-party-app-settings/admin-console";
const allApps = "/api/v1/apps?limit=200";

test.each<[string, Readonly<Record<string, Reply>>, string]>([
  ["the first-party settings were read", { [settingsPath]: { body: { idle: 15 } } }, "super_admin"],
  [
    "those were refused, and policies read",
    { [settingsPath]: apiError(403, "E0000006"), [path]: { body: [] } },
    "read_only_admin",
  ],
  ["all apps were read with a first-party one", { [allApps]: { body: [{ name: "saasure" }] } }, "super_admin"],
  ["all apps were read without one", { [allApps]: { body: [{ name: "scanstream" }] } }, "read_only_admin"],
  [
    "only half of the apps could be read",
    { [allApps]: { body: [{ id: "a" }], headers: { link: '</api/v1/apps?after=1>; rel="next"' } } },
    "unknown",
  ],
])("the role when %s", async (_, answers, role) => {
  const { idp, client } = await setUp();
  for (const [asked, reply] of Object.entries(answers)) {
    idp.on("GET", asked, reply);
    const asking = { path: asked, scope: "apps.read" };
    await (asked === settingsPath ? client.getObject(asking) : client.getList(asking));
  }
  expect(client.role).toBe(role);
});

async function setUp(options: IdpSetUp = {}) {
  const connected = await setUpClient({ dpop: true, ...options });
  await connected.login.current();
  return connected;
}
