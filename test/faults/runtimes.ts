import { createRedisBroker } from "../../shared/brokers/redis.ts";
import type { Broker } from "../../shared/broker.ts";
import { buildPage } from "../../gateway/web/build.ts";
import { startCommand, temporaryFolder } from "../support/command_line.ts";
import { startDenoGateway } from "../support/deno_gateway.ts";
import { startEdgeBackends, type EdgeBackends } from "../support/edge_backends.ts";
import { suitePostgres } from "../support/suite_postgres.ts";
import { startTcpProxy, type TcpProxy } from "../support/tcp_proxy.ts";
import { startWranglerDev } from "../support/wrangler_dev.ts";
import type { FaultyScan, FaultyTenant } from "./faulty_gateway.ts";

export type Runtime = "Node" | "Deno" | "Workers";

/** A gateway in a process of its own, on one of the runtimes, with a breakable network before its broker and its database. */
export interface RuntimeGateway {
  readonly url: string;
  /** To Redis over TCP; on Workers to Upstash's REST. */
  readonly brokerNetwork: TcpProxy;
  /** To PostgreSQL over TCP; on Workers to Neon's HTTP. */
  readonly databaseNetwork: TcpProxy;
  /** Ends what the gateway is subscribed with, as politely as the broker's protocol can. */
  endSubscriptions(): void;
  /** Another producer, on a network of its own that never breaks. */
  readonly producer: Broker;
  /** What the process said. */
  readonly output: () => string;
  createTenant(name: string): Promise<FaultyTenant>;
  createScan(tenant: FaultyTenant): Promise<FaultyScan>;
  request(path: string, authorization: string, json?: unknown): Promise<Response>;
  close(): Promise<void>;
}

export const recheckSeconds = 2;
export const maxStreamsPerTenant = 24;

/**
 * workerd sees that a client is gone when it writes; behind `wrangler dev`'s own proxy, at the second write. Node and Deno
 * see it at once, and write their first heartbeat long after the tests are over.
 */
export const heartbeatSeconds: Readonly<Record<Runtime, number>> = { Node: 15, Deno: 15, Workers: 1 };

const boundsOn = (runtime: Runtime) => ({
  EVENTSTREAM_HEARTBEAT_SECONDS: String(heartbeatSeconds[runtime]),
  EVENTSTREAM_RECHECK_SECONDS: String(recheckSeconds),
  EVENTSTREAM_MAX_STREAMS_PER_TENANT: String(maxStreamsPerTenant),
});

interface GatewayProcess {
  readonly url: string;
  readonly output: () => string;
  stop(): Promise<unknown>;
}

export async function startRuntimeGateway(runtime: Runtime): Promise<RuntimeGateway> {
  const postgres = await suitePostgres();
  const backends = await startEdgeBackends(postgres);
  const databaseUrl = new URL(backends.database.appUrl);
  const databaseNetwork = await startTcpProxy(
    runtime === "Workers"
      ? { host: "127.0.0.1", port: backends.neon.port }
      : { host: databaseUrl.hostname, port: Number(databaseUrl.port) },
  );
  const running = await startProcess(runtime, backends, databaseNetwork.port);
  const brokerNetwork = runtime === "Workers" ? backends.bridgeNetwork : backends.redisNetwork;
  const producer = createRedisBroker({ url: backends.redis.url, database: 2 });

  async function request(path: string, authorization: string, json?: unknown): Promise<Response> {
    const init = json === undefined ? {} : { method: "POST", body: JSON.stringify(json) };
    const headers = { authorization, ...(json === undefined ? {} : { "content-type": "application/json" }) };
    return fetch(new URL(path, running.url), { ...init, headers });
  }

  return {
    url: running.url,
    brokerNetwork,
    databaseNetwork,
    endSubscriptions: () => (runtime === "Workers" ? backends.bridge.endStreams() : brokerNetwork.end()),
    producer,
    output: running.output,
    createTenant: (name) => backends.createTenant(name),
    async createScan(tenant) {
      const authorization = `Api-Key ${tenant.apiKey}`;
      const response = await request("/api/v1/scans", authorization, {});
      if (response.status !== 201) throw new Error(`Cannot create a scan: ${response.status} ${await response.text()}`);
      const { id, channel } = (await response.json()) as { readonly id: string; readonly channel: string };
      return { id, channel, authorization, streamUrl: `${running.url}/api/v1/scans/${id}/event-stream` };
    },
    request,
    async close() {
      brokerNetwork.restore();
      databaseNetwork.restore();
      await running.stop();
      await producer.close();
      await databaseNetwork.close();
      await backends.close();
      await postgres.stop();
    },
  };
}

async function startProcess(runtime: Runtime, backends: EdgeBackends, databasePort: number): Promise<GatewayProcess> {
  if (runtime === "Workers") {
    const neonUrl = `http://127.0.0.1:${databasePort}/sql`;
    return startWranglerDev({
      environment: { ...backends.workerEnvironment, ...boundsOn(runtime), DATABASE_HTTP_URL: neonUrl },
    });
  }
  const databaseUrl = new URL(backends.database.appUrl);
  databaseUrl.port = String(databasePort);
  const environment = { ...backends.processEnvironment, ...boundsOn(runtime), DATABASE_URL: databaseUrl.href };
  if (runtime === "Node") return startServe(environment);
  await buildPage();
  return startDenoGateway(environment);
}

async function startServe(environment: Readonly<Record<string, string>>): Promise<GatewayProcess> {
  const folder = await temporaryFolder();
  const serve = startCommand(["serve"], { cwd: folder.path, env: { PORT: "0", ...environment } });
  const [url] = await serve.until("stdout", /http:\/\/127\.0\.0\.1:\d+/);
  return {
    url,
    output: () => serve.output.stdout + serve.output.stderr,
    async stop() {
      await serve.stop();
      await folder[Symbol.asyncDispose]();
    },
  };
}
