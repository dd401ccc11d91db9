import type { Broker } from "../../shared/broker.ts";
import { createRedisBroker } from "../../shared/brokers/redis.ts";
import { createScan, keyOf } from "../contract/harness.ts";
import { startCommand, temporaryFolder } from "../support/command_line.ts";
import { startEdgeBackends, type EdgeBackends, type EdgeTenant } from "../support/edge_backends.ts";
import type { TcpProxy } from "../support/tcp_proxy.ts";
import { startDenoGateway, startWranglerDev } from "../support/server_process.ts";

export type Runtime = "Node" | "Deno" | "Workers";

export interface FaultyScan {
  readonly id: string;
  readonly channel: string;
  readonly streamUrl: string;
  readonly authorization: string;
}

/** A gateway over real servers, with a breakable network before its broker and its database. */
export interface FaultyGateway {
  readonly url: string;
  readonly backends: EdgeBackends;
  /** To Redis over TCP; on Workers to Upstash's REST. */
  readonly brokerNetwork: TcpProxy;
  /** To PostgreSQL over TCP; on Workers to Neon's HTTP. */
  readonly databaseNetwork: TcpProxy;
  /** Another producer, on a network of its own that never breaks. */
  readonly producer: Broker;
  createTenant(name: string): Promise<EdgeTenant>;
  createScan(tenant: EdgeTenant): Promise<FaultyScan>;
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

  return {
    backends,
    brokerNetwork,
    databaseNetwork,
    producer,
    url: running.url,
    createTenant: (name) => backends.createTenant(name),
    async createScan(tenant) {
      const { id, channel, event_stream: path } = await createScan(running, tenant);
      return { id, channel, authorization: keyOf(tenant), streamUrl: `${running.url}${path}` };
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
