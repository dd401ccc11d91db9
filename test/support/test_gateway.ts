import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWK } from "jose";
import type { Database } from "../../drizzle/database.ts";
import { watchedQueries } from "./watched_database.ts";
import { createPgDatabase } from "../../drizzle/databases/pg.ts";
import { parseConfig } from "../../gateway/config.ts";
import type { Environment } from "../../shared/environment_reader.ts";
import { createLog } from "../../gateway/observability/log.ts";
import { nodeHttp } from "../../gateway/runtime/node_http.ts";
import { startGateway, type RunningGateway, type StartOptions } from "../../gateway/runtime/start_gateway.ts";
import { openOnPostgres } from "../drizzle/open_databases.ts";
import { openTestPglite } from "./pglite.ts";

export const issuer = "https://issuer.test";
export const audience = "scanstream-test";

export interface TestTenant {
  readonly id: string;
  readonly name: string;
  readonly apiKey: string;
  readonly apiKeyId: string;
  /** A JWT of a member. */
  readonly token: string;
}

export interface TestGateway {
  readonly gateway: RunningGateway;
  readonly url: string;
  readonly acme: TestTenant;
  readonly globex: TestTenant;
  createTenant(name: string): Promise<TestTenant>;
  /** Everything that was logged, every level. */
  readonly log: readonly string[];
  readonly issuerKey: IssuerKey;
  /** A JWT of the issuer that this gateway accepts. */
  sign(claims: Claims, options?: SignOptions): Promise<string>;
  request(path: string, init?: RequestOptions): Promise<Response>;
  stop(): Promise<void>;
}

interface Claims {
  readonly tenant_id?: unknown;
  readonly sub?: unknown;
  readonly [claim: string]: unknown;
}

interface SignOptions {
  readonly header?: Readonly<Record<string, unknown>>;
  readonly key?: CryptoKey | Uint8Array;
}

interface RequestOptions {
  readonly method?: string;
  /** `Api-Key …` or `Bearer …`. */
  readonly as?: string;
  readonly json?: unknown;
  readonly body?: BodyInit;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface IssuerKey {
  readonly kid: string;
  readonly privateKey: CryptoKey;
  readonly publicJwk: JWK;
}

export async function createIssuerKey(alg = "ES256", kid = "test-key"): Promise<IssuerKey> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
  return { kid, privateKey, publicJwk: { ...(await exportJWK(publicKey)), kid, alg, use: "sig" } };
}

export const member = "member@acme.test";

/** PostgreSQL in this process for a fast test and for a program; the run's server, which costs less CPU time, for other tests. */
export async function openTestDatabase(): Promise<Database> {
  if (process.env["TEST_SPEED"] === "fast" || process.env["VITEST"] === undefined) return openTestPglite();
  const { database, close } = await openOnPostgres((url) => createPgDatabase(url, { logger: watchedQueries }));
  return { ...database, close };
}

/** One database for several gateways, one after another: a gateway that stops leaves it open. */
export async function openSharedDatabase(): Promise<{
  readonly database: Database;
  readonly close: () => Promise<void>;
}> {
  const database = await openTestDatabase();
  return { database: { ...database, close: async () => {} }, close: () => database.close() };
}

export interface TestGatewayOptions extends Partial<Omit<StartOptions, "config" | "http">> {
  /** Default: a new one. */
  readonly issuerKey?: IssuerKey;
}

/** Starts a gateway on a free port, with two tenants. */
export async function startTestGateway(
  environment: Environment = {},
  { issuerKey: givenKey, ...options }: TestGatewayOptions = {},
): Promise<TestGateway> {
  const directory = await mkdtemp(join(tmpdir(), "scanstream-"));
  const issuerKey = givenKey ?? (await createIssuerKey());
  const log: string[] = [];
  const config = parseConfig({
    PORT: "0",
    AUTH_JWKS: JSON.stringify({ keys: [issuerKey.publicJwk] }),
    AUTH_ISSUER: issuer,
    AUTH_AUDIENCE: audience,
    ...environment,
  });
  const database: Database = options.database ?? (await openTestDatabase());
  const gateway = await startGateway({
    http: nodeHttp,
    config,
    directory,
    log: createLog({ level: "debug", write: (line) => log.push(line) }),
    ...options,
    database,
  });

  async function sign(claims: Claims, { header = {}, key = issuerKey.privateKey }: SignOptions = {}): Promise<string> {
    const now = Math.floor(Date.now() / 1000);
    return new SignJWT({ iss: issuer, aud: audience, iat: now, exp: now + 600, ...claims } as Record<string, unknown>)
      .setProtectedHeader({ alg: "ES256", kid: issuerKey.kid, ...header })
      .sign(key);
  }

  async function createTenant(name: string): Promise<TestTenant> {
    const tenant = (await gateway.admin("tenant.create", { name })) as { id: string };
    await gateway.admin("user.create", { tenant: tenant.id, sub: member });
    const key = (await gateway.admin("api-key.create", {
      tenant: tenant.id,
      name: "test",
      scopes: "read,publish,admin",
    })) as {
      id: string;
      api_key: string;
    };
    const token = await sign({ tenant_id: tenant.id, sub: member });
    return { id: tenant.id, name, apiKey: key.api_key, apiKeyId: key.id, token };
  }

  return {
    gateway,
    url: gateway.url,
    acme: await createTenant("Acme"),
    globex: await createTenant("Globex"),
    createTenant,
    log,
    issuerKey,
    sign,
    request: (path, { as, json, headers, ...init } = {}) =>
      fetch(new URL(path, gateway.url), {
        ...(json === undefined ? {} : { method: "POST", body: JSON.stringify(json) }),
        ...init,
        headers: {
          ...(as === undefined ? {} : { authorization: as }),
          ...(json === undefined ? {} : { "content-type": "application/json" }),
          ...headers,
        },
      }),
    async stop() {
      await gateway.stop({ drainMs: 0 });
      await rm(directory, { recursive: true, force: true });
    },
  };
}

export interface TestScan {
  readonly id: string;
  readonly channel: string;
  readonly event_stream: string;
  readonly status: string;
  readonly [field: string]: unknown;
}

export async function createScan(gateway: TestGateway, tenant: TestTenant, body: unknown = {}): Promise<TestScan> {
  const response = await gateway.request("/api/v1/scans", { as: `Api-Key ${tenant.apiKey}`, json: body });
  if (response.status !== 201) throw new Error(`Cannot create a scan: ${response.status} ${await response.text()}`);
  return (await response.json()) as TestScan;
}

/** The problem document of a refusal; throws for a malformed one. */
export async function problemOf(response: Response): Promise<{
  readonly status: number;
  readonly code: string;
  readonly detail: string;
  readonly errors?: readonly { readonly pointer: string; readonly detail: string }[];
}> {
  const contentType = response.headers.get("content-type");
  if (contentType !== "application/problem+json") throw new Error(`Not a problem document but ${contentType}`);
  const problem = (await response.json()) as Record<string, unknown>;
  for (const field of ["type", "title", "detail", "code"]) {
    if (typeof problem[field] !== "string" || problem[field] === "") throw new Error(`The problem has no ${field}`);
  }
  if (problem["status"] !== response.status) throw new Error("The problem names another status");
  return problem as never;
}

/** Reads a stream until the text received contains `until`, or to its end. */
export async function readStream(response: Response, until: string | RegExp): Promise<string> {
  if (response.body === null) throw new Error("The stream has no body");
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text;
    text += value;
    if (typeof until === "string" ? text.includes(until) : until.test(text)) {
      await reader.cancel();
      return text;
    }
  }
}
