import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Database } from "../../drizzle/database.ts";
import { openPgliteDatabase } from "../../drizzle/databases/pglite.ts";
import { parseConfig, type Environment } from "../../gateway/config.ts";
import { silentLog } from "../../gateway/observability/log.ts";
import { startGateway, type RunningGateway } from "../../gateway/runtime/start_gateway.ts";
import { createStaticFiles } from "../../gateway/runtime/static_files.ts";
import { buildPage } from "../../gateway/web/build.ts";
import { NotFound } from "../../shared/app_error.ts";
import type { Broker, LostReason, Publisher } from "../../shared/broker.ts";
import { createMemoryBroker } from "../../shared/brokers/memory.ts";
import { createScanProducer, type ScanProducer } from "./scan_producer.ts";

export interface WebTenant {
  readonly id: string;
  readonly name: string;
  readonly apiKey: string;
  readonly apiKeyId: string;
  /** A member's JWT. */
  readonly accessToken: string;
  readonly producer: ScanProducer;
}

/** The gateway on Node with the page as it is built, over Postgres in memory. */
export interface WebGateway extends AsyncDisposable {
  readonly url: string;
  createTenant(name: string): Promise<WebTenant>;
  /** The tenant that the page signs in as by itself; null: the gateway is no demo. */
  setDemo(tenant: WebTenant | null): void;
  stop(): Promise<void>;
  /** Starts again at the same address, over the same database. */
  start(): Promise<void>;
  /** Publishes past the HTTP route, as a scanner with broker credentials does. */
  readonly publisher: Publisher;
  /** Every subscription is lost, as when the broker's connection breaks. */
  loseBroker(): void;
  revokeApiKey(apiKeyId: string): Promise<void>;
}

export async function startWebGateway(environment: Environment = {}): Promise<WebGateway> {
  const directory = await mkdtemp(join(tmpdir(), "scanstream-web-"));
  const webFolder = join(directory, "web");
  await buildPage(webFolder);
  const database = await openPgliteDatabase({ directory: null });
  let port = 0;
  let demo: WebTenant | null = null;
  let broker = createLosableBroker();
  let gateway = await start();
  port = Number(new URL(gateway.url).port);

  async function start(): Promise<RunningGateway> {
    broker = createLosableBroker();
    return startGateway({
      config: parseConfig({ PORT: String(port), ...environment }),
      directory,
      log: silentLog,
      database: withoutClose(database),
      broker,
      webAssets: createStaticFiles(webFolder),
      demoSession,
    });
  }

  async function demoSession(): Promise<{ access_token: string; tenant_id: string; tenant_name: string }> {
    if (demo === null) throw new NotFound("This gateway is not the demo");
    return { access_token: demo.accessToken, tenant_id: demo.id, tenant_name: demo.name };
  }

  async function createTenant(name: string): Promise<WebTenant> {
    const sub = `member@${name.toLowerCase().replaceAll(" ", "-")}.test`;
    const tenant = (await gateway.admin("tenant.create", { name })) as { id: string };
    await gateway.admin("user.create", { tenant: tenant.id, sub });
    const key = (await gateway.admin("api-key.create", { tenant: tenant.id, name })) as { id: string; api_key: string };
    const token = (await gateway.admin("token.create", { tenant: tenant.id, sub, ttl: "600" })) as {
      access_token: string;
    };
    return {
      id: tenant.id,
      name,
      apiKey: key.api_key,
      apiKeyId: key.id,
      accessToken: token.access_token,
      producer: createScanProducer(gateway.url, key.api_key),
    };
  }

  return {
    url: gateway.url,
    createTenant,
    setDemo(tenant) {
      demo = tenant;
    },
    publisher: { publish: (channel, message) => broker.publish(channel, message) },
    loseBroker: () => broker.lose(),
    stop: () => gateway.stop({ drainMs: 0 }),
    async start() {
      gateway = await start();
    },
    async revokeApiKey(apiKeyId) {
      await gateway.admin("api-key.revoke", { id: apiKeyId });
    },
    async [Symbol.asyncDispose]() {
      await gateway.stop({ drainMs: 0 });
      await database.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** A gateway closes its database; this one outlives it. */
function withoutClose(database: Database): Database {
  return {
    statementTimeoutMs: database.statementTimeoutMs,
    transact: (statements) => database.transact(statements),
    close: async () => {},
  };
}

function createLosableBroker(): Broker & { lose(): void } {
  const broker = createMemoryBroker();
  const subscriptions = new Set<(reason: LostReason) => void>();
  return {
    publish: (channel, message) => broker.publish(channel, message),
    ping: () => broker.ping(),
    close: () => broker.close(),
    async subscribe(channels, handlers, signal) {
      const own = new AbortController();
      const lose = (reason: LostReason) => {
        own.abort();
        subscriptions.delete(lose);
        if (!signal.aborted) handlers.onLost(reason);
      };
      subscriptions.add(lose);
      signal.addEventListener("abort", () => subscriptions.delete(lose), { once: true });
      await broker.subscribe(channels, handlers, AbortSignal.any([signal, own.signal]));
    },
    lose() {
      for (const lose of subscriptions) lose("cut");
    },
  };
}
