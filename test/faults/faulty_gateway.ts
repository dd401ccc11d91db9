import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { runAdmin } from "../../gateway/admin/call_admin.ts";
import { parseConfig } from "../../gateway/config.ts";
import type { Environment } from "../../shared/environment_reader.ts";
import { createLog } from "../../gateway/observability/log.ts";
import { startGateway, type RunningGateway } from "../../gateway/runtime/start_gateway.ts";
import type { Broker } from "../../shared/broker.ts";
import { createRedisBroker } from "../../shared/brokers/redis.ts";
import { createTestDatabase, startPostgres, type PostgresServer, type TestDatabase } from "../support/postgres.ts";
import { startRedis, type RedisServer } from "../support/redis.ts";
import { startTcpProxy, type TcpProxy } from "../support/tcp_proxy.ts";

export interface FaultyTenant {
  readonly id: string;
  readonly apiKey: string;
  /** A member's JWT. */
  readonly token: string;
}

export interface FaultyScan {
  readonly id: string;
  readonly channel: string;
  readonly streamUrl: string;
  readonly authorization: string;
}

/** A gateway as `serve` runs it, over real servers, with a breakable network in front of each. */
export interface FaultyGateway {
  readonly gateway: RunningGateway;
  readonly url: string;
  readonly redis: RedisServer;
  /** Between the gateway and Redis. */
  readonly redisNetwork: TcpProxy;
  /** Between the gateway and PostgreSQL. */
  readonly databaseNetwork: TcpProxy;
  /** Another producer, on a network of its own that never breaks. */
  readonly producer: Broker;
  readonly environment: Environment;
  readonly log: readonly string[];
  createTenant(name: string): Promise<FaultyTenant>;
  createScan(tenant: FaultyTenant): Promise<FaultyScan>;
  request(path: string, authorization: string, json?: unknown): Promise<Response>;
  /** Subscriptions at Redis, of whomever. */
  subscriptions(): Promise<number>;
  close(): Promise<void>;
}

const issuer = "https://issuer.test";
const audience = "scanstream";

/** `null` in the environment takes a variable away. */
export async function startFaultyGateway(
  environment: Readonly<Record<string, string | null>> = {},
  issuerKeys?: CryptoKeyPair,
): Promise<FaultyGateway> {
  const postgres = await openPostgres();
  const redis = await startRedis();
  const redisNetwork = await startTcpProxy(redis);
  const database: TestDatabase = await createTestDatabase(postgres.adminUrl);
  const databaseUrl = new URL(database.appUrl);
  const databaseNetwork = await startTcpProxy({ host: databaseUrl.hostname, port: Number(databaseUrl.port) });
  databaseUrl.port = String(databaseNetwork.port);
  const { privateKey, publicKey } = issuerKeys ?? (await generateKeyPair("ES256"));
  const publicJwk = { ...(await exportJWK(publicKey)), kid: "fault", alg: "ES256", use: "sig" };
  const all: Record<string, string | null> = {
    PORT: "0",
    DATABASE_URL: databaseUrl.href,
    REDIS_URL: `redis://127.0.0.1:${redisNetwork.port}`,
    STREAM_TOKEN_SECRET: "stream-token-secret-of-32-bytes-!",
    AUTH_JWKS: JSON.stringify({ keys: [publicJwk] }),
    AUTH_ISSUER: issuer,
    AUTH_AUDIENCE: audience,
    ...environment,
  };
  const given = Object.fromEntries(Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== null));
  const log: string[] = [];
  const gateway = await startGateway({
    config: parseConfig(given),
    log: createLog({ level: "debug", write: (line) => log.push(line) }),
  });
  const producer = createRedisBroker({ url: redis.url, database: 2 });
  const admin = (operation: Parameters<typeof runAdmin>[1], args: Readonly<Record<string, unknown>>) =>
    runAdmin({ DATABASE_URL: database.ownerUrl }, operation, args);

  async function request(path: string, authorization: string, json?: unknown): Promise<Response> {
    const init = json === undefined ? {} : { method: "POST", body: JSON.stringify(json) };
    const headers = { authorization, ...(json === undefined ? {} : { "content-type": "application/json" }) };
    return fetch(new URL(path, gateway.url), { ...init, headers });
  }

  return {
    gateway,
    url: gateway.url,
    redis,
    redisNetwork,
    databaseNetwork,
    producer,
    environment: given,
    log,
    request,
    async createTenant(name) {
      const { id } = (await admin("tenant.create", { name })) as { readonly id: string };
      await admin("user.create", { tenant: id, sub: "ann" });
      const key = (await admin("api-key.create", { tenant: id, name: "fault" })) as { readonly api_key: string };
      const now = Math.floor(Date.now() / 1000);
      const token = await new SignJWT({
        iss: issuer,
        aud: audience,
        sub: "ann",
        tenant_id: id,
        iat: now,
        exp: now + 3600,
      })
        .setProtectedHeader({ alg: "ES256", kid: "fault" })
        .sign(privateKey);
      return { id, apiKey: key.api_key, token };
    },
    async createScan(tenant) {
      const authorization = `Api-Key ${tenant.apiKey}`;
      const response = await request("/api/v1/scans", authorization, {});
      if (response.status !== 201) throw new Error(`Cannot create a scan: ${response.status} ${await response.text()}`);
      const { id, channel } = (await response.json()) as { id: string; channel: string };
      return { id, channel, authorization, streamUrl: `${gateway.url}/api/v1/scans/${id}/event-stream` };
    },
    async subscriptions() {
      const channels = (await redis.command("PUBSUB", "CHANNELS", "scanstream:2:scan:*")) as readonly string[];
      return channels.length;
    },
    async close() {
      databaseNetwork.restore();
      redisNetwork.restore();
      await gateway.stop({ drainMs: 0 });
      await producer.close();
      await redisNetwork.close();
      await databaseNetwork.close();
      await redis.stop();
      await database.drop();
      await postgres.stop();
    },
  };
}

/** The run's own server; outside of vitest (the soak), where that cannot even be imported, one of our own. */
async function openPostgres(): Promise<PostgresServer> {
  if (process.env["VITEST"] === undefined) return startPostgres();
  const { suitePostgres } = await import("../support/suite_postgres.ts");
  return suitePostgres();
}
