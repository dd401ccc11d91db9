import { createPgDatabase } from "../../drizzle/databases/pg.ts";
import { executeAdmin } from "../../gateway/operator/operations.ts";
import { startNeonProxy } from "./neon_proxy.ts";
import { createTestDatabase, patient } from "./postgres.ts";
import { startRedis } from "./redis.ts";
import { createIssuerKey, createOperator, issuerEnvironment } from "./operator.ts";
import { startTcpProxy } from "./tcp_proxy.ts";
import { startUpstashBridge } from "./upstash_bridge.ts";

export type EdgeBackends = Awaited<ReturnType<typeof startEdgeBackends>>;

/** Services of a gateway at the edge, on this machine: Upstash's REST, Neon's HTTP, and an issuer of JWTs. Networks are before each. */
export async function startEdgeBackends() {
  const redis = await startRedis();
  const bridge = await startUpstashBridge(redis);
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
  /** The variables of a gateway on Workers: Upstash and Neon over HTTP. */
  const workerEnvironment: Readonly<Record<string, string>> = {
    ...common,
    DATABASE_URL: database.appUrl,
    DATABASE_HTTP_URL: `http://127.0.0.1:${neonNetwork.port}/sql`,
    UPSTASH_REDIS_REST_URL: `http://127.0.0.1:${bridgeNetwork.port}`,
    UPSTASH_REDIS_REST_TOKEN: bridge.token,
  };
  /** The same for a gateway that is a process: Redis and Postgres over TCP. */
  const processEnvironment: Readonly<Record<string, string>> = {
    ...common,
    DATABASE_URL: databaseUrl.href,
    REDIS_URL: `redis://127.0.0.1:${redisNetwork.port}`,
  };
  const owner = createPgDatabase(database.ownerUrl, patient);
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
