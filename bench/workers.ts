import type { BenchServer } from "./bench_server.ts";
import { measureFanOut, type FanOutFigures, type FanOutOptions } from "./fan_out.ts";
import type { BenchRun } from "./gateway_benches.ts";
import { measureMemory, type MemoryFigures } from "./memory.ts";
import { measureOpening, type OpeningFigures } from "./opening.ts";
import { medians } from "./statistics.ts";
import { startWorkerBackends, startWorkerdServer } from "./worker_bench_server.ts";

/** One Durable Object with its Worker, by the number of streams that follow one channel. */
export type WorkerFanOut = Readonly<Record<"one after another" | "bursts of 20" | "10 a second", FanOutFigures>>;

export interface WorkerFigures {
  readonly fanOut: Readonly<Record<number, WorkerFanOut>>;
  readonly opening: Readonly<Record<"one channel" | "a channel each", OpeningFigures>>;
  readonly memory: MemoryFigures;
}

export interface WorkersFigures {
  readonly servers: Readonly<Record<string, WorkerFigures>>;
}

const streamCounts = [100, 500, 1000, 2000];

/** The Worker with its Durable Object in workerd itself. All streams are one tenant's, and so one object's. */
export async function benchWorkers(run: BenchRun): Promise<WorkersFigures> {
  const backends = await startWorkerBackends(run.backends);
  try {
    const server = await startWorkerdServer(run.backends, backends);
    try {
      return { servers: { [server.name]: await measureWorker(run, server) } };
    } finally {
      await server.stop();
    }
  } finally {
    await backends.stop();
  }
}

async function measureWorker(run: BenchRun, server: BenchServer): Promise<WorkerFigures> {
  // The isolate compiles, and the database's connections open.
  await measureFanOut(run.client, server, { streams: 100, channels: 1, steps: 50 });
  const memory = await measureMemory(run.client, server, { streams: 2000, idleMs: 20_000 });
  run.say(
    `${server.name}: ${(memory.bytesPerStream / 1024).toFixed(1)} KiB a stream of ${memory.residentMiB.toFixed(0)} MiB, ` +
      `idle ${(memory.idleCpuShare * 100).toFixed(1)} % of a core`,
  );
  const fanOut: Record<number, WorkerFanOut> = {};
  for (const streams of streamCounts) {
    const measure = (name: string, options: Pick<FanOutOptions, "steps" | "burst" | "everyMs">) =>
      measureRounds(run, server, `${streams} streams, ${name}`, { streams, channels: 1, ...options });
    fanOut[streams] = {
      "one after another": await measure("one after another", { steps: 60 }),
      "bursts of 20": await measure("bursts of 20", { steps: 10, burst: 20 }),
      "10 a second": await measure("10 a second", { steps: 50, everyMs: 100 }),
    };
  }
  const opening = {
    "one channel": await measureOpenings(run, server, "one"),
    "a channel each": await measureOpenings(run, server, "each"),
  };
  return { fanOut, opening, memory };
}

async function measureRounds(
  run: BenchRun,
  server: BenchServer,
  name: string,
  options: FanOutOptions,
): Promise<FanOutFigures> {
  const rounds = [];
  for (let round = 0; round < run.rounds; round += 1) rounds.push(await measureFanOut(run.client, server, options));
  const figures = medians(rounds);
  run.say(
    `${server.name}, ${name}: ${(figures.eventsPerSecond / 1000).toFixed(1)} k events/s, ` +
      `${figures.cpuMicroseconds.toFixed(1)} µs of CPU each, p50 ${figures.p50Ms.toFixed(1)} ms, p99 ${figures.p99Ms.toFixed(1)} ms`,
  );
  return figures;
}

async function measureOpenings(run: BenchRun, server: BenchServer, scans: "each" | "one"): Promise<OpeningFigures> {
  const { backends } = run;
  const rounds = [];
  for (let round = 0; round < run.rounds; round += 1) {
    rounds.push(await measureOpening(run.client, server, { backends, streams: 500, credential: "one JWT", scans }));
  }
  const figures = medians(rounds);
  run.say(
    `${server.name}, opening, ${scans === "one" ? "one channel" : "a channel each"}: ${figures.opensPerSecond.toFixed(0)} ` +
      `streams/s, ${figures.cpuMicroseconds.toFixed(0)} µs of CPU each, ${figures.refused} refused`,
  );
  return figures;
}
