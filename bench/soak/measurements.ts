import type { SoakEnvironment } from "./environment.ts";
import type { GatewayProcess } from "./gateway_process.ts";

/** What one process of the gateway uses at one moment. */
export interface Sample {
  readonly atSeconds: number;
  readonly rssMiB: number;
  readonly externalMiB: number;
  /** The heap after a collection; null where the sample did not ask for one. */
  readonly liveMiB: number | null;
  readonly descriptors: number;
  readonly timers: number;
}

/** What the gateway holds without clients. */
export interface Resources {
  readonly descriptors: number;
  readonly timers: number;
  /** Open streams by the gateway's own count. */
  readonly streams: number;
  /** Opened streams minus ended streams. */
  readonly unended: number;
  /** Channels at Redis that have subscribers. */
  readonly subscriptions: number;
  readonly liveMiB: number;
}

/** Measures first as it is, and collects then: resident memory is never that of a heap that was cleaned for the measurement. */
export async function takeSample(gateway: GatewayProcess, atSeconds: number, collect: boolean): Promise<Sample> {
  const { rssBytes, descriptors } = await gateway.outside();
  const { external, timers } = await gateway.inside({ collect: false });
  const live = collect ? (await gateway.inside({ collect: true })).heapUsed : null;
  return {
    atSeconds,
    rssMiB: toMiB(rssBytes),
    externalMiB: toMiB(external),
    liveMiB: live === null ? null : toMiB(live),
    descriptors,
    timers,
  };
}

export async function measureResources(gateway: GatewayProcess, environment: SoakEnvironment): Promise<Resources> {
  const { descriptors, timers, liveMiB } = await takeSample(gateway, 0, true);
  const [streams, opened, ended, subscriptions] = await Promise.all([
    gateway.metric("scanstream_streams_open"),
    gateway.metric("scanstream_streams_opened_total"),
    gateway.metric("scanstream_streams_closed_total"),
    environment.subscriptions(),
  ]);
  return { descriptors, timers, streams, unended: opened - ended, subscriptions, liveMiB: liveMiB ?? 0 };
}

/**
 * How much more than before is no leak: kept-alive connections of the pool, of a client or to the issuer, each with its timer, and
 * compiled code and filled caches in the heap.
 */
const slack = { descriptors: 16, timers: 16, liveMiB: 24 } as const;

export function leakedResources(before: Resources, after: Resources): readonly string[] {
  return [
    ...(["streams", "unended", "subscriptions"] as const)
      .filter((name) => after[name] !== 0)
      .map((name) => `${name}: ${after[name]} after every client had left, expected 0`),
    ...(["descriptors", "timers", "liveMiB"] as const)
      .filter((name) => after[name] > before[name] + slack[name])
      .map((name) => `${name}: ${after[name]} after, ${before[name]} before, expected at most ${slack[name]} more`),
  ];
}

/** A process that lives for a shorter time is still warming up. */
const minSeconds = 100;
/** The bound is on the whole rise, not on its rate: the longer the soak, the slower the leak that it finds. */
const maxRisesMiB = { liveMiB: 6, externalMiB: 8, rssMiB: 24 } as const;

/** The metrics of one process that rise steadily after its warm-up by more than their bound. */
export function growingMetrics(samples: readonly Sample[]): readonly string[] {
  if ((samples.at(-1)?.atSeconds ?? 0) < minSeconds) return [];
  return (["liveMiB", "externalMiB", "rssMiB"] as const).flatMap((name) => {
    const rise = steadyRise(
      samples.flatMap(({ atSeconds, [name]: value }) => (value === null ? [] : [{ atSeconds, value }])),
    );
    if (rise === null || rise <= maxRisesMiB[name]) return [];
    return [`${name}: rises by ${rise.toFixed(1)} MiB after the warm-up, expected at most ${maxRisesMiB[name]}`];
  });
}

interface Point {
  readonly atSeconds: number;
  readonly value: number;
}

/** The first third of a process's life: code is compiled, pools are filled, the heap finds its size. */
const warmUpShare = 1 / 3;
const minPointsOfHalf = 4;

/**
 * How much a series rises after its warm-up, as far as it rises all the time; null when there are too few points. The slope of each
 * half is the median of the slopes between all pairs of its points (Theil–Sen), which the sawtooth of garbage collection does not
 * move. The smaller slope counts, because a leak rises in both halves, and an allocator that takes one more step in only one.
 */
function steadyRise(points: readonly Point[]): number | null {
  const first = points[0]?.atSeconds ?? 0;
  const last = points.at(-1)?.atSeconds ?? 0;
  const warmAt = first + (last - first) * warmUpShare;
  const middle = (warmAt + last) / 2;
  const early = points.filter(({ atSeconds }) => atSeconds >= warmAt && atSeconds < middle);
  const late = points.filter(({ atSeconds }) => atSeconds >= middle);
  if (early.length < minPointsOfHalf || late.length < minPointsOfHalf) return null;
  return Math.max(0, Math.min(slopeOf(early), slopeOf(late)) * (last - warmAt));
}

function slopeOf(points: readonly Point[]): number {
  const slopes = points.flatMap((one, index) =>
    points
      .slice(index + 1)
      .filter(({ atSeconds }) => atSeconds > one.atSeconds)
      .map(({ atSeconds, value }) => (value - one.value) / (atSeconds - one.atSeconds)),
  );
  const sorted = slopes.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  return ((sorted[Math.ceil(middle) - 1] ?? 0) + (sorted[Math.floor(middle)] ?? 0)) / 2;
}

function toMiB(bytes: number): number {
  return Math.round((bytes / 1_048_576) * 10) / 10;
}
