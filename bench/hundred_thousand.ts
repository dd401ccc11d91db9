import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pause } from "../shared/abortable.ts";
import type { Backends } from "./backends.ts";
import type { BenchServer } from "./bench_server.ts";
import { compileProgram } from "./c_program.ts";
import { startGatewayServer, type GatewayVariant } from "./gateway_bench_server.ts";
import { readMachineTimes } from "./machine_times.ts";
import { spreadOf, startStreamHolders, type Spread } from "./many_streams/holders.ts";
import { measureLevel, type Level } from "./many_streams/level.ts";
import { readMachineMemory } from "./many_streams/machine_memory.ts";
import { NumberedEvents } from "./many_streams/numbered_events.ts";
import { measureRollingRestart, measureStorm, type ReturnFigures } from "./many_streams/returns.ts";
import { cpuOf, openAll, requireNothingMissed, residentOf, type ManyStreams } from "./many_streams/run.ts";

/** While events go on, at 0.5 a second for each scan. */
interface LoadFigures {
  readonly deliveriesPerSecond: number;
  readonly cpuShare: number;
  readonly machineBusyShare: number;
  readonly delivery: Spread;
}

export interface HundredThousandFigures {
  readonly streams: number;
  readonly scans: number;
  readonly processes: number;
  readonly levels: readonly Level[];
  readonly load: LoadFigures;
  readonly storm: ReturnFigures;
  readonly rollingRestart: ReturnFigures;
  readonly opensPerSecondOfOneServe: number;
}

const processes = 6;
const members = 20_000;

/**
 * `HUNDRED_STREAMS` streams (default 100,000) at six gateways on this machine, each stream over one of twenty scans and one scan
 * that all follow. Throws when an event is missing.
 */
export async function benchHundredThousand(backends: Backends, say: (line: string) => void) {
  const binary = await compileProgram("stream_holder");
  if (binary === null) throw new Error("Cannot measure this many streams: no C compiler here: install gcc");
  const streams = Number(process.env["HUNDRED_STREAMS"] ?? 100_000);
  const scans = Math.min(5000, Math.ceil(streams / 20));
  const folder = await mkdtemp(join(tmpdir(), "scanstream-bench-"));
  const tokensFile = join(folder, "tokens");
  await writeFile(tokensFile, await signTokens(backends, Math.min(members, streams)));
  const start = (variant: GatewayVariant) => startGatewayServer(backends, { variant });
  const holders = startStreamHolders({ binary, streams, processes, scans, tokensFile });
  const run: ManyStreams = { holders, events: new NumberedEvents(backends, scans), gateways: [], say };
  try {
    const opensPerSecondOfOneServe = await measureOneServe(run, Math.ceil(streams / 10), () =>
      start("node, 6 processes"),
    );
    for (let index = 0; index < processes; index += 1) run.gateways = [...run.gateways, await start("node")];
    holders.setPorts(run.gateways.map(({ port }) => port));
    const levels = await measureLevels(run, streams);
    const load = await measureLoad(run, scans);
    const storm = await measureStorm(run);
    const rollingRestart = await measureRollingRestart(run, () => start("node"));
    const figures: HundredThousandFigures = {
      streams,
      scans,
      processes,
      levels,
      load,
      storm,
      rollingRestart,
      opensPerSecondOfOneServe,
    };
    return figures;
  } finally {
    run.events.stop();
    await holders.stop();
    await Promise.all(run.gateways.map((gateway) => gateway.stop()));
    await rm(folder, { recursive: true, force: true });
  }
}

/** Each member's own, 20,000 of them: five streams have the same. */
async function signTokens(backends: Backends, count: number): Promise<string> {
  const tokens: string[] = [];
  for (let member = 0; member < count; member += 1) tokens.push(await backends.sign(member));
  return `${tokens.join("\n")}\n`;
}

/** Six processes behind one port, whose connections a seventh hands out. */
async function measureOneServe(
  { holders, say }: ManyStreams,
  streams: number,
  start: () => Promise<BenchServer>,
): Promise<number> {
  const gateway = await start();
  try {
    holders.setPorts([gateway.port]);
    // What a process does first is slow: a cost of deployments.
    await openAll({ holders }, Math.ceil(streams / 10));
    const opened = (streams * 0.9) / (await openAll({ holders }, streams));
    say(`serve --processes 6: ${opened.toFixed(0)} streams opened a second`);
    holders.open(0, 0);
    return opened;
  } finally {
    await gateway.stop();
  }
}

async function measureLevels(run: ManyStreams, streams: number): Promise<readonly Level[]> {
  const { holders } = run;
  // What a process allocates once, for any load, is there before.
  for (let round = 0; round < 2; round += 1) {
    await openAll(run, Math.ceil(streams / 50));
    holders.open(0, 0);
    await pause(2000, []);
  }
  await pause(6000, []);
  const before = { resident: await residentOf(run.gateways), machine: await readMachineMemory() };
  const levels: Level[] = [];
  for (const share of [0.1, 0.25, 0.5, 1]) {
    levels.push(await measureLevel(run, Math.ceil(streams * share), before));
    await requireNothingMissed(run);
  }
  return levels;
}

async function measureLoad(run: ManyStreams, scans: number): Promise<LoadFigures> {
  const { holders, events, gateways, say } = run;
  const seconds = 20;
  holders.reset();
  const cpu = await cpuOf(gateways);
  const machine = await readMachineTimes();
  events.start({ perSecond: scans / 2, toAllEveryMs: Infinity });
  await pause(seconds * 1000, []);
  const machineAfter = await readMachineTimes();
  const cpuSeconds = (await cpuOf(gateways)) - cpu;
  events.stop();
  await pause(2000, []);
  const report = await holders.report();
  await requireNothingMissed(run);
  const delivery = spreadOf(report.toSome);
  const figures = {
    deliveriesPerSecond: delivery.count / seconds,
    cpuShare: cpuSeconds / seconds,
    machineBusyShare: 1 - (machineAfter.idle - machine.idle) / (machineAfter.all - machine.all),
    delivery,
  };
  say(
    `${figures.deliveriesPerSecond.toFixed(0)} deliveries/s: ${(figures.cpuShare * 100).toFixed(0)} % of a core, ` +
      `p50 ${delivery.p50Ms.toFixed(1)} ms, p99 ${delivery.p99Ms.toFixed(1)} ms`,
  );
  return figures;
}
