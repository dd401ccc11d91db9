import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pause } from "../shared/abortable.ts";
import type { Backends } from "./backends.ts";
import { nowNs, type BenchServer } from "./bench_server.ts";
import { compileProgram } from "./c_program.ts";
import { startGatewayServer, type GatewayVariant } from "./gateway_bench_server.ts";
import { measureLevel, type Level } from "./hundred_thousand_level.ts";
import { readListenDrops, readMachineMemory } from "./machine_memory.ts";
import { readMachineTimes } from "./machine_times.ts";
import { NumberedEvents } from "./numbered_events.ts";
import { spreadOf, startStreamHolders, type HolderReport, type Spread, type StreamHolders } from "./stream_holders.ts";

/** What the phases share. */
export interface HundredThousandRun {
  readonly holders: StreamHolders;
  readonly events: NumberedEvents;
  gateways: readonly BenchServer[];
  readonly say: (line: string) => void;
}

/** While events go on, at 0.5 a second for each scan. */
interface LoadFigures {
  readonly deliveriesPerSecond: number;
  readonly cpuShare: number;
  readonly machineBusyShare: number;
  readonly delivery: Spread;
}

/** All streams were closed, and came back. Events go on meanwhile. */
interface ReturnFigures {
  /** From the first stream's end until all were open. */
  readonly seconds: number;
  /** Without a stream. */
  readonly away: Spread;
  readonly counts: Pick<
    HolderReport,
    "opens" | "connects" | "drained" | "cutByServer" | "refused503" | "unreachable" | "timedOut" | "repeated"
  >;
  readonly listenDrops: number;
  /** Deliveries while a stream was open, and events that streams did not get because they were not. */
  readonly received: number;
  readonly gaps: number;
  readonly residentBytes: number;
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
/** Opened at a time while the number of streams grows. */
export const openedAtOnce = 200;
const members = 20_000;

/**
 * `HUNDRED_STREAMS` streams (default 100,000) at six gateways on this machine, each stream over a scan of its own twenty and one scan
 * that all follow. Throws when an event is missing.
 */
export async function benchHundredThousand(backends: Backends, say: (line: string) => void) {
  const binary = await compileProgram("stream_holder");
  if (binary === null) throw new Error("Cannot measure so many streams: no C compiler here: install gcc");
  const streams = Number(process.env["HUNDRED_STREAMS"] ?? 100_000);
  const scans = Math.min(5000, Math.ceil(streams / 20));
  const folder = await mkdtemp(join(tmpdir(), "scanstream-bench-"));
  const tokensFile = join(folder, "tokens");
  await writeFile(tokensFile, await signTokens(backends, Math.min(members, streams)));
  const start = (variant: GatewayVariant) => startGatewayServer(backends, { variant });
  const holders = startStreamHolders({ binary, streams, processes, scans, tokensFile });
  const run: HundredThousandRun = { holders, events: new NumberedEvents(backends, scans), gateways: [], say };
  try {
    const opensPerSecondOfOneServe = await measureOneServe(run, Math.ceil(streams / 5), () => start("node, 6 processes"));
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
  { holders, say }: HundredThousandRun,
  streams: number,
  start: () => Promise<BenchServer>,
): Promise<number> {
  const gateway = await start();
  try {
    holders.setPorts([gateway.port]);
    // What a process does first is slow: a cost of deployments.
    holders.open(Math.ceil(streams / 10), openedAtOnce);
    await holders.untilAllOpen(60_000);
    const from = nowNs();
    holders.open(streams, openedAtOnce);
    const opened = (streams * 0.9) / (((await holders.untilAllOpen(120_000)) - from) / 1e9);
    say(`serve --processes 6: ${opened.toFixed(0)} streams opened a second`);
    holders.open(0, 0);
    return opened;
  } finally {
    await gateway.stop();
  }
}

async function measureLevels(run: HundredThousandRun, streams: number): Promise<readonly Level[]> {
  const { holders } = run;
  // What a process allocates once, whatever it serves, is there before.
  for (let round = 0; round < 2; round += 1) {
    holders.open(Math.ceil(streams / 50), openedAtOnce);
    await holders.untilAllOpen(60_000);
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

async function measureLoad(run: HundredThousandRun, scans: number): Promise<LoadFigures> {
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

/** The network cuts all at once. */
async function measureStorm(run: HundredThousandRun): Promise<ReturnFigures> {
  return measureReturn("storm", run, async () => run.holders.cut());
}

/** A new process for each old one, which a balancer then leaves out. */
async function measureRollingRestart(
  run: HundredThousandRun,
  start: () => Promise<BenchServer>,
): Promise<ReturnFigures> {
  return measureReturn("rolling restart", run, async () => {
    for (const old of run.gateways) {
      const next = await start();
      const others = [...run.gateways.filter((gateway) => gateway !== old), next];
      run.holders.setPorts(others.map(({ port }) => port));
      run.gateways = [...run.gateways, next];
      await old.stop();
      run.gateways = others;
      await run.holders.untilAllOpen(120_000);
    }
  });
}

async function measureReturn(
  name: string,
  run: HundredThousandRun,
  close: () => Promise<void>,
): Promise<ReturnFigures> {
  const { holders, events, say } = run;
  holders.reset();
  events.start({ perSecond: 250, toAllEveryMs: 5000 });
  await pause(5000, []);
  const dropsBefore = await readListenDrops();
  const from = nowNs();
  await close();
  const seconds = ((await holders.untilAllOpen(180_000)) - from) / 1e9;
  const listenDrops = (await readListenDrops()) - dropsBefore;
  await pause(5000, []);
  events.stop();
  await requireNothingMissed(run);
  const { opens, connects, drained, cutByServer, refused503, unreachable, timedOut, repeated, ...rest } =
    await holders.report();
  const figures = {
    seconds,
    away: spreadOf(rest.away),
    counts: { opens, connects, drained, cutByServer, refused503, unreachable, timedOut, repeated },
    listenDrops,
    received: rest.events,
    gaps: rest.gaps,
    residentBytes: await residentOf(run.gateways),
  };
  say(
    `${name}: all back after ${seconds.toFixed(1)} s, without a stream p50 ${(figures.away.p50Ms / 1000).toFixed(1)} s, ` +
      `p99 ${(figures.away.p99Ms / 1000).toFixed(1)} s; ${rest.events} received, ${rest.gaps} while closed; ` +
      `${JSON.stringify(figures.counts)}, ${listenDrops} dropped by the kernel`,
  );
  return figures;
}

/** Throws when a stream lacks an event that was published while it was open. */
export async function requireNothingMissed({ holders, events }: HundredThousandRun): Promise<void> {
  const last = events.publishLast();
  await pause(2000, []);
  for (let wait = 0; wait < 10 && (await holders.lacking(last)) > 0; wait += 1) await pause(1000, []);
  const lacking = await holders.lacking(last);
  const { violations, garbage, lost, closedOther, refusedOther, example } = await holders.report();
  const wrong = { lacking, violations, garbage, lost, closedOther, refusedOther };
  if (Object.values(wrong).some((count) => count > 0)) {
    throw new Error(`Events are missing, or streams were closed for no reason: ${JSON.stringify({ ...wrong, example })}`);
  }
}

export async function cpuOf(gateways: readonly BenchServer[]): Promise<number> {
  return (await Promise.all(gateways.map((each) => each.process.cpuSeconds()))).reduce((sum, each) => sum + each, 0);
}

export async function residentOf(gateways: readonly BenchServer[]): Promise<number> {
  return (await Promise.all(gateways.map((each) => each.process.residentBytes()))).reduce((sum, each) => sum + each, 0);
}
