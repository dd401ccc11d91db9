import { join } from "node:path";
import { eq } from "drizzle-orm";
import { runs } from "../../drizzle/schema.ts";
import { write } from "../../drizzle/transactions.ts";
import { createStaticFiles } from "../../gateway/runtime/static_files.ts";
import { NotFound } from "../../shared/app_error.ts";
import { createMemoryBroker } from "../../shared/brokers/memory.ts";
import type { Environment } from "../../shared/environment_reader.ts";
import { createPublisher } from "../../shared/send_event.ts";
import { builtPackage } from "./command_line.ts";
import { createIssuerKey, type TestTenant } from "./operator.ts";
import { createProducer, type Producer } from "./producers.ts";
import { temporaryFolder } from "./temporary_folder.ts";
import { openSharedDatabase, startTestGateway } from "./test_gateway.ts";

export interface WebTenant extends TestTenant {
  readonly producer: Producer;
}

/** The gateway on Node with the page as it is built. */
export async function startWebGateway(environment: Environment = {}) {
  const folder = await temporaryFolder();
  const issuerKey = await createIssuerKey();
  const { database, close } = await openSharedDatabase();
  const webAssets = createStaticFiles(join(builtPackage, "web"));
  let demo: WebTenant | null = null;
  let broker = createMemoryBroker();
  let gateway = await start("0");
  const { port } = new URL(gateway.url);

  async function start(onPort: string) {
    broker = createMemoryBroker();
    const options = { issuerKey, directory: folder.path, database, broker, webAssets, demoSession };
    return startTestGateway({ PORT: onPort, ...environment }, options);
  }

  async function demoSession() {
    if (demo === null) throw new NotFound("This gateway is not the demo");
    return { access_token: demo.token, tenant_id: demo.id, tenant_name: demo.name };
  }

  return {
    ...gateway,
    async createTenant(name: string): Promise<WebTenant> {
      const tenant = await gateway.createTenant(name);
      return { ...tenant, producer: createProducer(gateway.url, tenant.apiKey) };
    },
    /** The tenant that the page signs in as by itself; null: the gateway is no demo. */
    setDemo: (tenant: WebTenant | null) => void (demo = tenant),
    /** Publishes past the HTTP route, as a scanner with broker credentials does. */
    publisher: createPublisher({ publish: (channel, message) => broker.publish(channel, message) }),
    stop: () => gateway.stop(),
    /** Starts again at the same address, over the same database. */
    async start() {
      gateway = await start(port);
    },
    /** As its metrics count them. */
    async openStreams() {
      const text = await (await fetch(`${gateway.url}/metrics`)).text();
      return Number(/^scanstream_streams_open (\d+)$/m.exec(text)?.[1]);
    },
    /** As when the monitor's producer has not reported for 61 s. */
    async silenceMonitor(tenant: WebTenant, monitorId: string) {
      const updatedAt = new Date(Date.now() - 61_000);
      await write(database, { tenantId: tenant.id }, (db) =>
        db.update(runs).set({ updatedAt }).where(eq(runs.id, monitorId)),
      );
    },
    async [Symbol.asyncDispose]() {
      await gateway.stop();
      await close();
      await folder[Symbol.asyncDispose]();
    },
  };
}
