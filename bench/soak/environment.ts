import { runAdmin } from "../../gateway/operator/call_admin.ts";
import type { Broker } from "../../shared/broker.ts";
import { createRedisBroker } from "../../shared/brokers/redis.ts";
import { UsageError } from "../../shared/usage_error.ts";
import { createTestDatabase, startPostgres } from "../../test/support/postgres.ts";
import { startRedis } from "../../test/support/redis.ts";
import { startTcpProxy, type TcpProxy } from "../../test/support/tcp_proxy.ts";

export interface SoakTenant {
  readonly id: string;
  readonly apiKey: string;
}

/** The ground of a gateway: real servers, each behind a network that can be broken. */
export interface SoakEnvironment {
  /** Variables with which `serve` runs on them. */
  readonly environment: Readonly<Record<string, string>>;
  /** The same without networks that can be broken: they are part of this process, and take its time. */
  readonly directEnvironment: Readonly<Record<string, string>>;
  readonly brokerNetwork: TcpProxy;
  readonly databaseNetwork: TcpProxy;
  /** A producer on a separate network, which never breaks. */
  readonly producer: Broker;
  /** On a separate connection, which never breaks. */
  createTenant(name: string): Promise<SoakTenant>;
  /** The number of channels with subscribers at Redis. */
  subscriptions(): Promise<number>;
  close(): Promise<void>;
}

export async function startEnvironment(): Promise<SoakEnvironment> {
  await using opened = new AsyncDisposableStack();
  const postgres = await startPostgres();
  opened.defer(() => postgres.stop());
  const database = await createTestDatabase(postgres.adminUrl);
  const redis = await startRedis();
  opened.defer(() => redis.stop());
  const databaseUrl = new URL(database.appUrl);
  const brokerNetwork = await startTcpProxy(redis);
  const databaseNetwork = await startTcpProxy({ host: databaseUrl.hostname, port: Number(databaseUrl.port) });
  for (const network of [brokerNetwork, databaseNetwork]) opened.defer(() => network.close());
  databaseUrl.port = String(databaseNetwork.port);
  const environment = {
    DATABASE_URL: databaseUrl.href,
    REDIS_URL: `redis://127.0.0.1:${brokerNetwork.port}`,
    STREAM_TOKEN_SECRET: "stream-token-secret-of-32-bytes-!",
  };
  const producer = createRedisBroker({ url: redis.url, database: 2 });
  opened.defer(() => producer.close());
  const owned = opened.move();
  return {
    environment,
    directEnvironment: { ...environment, DATABASE_URL: database.appUrl, REDIS_URL: redis.url },
    brokerNetwork,
    databaseNetwork,
    producer,
    createTenant: (name) => createTenant(database.ownerUrl, name),
    async subscriptions() {
      const channels = (await redis.command("PUBSUB", "CHANNELS", "scanstream:2:scan:*")) as readonly string[];
      return channels.length;
    },
    close: () => owned.disposeAsync(),
  };
}

async function createTenant(databaseUrl: string, name: string): Promise<SoakTenant> {
  const { id } = (await administer(databaseUrl, "tenant.create", { name })) as { readonly id: string };
  const key = await administer(databaseUrl, "api-key.create", { tenant: id, name, scopes: "read,publish,admin" });
  return { id, apiKey: (key as { readonly api_key: string }).api_key };
}

/** On a machine that is busy with the soak itself a connect can take longer than a person would wait for it. */
async function administer(databaseUrl: string, ...[operation, args]: AdminCall): Promise<unknown> {
  for (;;) {
    try {
      return await runAdmin({ DATABASE_URL: databaseUrl }, operation, args);
    } catch (error) {
      // Said before anything was done.
      if (!(error instanceof UsageError)) throw error;
    }
  }
}

type AdminCall = [Parameters<typeof runAdmin>[1], Parameters<typeof runAdmin>[2]];
