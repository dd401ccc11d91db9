import type { Broker } from "../../shared/broker.ts";
import { createRedisBroker } from "../../shared/brokers/redis.ts";
import { startCommand, temporaryFolder } from "../support/command_line.ts";
import { startDenoGateway } from "../support/deno_gateway.ts";
import { startEdgeBackends, type EdgeBackends, type EdgeTenant } from "../support/edge_backends.ts";
import type { TcpProxy } from "../support/tcp_proxy.ts";
import { startWranglerDev } from "../support/wrangler_dev.ts";

export type Runtime = "Node" | "Deno" | "Workers";

export interface FaultyScan {
  readonly id: string;
  readonly channel: string;
  readonly streamUrl: string;
  readonly authorization: string;
}

/** A gateway over real servers, with a breakable network before its broker and its database. */
export interface FaultyGateway {
  readonly backends: EdgeBackends;
  /** To Redis over TCP; on Workers to Upstash's REST. */
  readonly brokerNetwork: TcpProxy;
  /** To PostgreSQL over TCP; on Workers to Neon's HTTP. */
  readonly databaseNetwork: TcpProxy;
  /** Another producer, on a network of its own that never breaks. */
  readonly producer: Broker;
  createTenant(name: string): Promise<EdgeTenant>;
  createScan(tenant: EdgeTenant): Promise<FaultyScan>;
  request(path: string, authorization: string, json?: unknown): Promise<Response>;
  close(): Promise<void>;
}

type Variables = Readonly<Record<string, string>>;

/** A process of its own, as it is deployed on the runtime. */
export async function startRuntimeGateway(runtime: Runtime, bounds: Variables = {}): Promise<FaultyGateway> {
  const backends = await startEdgeBackends();
  const environment = { ...backends.processEnvironment, ...bounds };
  if (runtime === "Workers") {
    const worker = await startWranglerDev({ environment: { ...backends.workerEnvironment, ...bounds } });
    return toFaultyGateway(backends, runtime, worker);
  }
  if (runtime === "Node") return toFaultyGateway(backends, runtime, await startServe(environment));
  return toFaultyGateway(backends, runtime, await startDenoGateway(environment));
}

interface RunningProcess {
  readonly url: string;
  stop(): Promise<unknown>;
}

function toFaultyGateway(backends: EdgeBackends, runtime: Runtime, running: RunningProcess): FaultyGateway {
  const isWorker = runtime === "Workers";
  const brokerNetwork = isWorker ? backends.bridgeNetwork : backends.redisNetwork;
  const databaseNetwork = isWorker ? backends.neonNetwork : backends.databaseNetwork;
  const producer = createRedisBroker({ url: backends.redis.url, database: 2 });

  async function request(path: string, authorization: string, json?: unknown): Promise<Response> {
    const init = json === undefined ? {} : { method: "POST", body: JSON.stringify(json) };
    const headers = { authorization, ...(json === undefined ? {} : { "content-type": "application/json" }) };
    return fetch(new URL(path, running.url), { ...init, headers });
  }

  return {
    backends,
    brokerNetwork,
    databaseNetwork,
    producer,
    request,
    createTenant: (name) => backends.createTenant(name),
    async createScan(tenant) {
      const authorization = `Api-Key ${tenant.apiKey}`;
      const response = await request("/api/v1/scans", authorization, {});
      if (response.status !== 201) throw new Error(`Cannot create a scan: ${response.status} ${await response.text()}`);
      const { id, channel } = (await response.json()) as { readonly id: string; readonly channel: string };
      return { id, channel, authorization, streamUrl: `${running.url}/api/v1/scans/${id}/event-stream` };
    },
    async close() {
      brokerNetwork.restore();
      databaseNetwork.restore();
      await running.stop();
      await producer.close();
      await backends.close();
    },
  };
}

async function startServe(environment: Variables): Promise<RunningProcess> {
  const folder = await temporaryFolder();
  const serve = startCommand(["serve"], { cwd: folder.path, env: { PORT: "0", ...environment } });
  const [url] = await serve.until("stdout", /http:\/\/127\.0\.0\.1:\d+/);
  return {
    url,
    async stop() {
      await serve.stop();
      await folder[Symbol.asyncDispose]();
    },
  };
}
