import { createPgDatabase } from "../../drizzle/databases/pg.ts";
import { executeAdmin } from "../../gateway/operator/operations.ts";
import { startNeonProxy, type NeonProxy } from "./neon_proxy.ts";
import { createTestDatabase, type TestDatabase } from "./postgres.ts";
import { startRedis, type RedisServer } from "./redis.ts";
import { createIssuerKey, createOperator, issuerEnvironment, type TestOperator } from "./operator.ts";
import { startTcpProxy, type TcpProxy } from "./tcp_proxy.ts";
import { startUpstashBridge, type UpstashBridge } from "./upstash_bridge.ts";

/** Services of a gateway at the edge, on this machine: Upstash's REST, Neon's HTTP, and an issuer of JWTs. */
export interface EdgeBackends extends TestOperator {
  readonly redis: RedisServer;
  readonly bridge: UpstashBridge;
  /** Between the gateway and the bridge. */
  readonly bridgeNetwork: TcpProxy;
  /** Between the gateway and Redis, for those that speak TCP. */
  readonly redisNetwork: TcpProxy;
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
  close(): Promise<void>;
}

export async function startEdgeBackends(): Promise<EdgeBackends> {
  const redis = await startRedis();
  const bridge = await startUpstashBridge({ redisUrl: redis.url });
  const bridgeNetwork = await startTcpProxy(bridge);
  const redisNetwork = await startTcpProxy(redis);
  const database = await createTestDatabase();
  const databaseUrl = new URL(database.appUrl);
  const server = { host: databaseUrl.hostname, port: Number(databaseUrl.port) };
  const databaseNetwork = await startTcpProxy(server);
  databaseUrl.port = String(databaseNetwork.port);
  const neon = await startNeonProxy(server);
  const neonNetwork = await startTcpProxy({ host: "127.0.0.1", port: neon.port });
  const issuerKey = await createIssuerKey();
  const common = {
    ...issuerEnvironment(issuerKey),
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
  // Patient, because every case creates tenants while others keep the machine busy.
  const timeoutMs = 30_000;
  const owner = createPgDatabase(database.ownerUrl, { connectTimeoutMs: timeoutMs, statementTimeoutMs: timeoutMs });
  const operator = createOperator((operation, args) => executeAdmin({ database: owner }, operation, args), issuerKey);

  return {
    ...operator,
    redis,
    bridge,
    bridgeNetwork,
    redisNetwork,
    database,
    databaseNetwork,
    neon,
    neonNetwork,
    workerEnvironment,
    processEnvironment,
    get secrets() {
      return [...operator.secrets, bridge.token, common.STREAM_TOKEN_SECRET, new URL(database.appUrl).password];
    },
    async close() {
      for (const proxy of [neonNetwork, neon, databaseNetwork]) await proxy.close();
      await owner.close();
      await database.drop();
      for (const proxy of [bridgeNetwork, redisNetwork, bridge]) await proxy.close();
      await redis.stop();
    },
  };
}
