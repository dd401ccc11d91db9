import { describe, expect, test } from "vitest";
import denoConfig from "../../deno.json" with { type: "json" };
import { parseConfig, toBounds } from "../../gateway/config.ts";
import { UsageError } from "../../shared/usage_error.ts";
import type { Environment } from "../../shared/environment_reader.ts";

const jwks = JSON.stringify({ keys: [{ kty: "EC", crv: "P-256", x: "x", y: "y" }] });
const issuer = { AUTH_ISSUER: "https://issuer.test", AUTH_AUDIENCE: "scanstream" };
const secret = "0123456789abcdef0123456789abcdef";

function problemsOf(environment: Environment): readonly string[] {
  try {
    parseConfig(environment);
  } catch (error) {
    if (error instanceof UsageError) return error.problems;
    throw error;
  }
  return [];
}

test("an empty environment is the embedded default, for this machine alone", () => {
  expect(parseConfig({})).toMatchObject({
    host: "127.0.0.1",
    databaseUrl: null,
    broker: { kind: "memory" },
    auth: { kind: "local" },
    signIn: null,
    corsOrigins: [],
    trustedProxyHops: null,
  });
});

const cases: readonly (readonly [name: string, good: readonly string[], bad: readonly string[]])[] = [
  ["PORT", ["0", "1", "65535"], ["-1", "65536", "80.5", "http", "0x50", "1e3"]],
  ["METRICS_PORT", ["0", "9090", "65535"], ["-1", "65536", "metrics"]],
  [
    "DATABASE_URL",
    ["postgres://u:p@h/d", "postgresql://h/d?sslmode=require", "postgres:///d?host=/run/postgresql"],
    ["mysql://h/d", "db.test", "postgres:"],
  ],
  ["HOST", ["0.0.0.0", "::1", "localhost"], ["a b", "http://x/"]],
  ["REDIS_URL", ["redis://localhost", "rediss://:pw@host:6380/0"], ["localhost:6379", "http://x", "redis://"]],
  ["LOG_LEVEL", ["debug", "info", "warn", "error", "WARN"], ["trace", "0"]],
  ["EVENTSTREAM_CACHE_DB", ["0", "2", "15"], ["-1", "two", "1.5", "0x2", "2147483648"]],
  ["EVENTSTREAM_HEARTBEAT_SECONDS", ["1", "0.5", "2000000"], ["0", "-1", "15s", "2000001", "Infinity"]],
  ["EVENTSTREAM_RECHECK_SECONDS", ["1", "30"], ["0", "never"]],
  ["DRAIN_DELAY_SECONDS", ["0", "0.5", "5", "2000000"], ["-1", "5s", "2000001"]],
  ["EVENTSTREAM_MAX_BUFFER_BYTES", ["1", "1048576"], ["0", "1.5", "1MB", "-1"]],
  ["EVENTSTREAM_MAX_STREAMS", ["1", "50000"], ["0", "many"]],
  ["EVENTSTREAM_MAX_STREAMS_PER_TENANT", ["1"], ["0"]],
  ["EVENTSTREAM_MAX_LIFETIME_SECONDS", ["1", "3600"], ["0", "1h"]],
  ["STREAM_TOKEN_SECRET", [secret, "é".repeat(16)], [secret.slice(1), "short"]],
  [
    "CORS_ORIGINS",
    ["https://app.test", "http://localhost:3000, https://a.test"],
    ["*", "app.test", "https://app.test/", "https://a.test,", "null", "ftp://a.test", "https://*.a.test"],
  ],
];

describe.each(cases)("%s", (name, good, bad) => {
  test.each(good)("accepts %j", (value) => {
    expect(problemsOf({ STREAM_TOKEN_SECRET: secret, [name]: value })).toEqual([]);
  });
  test.each(bad)("refuses %j, named and not quoted", (value) => {
    const problems = problemsOf({ STREAM_TOKEN_SECRET: secret, [name]: value });
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(new RegExp(`^${name}: expected `));
    if (value.length > 9) expect(problems[0]).not.toContain(value);
  });
});

test("S6: a tenant has a quarter of the streams that an embedded gateway allows", () => {
  expect(toBounds({ maxStreams: 100 }).maxStreamsPerTenant).toBe(25);
  expect(toBounds({ maxStreams: 100, maxStreamsPerTenant: 80 }).maxStreamsPerTenant).toBe(80);
});

test("a real database needs the secret of stream tokens", () => {
  const database = { DATABASE_URL: "postgres://user:hunter2@db.test/scans" };
  expect(problemsOf(database)).toEqual([
    "STREAM_TOKEN_SECRET: required with DATABASE_URL: expected 32 random bytes or more",
  ]);
  expect(problemsOf({ ...database, STREAM_TOKEN_SECRET: secret })).toEqual([]);
});

test("keys come inline or from an address, never both, and never without issuer and audience", () => {
  const [inline, remote] = [{ AUTH_JWKS: jwks }, { AUTH_JWKS_URL: "https://issuer.test/jwks" }];
  expect(parseConfig({ ...inline, ...issuer }).auth).toMatchObject({ kind: "jwks", issuer: "https://issuer.test" });
  expect(parseConfig({ ...remote, ...issuer }).auth).toMatchObject({ kind: "jwks_url" });
  expect(problemsOf({ ...inline, ...remote, ...issuer })).toEqual([
    "AUTH_JWKS_URL, AUTH_JWKS: expected one of the two, not both",
  ]);
  expect(problemsOf({ AUTH_JWKS_URL: "https://user:hunter2@issuer.test/jwks", ...issuer })).toEqual([
    "AUTH_JWKS_URL: expected a URL like https://<issuer>/.well-known/jwks.json",
  ]);
  // Without its keys, the development key would be trusted in the place of the issuer's.
  for (const half of [inline, issuer]) {
    expect(problemsOf(half).map((problem) => problem.split(":")[0])).toEqual(["AUTH_ISSUER", "AUTH_AUDIENCE"]);
  }
});

test.each([
  ["no JSON", "{"],
  ["no keys", '{"keys":[]}'],
  ["a private key", JSON.stringify({ keys: [{ kty: "EC", crv: "P-256", x: "x", y: "y", d: "secret" }] })],
  ["a symmetric key", JSON.stringify({ keys: [{ kty: "oct", k: "c2VjcmV0" }] })],
])("AUTH_JWKS refuses %s", (_what, value) => {
  expect(problemsOf({ AUTH_JWKS: value, ...issuer })).toEqual([expect.stringMatching(/^AUTH_JWKS: expected /)]);
});

test("the REST broker needs both of its variables", () => {
  const url = { UPSTASH_REDIS_REST_URL: "https://x.upstash.io" };
  const token = { UPSTASH_REDIS_REST_TOKEN: "token" };
  expect(parseConfig({ ...url, ...token }).broker).toMatchObject({ kind: "upstash", databaseNumber: 2 });
  expect(problemsOf(url)).toEqual([expect.stringMatching(/^UPSTASH_REDIS_REST_TOKEN: /)]);
  expect(problemsOf(token)).toEqual([expect.stringMatching(/^UPSTASH_REDIS_REST_URL: /)]);
});

describe("signing in", () => {
  const withIssuer = { AUTH_JWKS: jwks, ...issuer };
  const client = { ...withIssuer, OIDC_CLIENT_ID: "page" };

  test("the page is a public client of the issuer", () => {
    expect(parseConfig({ ...client, AUTH_TENANT_CLAIM: "https://x/tenants" }).signIn).toEqual({
      issuer: "https://issuer.test",
      clientId: "page",
      scopes: "openid profile email",
      audience: "scanstream",
      tenantClaim: "https://x/tenants",
    });
    expect(parseConfig(withIssuer).signIn).toBeNull();
  });

  test.each([
    ["a client without an issuer", { OIDC_CLIENT_ID: "page" }, /^OIDC_CLIENT_ID: set without an issuer/],
    ["scopes without a client", { ...withIssuer, OIDC_SCOPES: "openid" }, /^OIDC_SCOPES: set without a client/],
    ["scopes without openid", { ...client, OIDC_SCOPES: "profile email" }, /^OIDC_SCOPES: expected scopes/],
    ["openid as a part only", { ...client, OIDC_SCOPES: "openids" }, /^OIDC_SCOPES: expected scopes/],
    ["a client id with blanks", { ...client, OIDC_CLIENT_ID: "a b" }, /^OIDC_CLIENT_ID: expected the client id/],
    ["an issuer that is a name", { ...client, AUTH_ISSUER: "issuer" }, /^AUTH_ISSUER: with OIDC/],
    ["an issuer without TLS", { ...client, AUTH_ISSUER: "http://issuer.test" }, /^AUTH_ISSUER: with OIDC/],
    ["an issuer with a password", { ...client, AUTH_ISSUER: "https://u:p@issuer.test" }, /^AUTH_ISSUER: with OIDC/],
  ])("refuses %s", (_what, environment, problem) => {
    expect(problemsOf(environment)).toEqual([expect.stringMatching(problem)]);
  });
});

// Deno takes a variable that it may not read for one that is not set.
test("npm run start:deno may read every variable that the gateway reads, and no other", () => {
  const read = new Set<string>();
  const recorded = (given: Readonly<Record<string, string>>) =>
    new Proxy(given, {
      get(target, name) {
        read.add(String(name));
        return Reflect.get(target, name);
      },
    });
  for (const given of [
    { REDIS_URL: "redis://127.0.0.1:6379" },
    { UPSTASH_REDIS_REST_URL: "https://x.upstash.io", UPSTASH_REDIS_REST_TOKEN: "t" },
    { METRICS_PORT: "9100" },
  ]) {
    parseConfig(recorded(given));
  }
  expect(denoConfig.permissions.default.env.allow.toSorted()).toEqual([...read].toSorted());
});
