import type { SoakEnvironment } from "./environment.ts";
import type { GatewayProcess } from "./gateway_process.ts";

/** Resources that the gateway holds without clients. */
export interface Resources {
  readonly descriptors: number;
  readonly timers: number;
  /** Open streams by the gateway's own count. */
  readonly streams: number;
  /** Opened streams minus ended streams. */
  readonly unended: number;
  /** Channels at Redis that have subscribers. */
  readonly subscriptions: number;
  /** Before a collection: resident memory is never that of a heap that was cleaned for the measurement. */
  readonly rssMiB: number;
  /** The heap after a collection. */
  readonly liveMiB: number;
}

export async function measureResources(gateway: GatewayProcess, environment: SoakEnvironment): Promise<Resources> {
  const { rssBytes, descriptors } = await gateway.outside();
  const { timers } = await gateway.inside({ collect: false });
  const { heapUsed } = await gateway.inside({ collect: true });
  const [streams, opened, ended, subscriptions] = await Promise.all([
    gateway.metric("scanstream_streams_open"),
    gateway.metric("scanstream_streams_opened_total"),
    gateway.metric("scanstream_streams_closed_total"),
    environment.subscriptions(),
  ]);
  const [rssMiB, liveMiB] = [toMiB(rssBytes), toMiB(heapUsed)];
  return { descriptors, timers, streams, unended: opened - ended, subscriptions, rssMiB, liveMiB };
}

/**
 * How much more than before is no leak: kept-alive connections of the pool and of clients, each with its timer, and compiled code and
 * filled caches in the heap.
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

/** With fewer samples the first third is still warming up. */
const minSamples = 30;
const maxRiseMiB = 4;

/** Between the middle and the last third of the samples: in the first third code is compiled, and the heap finds its size. */
export function growingHeap(samples: readonly Resources[]): readonly string[] {
  if (samples.length < minSamples) return [];
  const third = Math.floor(samples.length / 3);
  const medianOf = (part: readonly Resources[]) =>
    part.map(({ liveMiB }) => liveMiB).toSorted((a, b) => a - b)[Math.floor(part.length / 2)] ?? 0;
  const rise = medianOf(samples.slice(-third)) - medianOf(samples.slice(third, -third));
  if (rise <= maxRiseMiB) return [];
  return [`liveMiB: rises by ${rise.toFixed(1)} after the warm-up, expected at most ${maxRiseMiB}`];
}

function toMiB(bytes: number): number {
  return Math.round((bytes / 1_048_576) * 10) / 10;
}
