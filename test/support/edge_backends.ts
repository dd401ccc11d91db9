import { SignJWT } from "jose";
import { runAdmin } from "../../gateway/operator/call_admin.ts";
import { startNeonProxy, type NeonProxy } from "./neon_proxy.ts";
import { createTestDatabase, type PostgresServer, type TestDatabase, suitePostgres } from "./postgres.ts";
import { startRedis, type RedisServer } from "./redis.ts";
import { audience, createIssuerKey, issuer } from "./test_gateway.ts";
import { startTcpProxy, type TcpProxy } from "./tcp_proxy.ts";
import { startUpstashBridge, type UpstashBridge } from "./upstash_bridge.ts";
import type { Role } from "../../shared/schemas/team.ts";

/** Services of a gateway at the edge, on this machine: Upstash's REST, Neon's HTTP, and an issuer of JWTs. */
export interface EdgeBackends {
  readonly redis: RedisServer;
  readonly bridge: UpstashBridge;
  /** Between the gateway and the bridge. */
  readonly bridgeNetwork: TcpProxy;
  /** Between the gateway and Redis, for those that speak TCP. */
  readonly redisNetwork: TcpProxy;
  readonly postgres: PostgresServer;
  readonly database: TestDatabase;
  /** Between the gateway and PostgreSQL. */
  readonly databaseNetwork: TcpProxy;
  readonly neon: NeonProxy;
  /** Between the gateway and Neon's HTTP. */
  readonly neonNetwork: TcpProxy;
  /** The variables of a gateway on Workers: Upstash and Neon over HTTP. */
  readonly workerEnvironment: Readonly<Record<string, string>>;
  /** The same for a gateway that is a process: Redis and Postgres over TCP. */
  readonly processEnvironment: Readonly<Record<string, string>>;
  createTenant(name: string): Promise<EdgeTenant>;
  /** A JWT of the issuer that the gateway accepts; `lifetimeSeconds` 600 unless said otherwise. */
  sign(claims: Readonly<Record<string, unknown>>, lifetimeSeconds?: number): Promise<string>;
  revokeApiKey(id: string): Promise<void>;
  addUser(tenantId: string, sub: string, role: Role): Promise<void>;
  removeUser(tenantId: string, sub: string): Promise<void>;
  /** Every key and token that was ever given out, and the gateway's own: none may be logged. */
  secrets(): readonly string[];
  close(): Promise<void>;
}

export interface EdgeTenant {
  readonly id: string;
  readonly name: string;
  readonly apiKey: string;
  readonly apiKeyId: string;
  /** A member's JWT, and whose it is. */
  readonly token: string;
  readonly sub: string;
}

export async function startEdgeBackends(): Promise<EdgeBackends> {
  const postgres = await suitePostgres();
  const redis = await startRedis();
  const bridge = await startUpstashBridge({ redisUrl: redis.url });
  const bridgeNetwork = await startTcpProxy(bridge);
  const redisNetwork = await startTcpProxy(redis);
  const database = await createTestDatabase(postgres.adminUrl);
  const databaseUrl = new URL(database.appUrl);
  const server = { host: databaseUrl.hostname, port: Number(databaseUrl.port) };
  const databaseNetwork = await startTcpProxy(server);
  databaseUrl.port = String(databaseNetwork.port);
  const neon = await startNeonProxy(server);
  const neonNetwork = await startTcpProxy({ host: "127.0.0.1", port: neon.port });
  const { kid, privateKey, publicJwk } = await createIssuerKey();
  const common = {
    AUTH_JWKS: JSON.stringify({ keys: [publicJwk] }),
    AUTH_ISSUER: issuer,
    AUTH_AUDIENCE: audience,
    STREAM_TOKEN_SECRET: crypto.randomUUID() + crypto.randomUUID(),
  };
  const workerEnvironment = {
    ...common,
    DATABASE_URL: database.appUrl,
    DATABASE_HTTP_URL: `http://127.0.0.1:${neonNetwork.port}/sql`,
    UPSTASH_REDIS_REST_URL: `http://127.0.0.1:${bridgeNetwork.port}`,
    UPSTASH_REDIS_REST_TOKEN: bridge.token,
  };
  const processEnvironment = {
    ...common,
    DATABASE_URL: databaseUrl.href,
    REDIS_URL: `redis://127.0.0.1:${redisNetwork.port}`,
  };
  const admin = (operation: Parameters<typeof runAdmin>[1], args: Readonly<Record<string, unknown>>) =>
    runAdmin({ DATABASE_URL: database.ownerUrl }, operation, args);

  const secrets: string[] = [bridge.token, common.STREAM_TOKEN_SECRET, new URL(database.appUrl).password];

  async function sign(claims: Readonly<Record<string, unknown>>, lifetimeSeconds = 600): Promise<string> {
    const now = Math.floor(Date.now() / 1000);
    const token = await new SignJWT({ iss: issuer, aud: audience, iat: now, exp: now + lifetimeSeconds, ...claims })
      .setProtectedHeader({ alg: "ES256", kid })
      .sign(privateKey);
    secrets.push(token);
    return token;
  }

  return {
    redis,
    bridge,
    bridgeNetwork,
    redisNetwork,
    postgres,
    database,
    databaseNetwork,
    neon,
    neonNetwork,
    workerEnvironment,
    processEnvironment,
    sign,
    async createTenant(name) {
      const { id } = (await admin("tenant.create", { name })) as { readonly id: string };
      const sub = `member@${name.toLowerCase()}.test`;
      await admin("user.create", { tenant: id, sub });
      const key = (await admin("api-key.create", { tenant: id, name: "edge", scopes: "read,publish,admin" })) as {
        readonly id: string;
        readonly api_key: string;
      };
      secrets.push(key.api_key);
      const token = await sign({ tenant_id: id, sub });
      return { id, name, apiKey: key.api_key, apiKeyId: key.id, token, sub };
    },
    secrets: () => secrets,
    async revokeApiKey(id) {
      await admin("api-key.revoke", { id });
    },
    async addUser(tenantId, sub, role) {
      await admin("user.create", { tenant: tenantId, sub, role });
    },
    async removeUser(tenantId, sub) {
      await admin("user.remove", { tenant: tenantId, sub });
    },
    async close() {
      await neonNetwork.close();
      await neon.close();
      await databaseNetwork.close();
      await database.drop();
      await bridgeNetwork.close();
      await redisNetwork.close();
      await bridge.close();
      await redis.stop();
      await postgres.stop();
    },
  };
}
