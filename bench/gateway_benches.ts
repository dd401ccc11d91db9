import { join } from "node:path";
import { pause } from "../shared/abortable.ts";
import { builtPackage } from "../test/support/built_package.ts";
import { temporaryFolder } from "../test/support/temporary_folder.ts";
import { buildPackage } from "../tools/build.ts";
import { startBackends, startGatewayServer, type Backends } from "./backends.ts";
import { compileLoadClient } from "./load_client.ts";
import {
  credentials,
  measureFanOut,
  measureMemory,
  measureOpening,
  type FanOutFigures,
  type FanOutOptions,
} from "./measures.ts";
import { medians, text, type Table } from "./report.ts";
import { startGateway, startNchanServer, type BenchServer } from "./servers.ts";

/** Parts that the benches of one run share: one database and one Redis. */
export interface BenchRun {
  readonly client: string;
  readonly backends: Backends;
  readonly progress: (line: string) => void;
  /** Rounds of each comparison; servers take turns, and medians count. */
  readonly rounds: number;
}

/** Throws where the load client cannot be compiled. */
export async function openBenchRun(progress: (line: string) => void, rounds: number): Promise<BenchRun> {
  return { client: await compileLoadClient(), backends: await startBackends(), progress, rounds };
}

const thousand = { streams: 1000 } as const;
/** The publisher is always ahead: the server is never idle. */
const saturated = 20;

export const gatewayBenches: Readonly<Record<string, (run: BenchRun) => Promise<Table>>> = {
  fan_out: (run) =>
    benchFanOut(run, "1 channel, 1,000 streams, saturated", { ...thousand, steps: 400, inFlight: saturated }),
  fan_out_10000: (run) =>
    benchFanOut(run, "1 channel, 10,000 streams, saturated", { streams: 10_000, steps: 30, inFlight: saturated }),
  bursts: (run) => benchFanOut(run, "bursts of 20, 1,000 streams", { ...thousand, steps: 20, burst: 20 }),
  one_by_one: (run) =>
    benchFanOut(run, "one event after another, 1,000 streams", { ...thousand, steps: 200, inFlight: 1 }),
  memory: benchMemory,
  opening: benchOpening,
  start: benchStart,
};

/** Null: it is not installed here. */
type Start = () => Promise<BenchServer | null>;

/** nchan, and the gateway on each runtime. */
function everyServer({ backends, progress }: BenchRun): readonly Start[] {
  return [
    async () => {
      const server = await startNchanServer();
      if (server === null) progress("nchan: left out: apt-get install nginx-light libnginx-mod-nchan");
      return server;
    },
    () => startGatewayServer(backends, "node"),
    () => startGatewayServer(backends, "deno"),
  ];
}

async function benchFanOut(run: BenchRun, title: string, options: FanOutOptions): Promise<Table> {
  const figures = await compare(run, options);
  const theirs = figures.get("nchan");
  const ratio = (one?: number, other?: number) =>
    one === undefined || other === undefined ? "–" : (one / other).toFixed(2);
  return {
    head: [title, "events", "÷ nchan", "CPU for each", "nchan's CPU ÷ its", "p50", "p99"],
    rows: [...figures].map(([name, { eventsPerSecond, cpuMicroseconds, p50Ms, p99Ms }]) => [
      name,
      text.thousands(eventsPerSecond),
      ratio(eventsPerSecond, theirs?.eventsPerSecond),
      text.micros(cpuMicroseconds),
      ratio(theirs?.cpuMicroseconds, cpuMicroseconds),
      text.ms(p50Ms),
      text.ms(p99Ms),
    ]),
  };
}

/** The servers take turns, so that other work of the machine affects all of them. The first round only warms up. */
async function compare(run: BenchRun, options: FanOutOptions) {
  await using opened = new AsyncDisposableStack();
  const servers: BenchServer[] = [];
  for (const start of everyServer(run))
    servers.push(...[opened.use(await start())].filter((server) => server !== null));
  const measured = new Map<string, FanOutFigures[]>();
  for (let round = 0; round <= run.rounds; round += 1) {
    for (const server of servers) {
      const figure = await measureFanOut(run.client, server, options).catch((error: unknown) => {
        // A round counts only when every event arrived once.
        if (server.name.startsWith("gateway")) throw error;
        run.progress(error instanceof Error ? error.message : String(error));
        return null;
      });
      if (figure === null) continue;
      run.progress(`${server.name}: ${text.thousands(figure.eventsPerSecond)}, p99 ${text.ms(figure.p99Ms)}`);
      if (round > 0) measured.set(server.name, [...(measured.get(server.name) ?? []), figure]);
    }
  }
  return new Map([...measured].map(([name, figures]) => [name, medians(figures)] as const));
}

async function benchMemory(run: BenchRun): Promise<Table> {
  const rows: (readonly string[])[] = [];
  for (const start of everyServer(run)) {
    await using server = await start();
    if (server === null) continue;
    // Memory that a process allocates once, for any load, is there before.
    await measureFanOut(run.client, server, { streams: 100, steps: 50 });
    rows.push([server.name, text.kib(await measureMemory(run.client, server, 10_000))]);
  }
  return { head: ["10,000 idle streams", "memory for each"], rows };
}

async function benchOpening({ client, backends, rounds }: BenchRun): Promise<Table> {
  const rows: (readonly string[])[] = [];
  const streams = 3000;
  await using server = await startGatewayServer(backends, "node");
  // A process that has just started is slow for a second or two: a cost of deployments, not of storms.
  await measureOpening(client, server, { backends, streams, credential: "one JWT" });
  for (const credential of credentials) {
    const measured = [];
    for (let round = 0; round < rounds; round += 1)
      measured.push(await measureOpening(client, server, { backends, streams, credential }));
    const { opensPerSecond, cpuMicroseconds } = medians(measured);
    rows.push([credential, text.whole(opensPerSecond), `${cpuMicroseconds.toFixed(0)} µs`]);
  }
  return { head: ["opening streams", "a second", "CPU for each"], rows };
}

const settleMs = 1000;

/** `serve` as it is published, next to a real Postgres, with the in-process broker: until it listens, and its memory a second later. */
async function benchStart({ backends, rounds }: BenchRun): Promise<Table> {
  await buildPackage(builtPackage);
  await using folder = await temporaryFolder();
  const command = [process.execPath, join(builtPackage, "scanstream.js"), "serve"];
  const { REDIS_URL: _, ...env } = backends.environment;
  const measured = [];
  for (let round = 0; round < rounds; round += 1) {
    const startedMs = performance.now();
    const server = await startGateway({ command, env: { HOME: folder.path, ...env }, cwd: folder.path });
    const readyMs = performance.now() - startedMs;
    await pause(settleMs, []);
    measured.push({ readyMs, residentBytes: await server.residentBytes() });
    await server.stop();
  }
  const { readyMs, residentBytes } = medians(measured);
  return {
    head: ["", "ready after", "resident"],
    rows: [["`serve`", `${readyMs.toFixed(0)} ms`, text.mib(residentBytes)]],
  };
}
