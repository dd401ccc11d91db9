import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { runAdmin } from "../../gateway/admin.ts";
import { startNeonProxy, type NeonProxy } from "./neon_proxy.ts";
import { createTestDatabase, type PostgresServer, type TestDatabase } from "./postgres.ts";
import { startRedis, type RedisServer } from "./redis.ts";
import { startTcpProxy, type TcpProxy } from "./tcp_proxy.ts";
import { startUpstashBridge, type UpstashBridge } from "./upstash_bridge.ts";

/** What a gateway at the edge stands on, on this machine: Upstash's REST, Neon's HTTP, and an issuer of JWTs. */
export interface EdgeBackends {
  readonly redis: RedisServer;
  readonly bridge: UpstashBridge;
  /** Between the gateway and the bridge. */
  readonly bridgeNetwork: TcpProxy;
  readonly database: TestDatabase;
  readonly neon: NeonProxy;
  /** The gateway's variables, for Workers and for Deno. */
  readonly environment: Readonly<Record<string, string>>;
  createTenant(name: string): Promise<EdgeTenant>;
  /** A JWT of the issuer that the gateway accepts; `lifetimeSeconds` 600 unless said otherwise. */
  sign(claims: Readonly<Record<string, unknown>>, lifetimeSeconds?: number): Promise<string>;
  revokeApiKey(id: string): Promise<void>;
  removeUser(tenantId: string, sub: string): Promise<void>;
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

const issuer = "https://issuer.test";
const audience = "scanstream";

export async function startEdgeBackends(postgres: PostgresServer): Promise<EdgeBackends> {
  const redis = await startRedis();
  const bridge = await startUpstashBridge({ redisUrl: redis.url });
  const bridgeNetwork = await startTcpProxy(bridge);
  const database = await createTestDatabase(postgres.adminUrl);
  const { hostname, port } = new URL(database.ownerUrl);
  const neon = await startNeonProxy({ host: hostname, port: Number(port) });
  const { privateKey, publicKey } = await generateKeyPair("ES256");
  const publicJwk = { ...(await exportJWK(publicKey)), kid: "edge", alg: "ES256", use: "sig" };
  const environment = {
    DATABASE_URL: database.appUrl,
    DATABASE_HTTP_URL: neon.sqlEndpoint,
    UPSTASH_REDIS_REST_URL: `http://127.0.0.1:${bridgeNetwork.port}`,
    UPSTASH_REDIS_REST_TOKEN: bridge.token,
    AUTH_JWKS: JSON.stringify({ keys: [publicJwk] }),
    AUTH_ISSUER: issuer,
    AUTH_AUDIENCE: audience,
    STREAM_TOKEN_SECRET: crypto.randomUUID() + crypto.randomUUID(),
    CORS_ORIGINS: "https://app.example.test",
  };
  const admin = (operation: Parameters<typeof runAdmin>[1], args: Readonly<Record<string, unknown>>) =>
    runAdmin({ DATABASE_URL: database.ownerUrl }, operation, args);

  async function sign(claims: Readonly<Record<string, unknown>>, lifetimeSeconds = 600): Promise<string> {
    const now = Math.floor(Date.now() / 1000);
    return new SignJWT({ iss: issuer, aud: audience, iat: now, exp: now + lifetimeSeconds, ...claims })
      .setProtectedHeader({ alg: "ES256", kid: "edge" })
      .sign(privateKey);
  }

  return {
    redis,
    bridge,
    bridgeNetwork,
    database,
    neon,
    environment,
    sign,
    async createTenant(name) {
      const { id } = (await admin("tenant.create", { name })) as { readonly id: string };
      const sub = `member@${name.toLowerCase()}.test`;
      await admin("user.create", { tenant: id, sub });
      const key = (await admin("api-key.create", { tenant: id, name: "edge" })) as {
        readonly id: string;
        readonly api_key: string;
      };
      const token = await sign({ tenant_id: id, sub });
      return { id, name, apiKey: key.api_key, apiKeyId: key.id, token, sub };
    },
    async revokeApiKey(id) {
      await admin("api-key.revoke", { id });
    },
    async removeUser(tenantId, sub) {
      await admin("user.remove", { tenant: tenantId, sub });
    },
    async close() {
      await neon.close();
      await database.drop();
      await bridgeNetwork.close();
      await bridge.close();
      await redis.stop();
    },
  };
}
