import { expect, onTestFinished, test } from "vitest";
import { firstRequests } from "../../../scanner/evidence/artifact_table.ts";
import type { ConnectionSettings } from "../../../scanner/okta/connection_settings.ts";
import { connect, type Connection, type ConnectOptions } from "../../../scanner/okta/connection.ts";
import { IdpError } from "../../../scanner/okta/idp_error.ts";
import { startOrg } from "../../practice_org/start_org.ts";
import { rejectionOf } from "../../support/errors.ts";
import { createFakeClock } from "../../support/fake_clock.ts";
import { configFor, setUpIdp } from "../../support/idp_connection.ts";
import { scanPracticeOrg } from "../../support/scan_practice_org.ts";
import { apiError, oauthError, tokenPath, type Reply, type ScriptedIdp } from "../../support/scripted_idp.ts";

test("connect authenticates, proves that it can read, and describes the organization", async () => {
  const idp = await scripted();
  const connection = await connected(idp);
  expect(connection.org).toMatchObject({ engine: "identity", id: "00o5qwjvg8hg7YpT81d7" });
  const scopes = ["okta.policies.read", "okta.apps.read", "okta.brands.read"];
  expect(connection.client.login).toMatchObject({ requested: scopes, granted: scopes });
  expect(connection.sender.counters()).toEqual({ total: 4, retried: 0, throttled_ms: 0 });
  expect(connection.client.role).toBe("unknown");
});

test.each<[string, Reply, "okta" | "idp" | null, string]>([
  ["the organization answers", { body: { id: "00o1", pipeline: "idx" } }, null, "okta"],
  ["it does not know the address", { status: 404 }, null, "idp"],
  ["it answers another object", { body: { issuer: "x" } }, null, "idp"],
  ["a firewall answers", { status: 403, body: "<html>" }, null, "okta"],
  ["a proxy answers a page", { body: "<html>" }, null, "okta"],
  ["the answer is cut off", { body: '{"id":"00o1","pipel' }, null, "okta"],
  ["it answers, but idp is configured", { body: { id: "00o1", pipeline: "idx" } }, "idp", "idp"],
  ["it does not, but okta is configured", { status: 404 }, "okta", "okta"],
])("scopes begin as they should when %s", async (_, reply, scopePrefix, prefix) => {
  const idp = await scripted();
  idp.on("GET", "/.well-known/okta-organization", reply);
  const { client } = await connected(idp, { config: { scopePrefix } });
  expect(client.login.requested[0]).toBe(`${prefix}.policies.read`);
  expect(idp.seen(tokenPath)[0]?.form.get("scope")).toContain(`${prefix}.apps.read`);
});

test("no granted scope names IDP_SCOPE_PREFIX where an Okta organization is asked for idp scopes", async () => {
  const idp = await scripted();
  idp.on("POST", tokenPath, oauthError(400, "invalid_scope", "Unknown"));
  expect((await refusal(idp, { scopePrefix: "idp" })).remedy).toContain("IDP_SCOPE_PREFIX");
  expect((await refusal(idp)).remedy).not.toContain("IDP_SCOPE_PREFIX");
});

test("scopes that let nothing be read are no_scope", async () => {
  expect((await refusal(await scripted(), { scopes: ["sessions.read"] })).code).toBe("no_scope");
  const headers = { "www-authenticate": 'DPoP error="insufficient_scope"' };
  expect((await refusal(await scripted({ status: 403, headers }))).code).toBe("no_scope");
});

test.each<[string, Reply, string]>([
  ["500", apiError(500, "E0000009"), "provider_error"],
  ["a web page", { body: "<html>" }, "provider_error"],
  ["401 E0000011", apiError(401, "E0000011"), "provider_error"],
  ["a firewall's 403", { status: 403, body: "<html>blocked</html>" }, "access_denied"],
  ["silence", { fault: "hang" }, "unreachable"],
  ["a reset", { fault: "reset" }, "unreachable"],
])("an organization whose every read gives %s is not blamed on its set-up", async (_, reply, code) => {
  const idp = await scripted(reply);
  const error = await refusal(idp, { timeoutMs: reply.fault === "hang" ? 400 : 5000 });
  expect(error.code).toBe(code);
  expect(error.message).not.toMatch(/credential|opaque-token/i);
  if (reply.body === "<html>") expect(error.remedy).toContain("proxy");
  expect(new Set(apiReads(idp)).size).toBe(2);
});

test.each<[string, Reply, string]>([
  ["a redirect", { status: 301, headers: { location: "https://new-name.okta.com/x" } }, "wrong_org"],
  ["an outage", { status: 503 }, "provider_error"],
  ["silence", { fault: "hang" }, "unreachable"],
  ["a reset", { fault: "reset" }, "unreachable"],
])("a first contact that meets %s has its own code", async (_, reply, code) => {
  const idp = await scripted();
  idp.on("GET", "/.well-known/okta-organization", reply);
  const error = await refusal(idp, { timeoutMs: reply.fault === "hang" ? 400 : 5000 });
  expect(error.code).toBe(code);
  expect(idp.seen(tokenPath)).toHaveLength(0);
  if (reply.status === 301) expect(error.message).toContain("https://new-name.okta.com");
});

test("the probe costs no request of its own", async () => {
  const clock = createFakeClock(1_800_000_000_000);
  const grantedScopes = ["policies.read", "apps.read"];
  const org = await startOrg({ grantedScopes, clock: clock.nowMs });
  await scanPracticeOrg(org, { clock });
  const paths = org.requests.map(({ path }) => path).filter((path) => path.startsWith("/api/"));
  expect(paths.toSorted()).toEqual([...new Set(paths)].toSorted());
  expect(firstRequests(["admin_console_settings", "apps", "dashboard_app"]).map(({ path }) => path)).toEqual([
    "/api/v1/apps?limit=200",
    "/api/v1/first-party-app-settings/admin-console",
  ]);
});

test("the rules of the apps' policies are asked for while later pages of apps still come, each once", async () => {
  const org = await startOrg({ profile: { name: "large", appCount: 1000 } });
  await scanPracticeOrg(org);
  const paths = org.requests.map(({ path }) => path);
  const lastPage = paths.findLastIndex((path) => path.startsWith("/api/v1/apps?"));
  const rules = paths.filter((path) => /^\/api\/v1\/policies\/\w+\/rules$/.test(path));
  expect(new Set(rules).size).toBe(rules.length);
  const before = rules.filter((path) => paths.indexOf(path) < lastPage);
  expect(before.length).toBeGreaterThan(rules.length / 2);
});

interface Connecting extends Partial<ConnectOptions> {
  readonly config?: Partial<ConnectionSettings>;
}

async function connected(idp: ScriptedIdp, { config = {}, ...options }: Connecting = {}): Promise<Connection> {
  const { signal } = new AbortController();
  const connection = await connect(configFor(idp, config), { signal, clock: createFakeClock(), ...options });
  onTestFinished(() => connection.sender.close());
  return connection;
}

function refusal(idp: ScriptedIdp, config: Partial<ConnectionSettings> = {}): Promise<IdpError> {
  return rejectionOf(IdpError, connected(idp, { config }));
}

/** A provider whose every read is answered like this, or with an empty list. */
async function scripted(reply: Reply = { body: [] }): Promise<ScriptedIdp> {
  const { idp } = await setUpIdp({ dpop: true });
  for (const path of ["/api/v1/policies", "/api/v1/apps", "/api/v1/brands"]) idp.on("GET", path, reply);
  return idp;
}

function apiReads(idp: ScriptedIdp): readonly string[] {
  return idp.requests.map(({ url }) => url).filter((url) => url.startsWith("/api/v1/"));
}
