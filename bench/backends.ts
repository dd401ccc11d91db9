import { scanChannel } from "../shared/scan_events.ts";
import { channelKeys } from "../shared/brokers/channel_key.ts";
import { startEdgeBackends } from "../test/support/edge_backends.ts";
import { asAdmin } from "../test/support/postgres.ts";
import { temporaryFolder } from "../test/support/temporary_folder.ts";
import {
  connectPublisher,
  gatewayCommands,
  makePayload,
  startGateway,
  type BenchServer,
  type GatewayVariant,
} from "./servers.ts";

/** `EVENTSTREAM_CACHE_DB` of every gateway that is measured. */
const brokerDatabase = 2;
/** Scans in the database. */
const maxScans = 20_000;
const tokenSeconds = 7200;

/** The real Postgres and Redis behind the gateway, and its credentials. */
export interface Backends {
  /** The environment of a gateway on them. */
  readonly environment: Readonly<Record<string, string>>;
  readonly apiKey: string;
  /** A JWT of a member. */
  readonly token: string;
  /** Sends this number of events to the channel of scan 0. */
  publish(burst: number): Promise<void>;
  stop(): Promise<void>;
}

/** The path of the event stream of a scan. */
export function streamPath(scan: number): string {
  return `/api/v1/scans/${scanIdOf(scan)}/event-stream`;
}

function scanIdOf(scan: number): string {
  return `5ca00000-0000-4000-8000-${String(scan).padStart(12, "0")}`;
}

export async function startBackends(): Promise<Backends> {
  const backends = await startEdgeBackends();
  const { database, redis } = backends;
  const { id: tenantId, sub, apiKey } = await backends.createTenant("Bench");
  await asAdmin(new URL(`/${database.name}`, database.adminUrl).href, async (admin) => {
    await admin.query(
      `insert into runs (id, tenant_id, kind, status, updated_at)
       select ('5ca00000-0000-4000-8000-' || lpad(n::text, 12, '0'))::uuid, $1, 'scan', 'running', now() + interval '1 day'
       from generate_series(0, $2) n`,
      [tenantId, maxScans],
    );
    await admin.query("analyze");
  });
  const publisher = await connectPublisher(redis.port);
  publisher.on("data", (answers: Uint8Array) => {
    // The number of subscribers that got it; an error starts with a minus.
    if (answers.includes(0x2d)) throw new Error(`Cannot publish: Redis answered ${new TextDecoder().decode(answers)}`);
  });
  const key = channelKeys(brokerDatabase)(scanChannel(tenantId, scanIdOf(0)));
  return {
    environment: {
      ...backends.processEnvironment,
      // Past the networks of tests, which are part of this process.
      DATABASE_URL: database.appUrl,
      REDIS_URL: redis.url,
      EVENTSTREAM_MAX_STREAMS_PER_TENANT: "50000",
      TENANT_MAX_PERCENT: "100",
    },
    apiKey,
    token: await backends.sign({ tenant_id: tenantId, sub }, tokenSeconds),
    async publish(burst) {
      const commands = Array.from({ length: burst }, () => {
        const message = `{"type":"scan.progress","data":${makePayload()}}`;
        return `*3\r\n$7\r\nPUBLISH\r\n$${key.length}\r\n${key}\r\n$${message.length}\r\n${message}\r\n`;
      });
      publisher.write(commands.join(""));
    },
    async stop() {
      publisher.destroy();
      await backends.close();
    },
  };
}

/** A gateway on real Postgres and Redis; a stream shows a JWT. */
export async function startGatewayServer(backends: Backends, variant: GatewayVariant): Promise<BenchServer> {
  const folder = await temporaryFolder();
  const server = await startGateway({
    command: gatewayCommands[variant](),
    env: backends.environment,
    cwd: folder.path,
  });
  return {
    name: `gateway (${variant})`,
    host: "127.0.0.1",
    port: Number(new URL(server.url).port),
    path: streamPath(0),
    headers: [`Authorization: Bearer ${backends.token}`],
    process: server,
    publish: (burst) => backends.publish(burst),
    async [Symbol.asyncDispose]() {
      await server.stop();
      await folder[Symbol.asyncDispose]();
    },
  };
}
