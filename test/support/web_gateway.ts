import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eq } from "drizzle-orm";
import { monitors } from "../../drizzle/schema.ts";
import { write } from "../../drizzle/transactions.ts";
import type { Environment } from "../../shared/environment_reader.ts";
import { createStaticFiles } from "../../gateway/runtime/static_files.ts";
import type { Role } from "../../shared/schemas/team.ts";
import { NotFound } from "../../shared/app_error.ts";
import { createPublisher, type Publisher } from "../../shared/send_event.ts";
import { createMemoryBroker } from "../../shared/brokers/memory.ts";
import { builtPackage } from "./command_line.ts";
import { createScanProducer, type ScanProducer } from "./scan_producer.ts";
import { createIssuerKey, type TestTenant } from "./operator.ts";
import { openSharedDatabase, startTestGateway, type TestGateway } from "./test_gateway.ts";

export interface WebTenant extends TestTenant {
  /** A member's JWT. */
  readonly accessToken: string;
  readonly producer: ScanProducer;
}

/** The gateway on Node with the page as it is built. */
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
  /** As its metrics count them. */
  openStreams(): Promise<number>;
  revokeApiKey(apiKeyId: string): Promise<void>;
  addMember(tenant: WebTenant, sub: string, role: Role): Promise<void>;
  removeMember(tenant: WebTenant, sub: string): Promise<void>;
  /** As when the monitor's producer has not reported for 61 s. */
  silenceMonitor(tenant: WebTenant, monitorId: string): Promise<void>;
}

export async function startWebGateway(environment: Environment = {}): Promise<WebGateway> {
  const directory = await mkdtemp(join(tmpdir(), "scanstream-web-"));
  const issuerKey = await createIssuerKey();
  const { database, close } = await openSharedDatabase();
  let port = 0;
  let demo: WebTenant | null = null;
  let broker = createMemoryBroker();
  const publisher = createPublisher({ publish: (channel, message) => broker.publish(channel, message) });
  let gateway = await start();
  port = Number(new URL(gateway.url).port);

  async function start(): Promise<TestGateway> {
    broker = createMemoryBroker();
    const webAssets = createStaticFiles(join(builtPackage, "web"));
    const options = { issuerKey, directory, database, broker, webAssets, demoSession };
    return startTestGateway({ PORT: String(port), ...environment }, options);
  }

  async function demoSession(): Promise<{ access_token: string; tenant_id: string; tenant_name: string }> {
    if (demo === null) throw new NotFound("This gateway is not the demo");
    return { access_token: demo.accessToken, tenant_id: demo.id, tenant_name: demo.name };
  }

  return {
    url: gateway.url,
    async createTenant(name) {
      const tenant = await gateway.createTenant(name);
      return { ...tenant, accessToken: tenant.token, producer: createScanProducer(gateway.url, tenant.apiKey) };
    },
    setDemo(tenant) {
      demo = tenant;
    },
    publisher,
    stop: () => gateway.stop(),
    async start() {
      gateway = await start();
    },
    async openStreams() {
      const text = await (await fetch(`${gateway.url}/metrics`)).text();
      return Number(/^scanstream_streams_open (\d+)$/m.exec(text)?.[1]);
    },
    async revokeApiKey(apiKeyId) {
      await gateway.gateway.admin("api-key.revoke", { id: apiKeyId });
    },
    async addMember(tenant, sub, role) {
      await gateway.gateway.admin("user.create", { tenant: tenant.id, sub, role });
    },
    async removeMember(tenant, sub) {
      await gateway.gateway.admin("user.remove", { tenant: tenant.id, sub });
    },
    async silenceMonitor(tenant, monitorId) {
      const updatedAt = new Date(Date.now() - 61_000);
      await write(database, { tenantId: tenant.id }, (db) =>
        db.update(monitors).set({ updatedAt }).where(eq(monitors.id, monitorId)),
      );
    },
    async [Symbol.asyncDispose]() {
      await gateway.stop();
      await close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
