import { pause } from "../../shared/abortable.ts";
import { nowNs, type BenchServer } from "../bench_server.ts";
import { spreadOf, type HolderReport, type Spread } from "./holders.ts";
import { readListenDrops } from "./machine_memory.ts";
import { openAll, requireNothingMissed, residentOf, type ManyStreams } from "./run.ts";

/** All streams were closed, and came back. Events go on in the meantime. */
export interface ReturnFigures {
  readonly streams: number;
  /** From the first stream's end until all were open, or it was given up. */
  readonly seconds: number;
  /** Open then. */
  readonly back: number;
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

const giveUpMs = 240_000;

/** The network cuts all at once. */
export async function measureStorm(run: ManyStreams): Promise<ReturnFigures> {
  const figures = await measureReturn("storm", run, async () => run.holders.cut());
  if (figures.back === figures.streams) return figures;
  // What follows begins with all of them.
  run.holders.open(0, 0);
  await openAll(run, figures.streams);
  return figures;
}

/** A new process for each old one, which a balancer then leaves out. */
export async function measureRollingRestart(
  run: ManyStreams,
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
      await run.holders.untilAllOpen(giveUpMs);
    }
  });
}

async function measureReturn(name: string, run: ManyStreams, close: () => Promise<void>): Promise<ReturnFigures> {
  const { holders, events, say } = run;
  holders.reset();
  events.start({ perSecond: 250, toAllEveryMs: 5000 });
  await pause(5000, []);
  const { open: streams } = await holders.report();
  const dropsBefore = await readListenDrops();
  const from = nowNs();
  await close();
  const backNs = await holders.untilAllOpen(giveUpMs);
  const seconds = ((backNs ?? nowNs()) - from) / 1e9;
  const { open: back } = await holders.report();
  const listenDrops = (await readListenDrops()) - dropsBefore;
  await pause(5000, []);
  events.stop();
  await requireNothingMissed(run);
  const { opens, connects, drained, cutByServer, refused503, unreachable, timedOut, repeated, ...rest } =
    await holders.report();
  const figures = {
    streams,
    seconds,
    back,
    away: spreadOf(rest.away),
    counts: { opens, connects, drained, cutByServer, refused503, unreachable, timedOut, repeated },
    listenDrops,
    received: rest.events,
    gaps: rest.gaps,
    residentBytes: await residentOf(run.gateways),
  };
  say(
    `${name}: ${back} back after ${seconds.toFixed(1)} s, without a stream p50 ${(figures.away.p50Ms / 1000).toFixed(1)} s, ` +
      `p99 ${(figures.away.p99Ms / 1000).toFixed(1)} s; ${rest.events} received, ${rest.gaps} while closed; ` +
      `${JSON.stringify(figures.counts)}, ${listenDrops} dropped by the kernel`,
  );
  return figures;
}
