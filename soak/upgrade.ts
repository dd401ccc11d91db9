import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startNginx } from "../test/support/proxies.ts";
import { freePort } from "../test/support/free_port.ts";
import { startGatewayProcess, type GatewayProcess } from "./gateway_process.ts";
import { startSurroundings } from "./surroundings.ts";
import { createUpgradeTally, startUpgradeClient, type UpgradeClient, type UpgradeTally } from "./upgrade_client.ts";

export interface UpgradeOptions {
  readonly streams: number;
  /** Numbers that the producer stores and publishes a second. */
  readonly eventsPerSecond: number;
  /** How long streams are held between two steps. */
  readonly holdMs: number;
  readonly say: (line: string) => void;
}

export interface UpgradeReport {
  readonly streams: number;
  readonly published: number;
  /** Publications and stores that had to be sent again. */
  readonly producer_retries: number;
  /** Over all clients: every number is known by its event or by a snapshot that was read after it. */
  readonly known_by_event: number;
  readonly known_by_snapshot: number;
  /** Numbers that a live stream left out. */
  readonly missed: number;
  readonly repeated: number;
  /** Clients that did not know the newest number at the end. */
  readonly stale_clients: number;
  readonly openings: number;
  readonly ended: Readonly<Record<string, number>>;
  /** How long clients were without a stream. */
  readonly gap_ms: { readonly p50: number; readonly p99: number; readonly max: number };
  readonly gateway_exit_codes: readonly (number | null)[];
  readonly seconds: number;
}

/** Two gateways behind nginx, with the settings of `deploy/`, are replaced one after the other while clients follow a scan. */
export async function runUpgrade(options: UpgradeOptions): Promise<UpgradeReport> {
  const { streams, say } = options;
  await using opened = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), "scanstream-upgrade-"));
  opened.defer(() => rm(folder, { recursive: true, force: true }));
  const surroundings = await startSurroundings();
  opened.defer(() => surroundings.close());
  const ports = [await freePort(), await freePort()];
  const start = (port: number) =>
    startGatewayProcess({
      cwd: folder,
      environment: {
        ...surroundings.environment,
        PORT: String(port),
        DRAIN_DELAY_SECONDS: "1",
        EVENTSTREAM_MAX_STREAMS_PER_TENANT: "20000",
        EVENTSTREAM_HEARTBEAT_SECONDS: "15",
        EVENTSTREAM_RECHECK_SECONDS: "30",
      },
    });
  const gateways = new Map<number, GatewayProcess>();
  for (const port of ports) gateways.set(port, await start(port));
  opened.defer(async () => void (await Promise.all(Array.from(gateways.values(), (gateway) => gateway.stop()))));
  const proxy = await startNginx(ports, { tls: false });
  opened.defer(() => proxy.stop());

  const startedMs = performance.now();
  const tenant = (await surroundings.admin("tenant.create", { name: "Upgrade" })) as { readonly id: string };
  const key = (await surroundings.admin("api-key.create", { tenant: tenant.id, name: "upgrade" })) as {
    readonly api_key: string;
  };
  const producer = await startProducer({ url: proxy.url, apiKey: key.api_key, perSecond: options.eventsPerSecond });
  const tally = createUpgradeTally();
  const clients: UpgradeClient[] = [];
  opened.defer(async () => void (await Promise.all(clients.map((client) => client.close()))));
  const url = new URL(`/api/v1/scans/${producer.scanId}/event-stream`, proxy.url);
  while (clients.length < streams) {
    const more = Math.min(100, streams - clients.length);
    for (let each = 0; each < more; each += 1) {
      clients.push(startUpgradeClient({ url, apiKey: key.api_key, tally }));
    }
    await untilLive(clients);
  }
  say(`${clients.length} streams are open through ${proxy.url}`);

  await pause(options.holdMs);
  const exitCodes: (number | null)[] = [];
  for (const port of ports) {
    say(`Stopping the gateway on port ${port}; ${await describeSpread(gateways)}`);
    exitCodes.push((await gateways.get(port)?.stop()) ?? null);
    gateways.set(port, await start(port));
    await untilLive(clients);
    say(`A new one runs there, and all clients have streams; ${await describeSpread(gateways)}`);
    await pause(options.holdMs);
  }

  const published = await producer.stop();
  await untilKnown(clients, published);
  return report({ options, clients, tally, published, producer, exitCodes, startedMs });
}

interface Producer {
  readonly scanId: string;
  readonly retries: number;
  /** The last number that was stored and published. */
  stop(): Promise<number>;
}

/** Stores each number before it publishes it, and sends both again until a gateway has taken them. */
async function startProducer(target: {
  readonly url: string;
  readonly apiKey: string;
  readonly perSecond: number;
}): Promise<Producer> {
  let retries = 0;
  let number = 0;
  const stop = new AbortController();
  const scan = (await send("POST", "/api/v1/scans", { checks_total: 1_000_000 })) as {
    readonly id: string;
    readonly channel: string;
  };
  const running = run();
  return {
    scanId: scan.id,
    get retries() {
      return retries;
    },
    async stop() {
      stop.abort();
      await running;
      return number;
    },
  };

  async function run(): Promise<void> {
    while (!stop.signal.aborted) {
      number += 1;
      await send("PATCH", `/api/v1/scans/${scan.id}`, { checks_done: number });
      await send("POST", `/api/v1/channels/${scan.channel}/events`, {
        type: "scan.delta",
        data: { scan_id: scan.id, number },
        delivery_id: `upgrade.${number}`,
      });
      await pause(1000 / target.perSecond);
    }
  }

  async function send(method: string, path: string, body: object): Promise<unknown> {
    for (;;) {
      try {
        const response = await fetch(new URL(path, target.url), {
          method,
          headers: { authorization: `Api-Key ${target.apiKey}`, "content-type": "application/json" },
          body: JSON.stringify(body),
          signal: AbortSignal.timeout(10_000),
        });
        const text = await response.text();
        if (response.ok) return JSON.parse(text);
        if (response.status < 500)
          throw new TypeError(`${method} ${path} was answered with ${response.status}: ${text}`);
      } catch (error) {
        if (error instanceof TypeError && error.cause === undefined) throw error;
      }
      retries += 1;
      await pause(100);
    }
  }
}

/** Much longer than any reconnect: a client that is not there then never will be. */
const maxWaitMs = 120_000;

async function untilLive(clients: readonly UpgradeClient[]): Promise<void> {
  await until(() => clients.every(({ isLive }) => isLive));
}

async function untilKnown(clients: readonly UpgradeClient[], newest: number): Promise<void> {
  await until(() => clients.every(({ known }) => known >= newest), 20_000);
}

/** Gives up quietly: what is missing is counted. */
async function until(holds: () => boolean, timeoutMs = maxWaitMs): Promise<void> {
  const untilMs = performance.now() + timeoutMs;
  while (!holds() && performance.now() < untilMs) await pause(50);
}

async function describeSpread(gateways: ReadonlyMap<number, GatewayProcess>): Promise<string> {
  const counts = await Promise.all(
    Array.from(gateways, async ([port, gateway]) => `${await gateway.metric("scanstream_streams_open")} on ${port}`),
  );
  return `streams: ${counts.join(", ")}`;
}

interface Outcome {
  readonly options: UpgradeOptions;
  readonly clients: readonly UpgradeClient[];
  readonly tally: UpgradeTally;
  readonly published: number;
  readonly producer: Producer;
  readonly exitCodes: readonly (number | null)[];
  readonly startedMs: number;
}

function report({ options, clients, tally, published, producer, exitCodes, startedMs }: Outcome): UpgradeReport {
  const gaps = tally.gapsMs.toSorted((a, b) => a - b);
  const quantile = (q: number) => Math.round(gaps[Math.min(gaps.length - 1, Math.floor(gaps.length * q))] ?? 0);
  return {
    streams: options.streams,
    published,
    producer_retries: producer.retries,
    known_by_event: tally.byEvent,
    known_by_snapshot: tally.bySnapshot,
    missed: tally.missed,
    repeated: tally.repeated,
    stale_clients: clients.filter(({ known }) => known < published).length,
    openings: tally.opened,
    ended: Object.fromEntries(tally.ended),
    gap_ms: { p50: quantile(0.5), p99: quantile(0.99), max: quantile(1) },
    gateway_exit_codes: exitCodes,
    seconds: Math.round((performance.now() - startedMs) / 1000),
  };
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
