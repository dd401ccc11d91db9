import { startBackends, type Backends } from "./backends.ts";
import type { BenchServer } from "./bench_server.ts";
import { compileProgram } from "./c_program.ts";
import { measureFanOut, type FanOutFigures, type FanOutOptions } from "./fan_out.ts";
import { startGatewayServer, type GatewayVariant } from "./gateway_bench_server.ts";
import { measureMemory } from "./memory.ts";
import { startNchanServer } from "./nchan_bench_server.ts";
import { measureOpening, type Credential } from "./opening.ts";
import { startRawServer } from "./raw_bench_server.ts";
import { medians } from "./statistics.ts";
import { measureStorm } from "./storm.ts";

/** What the benches of one run share. */
export interface BenchRun {
  readonly client: string;
  readonly backends: Backends;
  readonly say: (line: string) => void;
  /** Rounds of each comparison; servers take turns, and medians count. */
  readonly rounds: number;
}

export type Start = () => Promise<BenchServer | null>;

/** Throws where the load client cannot be compiled. */
export async function openBenchRun(say: (line: string) => void, rounds: number): Promise<BenchRun> {
  const client = await compileProgram("ssebench");
  if (client === null) throw new Error("Cannot measure the gateway: no C compiler here: install gcc");
  return { client, backends: await startBackends(), say, rounds };
}

export async function benchFanOut(run: BenchRun) {
  const steps = 200;
  // What others do on the machine moves this one by a third from round to round.
  const often = { ...run, rounds: Math.max(run.rounds, 10) };
  const all = [
    raw(run),
    nchan(run),
    gateway(run),
    gateway(run, "node, portable sink"),
    gateway(run, "deno"),
    gateway(run, "deno, portable sink"),
  ];
  return {
    "F1 1 channel, 1,000 streams": await compare(often, all, { streams: 1000, channels: 1, steps }),
    "F1, only one event on its way at a time": await compare(run, all.slice(0, 3), {
      streams: 1000,
      channels: 1,
      steps,
      inFlight: 1,
    }),
    "F2 1 channel, 10,000 streams": await compare(run, all.slice(0, 3), { streams: 10_000, channels: 1, steps: 15 }),
    "F3 bursts of 20, 1,000 streams": await compare(run, all, { streams: 1000, channels: 1, steps: 20, burst: 20 }),
    "F4 5,000 channels, 1 stream each": await compare(run, all.slice(0, 3), {
      streams: 5000,
      channels: 5000,
      steps: 20,
    }),
    "F6 10 events a second, 1,000 streams": await compare(run, all.slice(0, 3), {
      streams: 1000,
      channels: 1,
      steps: 80,
      everyMs: 100,
    }),
  };
}

export async function benchProcesses(run: BenchRun) {
  const options = { channels: 1, inFlight: 1, watchEvery: 50 } as const;
  const starts = [gateway(run), gateway(run, "node, 2 processes")];
  return {
    "P2 one and two processes, 1,000 streams": await compare(run, starts, { ...options, streams: 1000, steps: 200 }),
    "P2 one and two processes, 5,000 streams": await compare(run, starts, { ...options, streams: 5000, steps: 50 }),
    "P2 one and two processes, 10,000 streams": await compare(run, starts, { ...options, streams: 10_000, steps: 30 }),
  };
}

export async function benchMemory(run: BenchRun) {
  const figures: Record<string, unknown> = {};
  for (const start of [
    raw(run),
    nchan(run),
    gateway(run),
    gateway(run, "node, portable sink"),
    gateway(run, "deno"),
    gateway(run, "deno, portable sink"),
  ]) {
    await withServers([start], async ([server]) => {
      if (server === undefined) return;
      // What a process allocates once, for any load, is there before.
      await measureFanOut(run.client, server, { streams: 100, channels: 1, steps: 50 });
      const measured = await measureMemory(run.client, server, { streams: 10_000, idleMs: 20_000 });
      figures[server.name] = measured;
      run.say(
        `${server.name}: ${(measured.bytesPerStream / 1024).toFixed(1)} KiB a stream, ` +
          `idle ${(measured.idleCpuShare * 100).toFixed(1)} % of a core`,
      );
    });
  }
  return { "M1 10,000 idle streams": figures };
}

export async function benchOpening(run: BenchRun) {
  const figures: Record<string, unknown> = {};
  const streams = 3000;
  await withServers([gateway(run)], async ([server]) => {
    if (server === undefined) return;
    // A process that has just started is slow for a second or two: a cost of deployments, not of storms.
    await measureOpening(run.client, server, { backends: run.backends, streams: 2000, credential: "one JWT" });
    for (const credential of ["one JWT", "a JWT each", "one API key"] satisfies Credential[]) {
      const before = await run.backends.transactions();
      const rounds = [];
      for (let round = 0; round < run.rounds; round += 1) {
        rounds.push(await measureOpening(run.client, server, { backends: run.backends, streams, credential }));
      }
      const roundTrips = ((await run.backends.transactions()) - before) / (streams * run.rounds);
      figures[credential] = { ...medians(rounds), roundTrips };
      const { opensPerSecond, cpuMicroseconds } = medians(rounds);
      run.say(
        `${credential}: ${opensPerSecond.toFixed(0)} streams/s, ${cpuMicroseconds.toFixed(0)} µs of CPU each, ` +
          `${roundTrips.toFixed(2)} round trips each`,
      );
    }
    const storm = await measureStorm(run.client, server, 10_000);
    figures["storm"] = storm;
    run.say(`10,000 streams cut and back: ${storm.seconds.toFixed(1)} s, ${storm.refused} refused`);
  });
  return { "C1 opening streams": figures };
}

/** The servers take turns, so that other work of the machine affects all of them. */
async function compare(run: BenchRun, starts: readonly Start[], options: FanOutOptions) {
  const figures: Record<string, FanOutFigures> = {};
  run.say(`${options.streams} streams, ${options.channels} channels, ${options.burst ?? 1} events at once`);
  await withServers(starts, async (servers) => {
    const measured = new Map<string, FanOutFigures[]>();
    // The first round only warms up.
    for (let round = 0; round <= run.rounds; round += 1) {
      for (const server of servers) {
        const figure = await measureFanOut(run.client, server, options);
        if (round > 0) measured.set(server.name, [...(measured.get(server.name) ?? []), figure]);
      }
    }
    for (const [name, rounds] of measured) {
      const figure = medians(rounds);
      figures[name] = figure;
      run.say(
        `${name}: ${(figure.eventsPerSecond / 1000).toFixed(0)} k events/s, ${figure.cpuMicroseconds.toFixed(2)} µs of CPU each, ` +
          `p99 ${figure.p99Ms.toFixed(1)} ms`,
      );
    }
  });
  return figures;
}

export async function withServers(
  starts: readonly Start[],
  work: (servers: readonly BenchServer[]) => Promise<void>,
): Promise<void> {
  const servers: BenchServer[] = [];
  try {
    for (const start of starts) {
      const server = await start();
      if (server !== null) servers.push(server);
    }
    await work(servers);
  } finally {
    await Promise.all(servers.map((server) => server.stop()));
  }
}

export function raw(run: BenchRun): Start {
  return async () => {
    const binary = await compileProgram("raw_server");
    if (binary === null) run.say("raw C: left out: no C compiler here");
    return binary === null ? null : startRawServer(binary);
  };
}

export function nchan(run: BenchRun): Start {
  return async () => {
    const server = await startNchanServer();
    if (server === null) run.say("nchan: left out: apt-get install nginx-light libnginx-mod-nchan");
    return server;
  };
}

export function gateway({ backends }: BenchRun, variant?: GatewayVariant): Start {
  return () => startGatewayServer(backends, variant === undefined ? {} : { variant });
}
