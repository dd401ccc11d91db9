import type { GatewayProcess } from "./gateway_process.ts";

/** What one process of the gateway held at one moment. */
export interface Sample {
  readonly atSeconds: number;
  readonly rssMiB: number;
  readonly anonymousMiB: number;
  readonly heapUsedMiB: number;
  readonly heapTotalMiB: number;
  readonly externalMiB: number;
  readonly arrayBuffersMiB: number;
  /** The heap after a collection; null where none was asked for. */
  readonly liveMiB: number | null;
  readonly descriptors: number;
  readonly timers: number;
}

export interface SampleOptions {
  readonly atSeconds: number;
  /** Measured first as it is, then collected: what is resident is never that of a heap which was just cleaned for us. */
  readonly collect: boolean;
}

export async function takeSample(gateway: GatewayProcess, { atSeconds, collect }: SampleOptions): Promise<Sample> {
  const outside = await gateway.outside();
  const inside = await gateway.inside({ collect: false });
  const collected = collect ? await gateway.inside({ collect: true }) : null;
  return {
    atSeconds: Math.round(atSeconds * 10) / 10,
    rssMiB: toMiB(outside.rssBytes),
    anonymousMiB: toMiB(outside.anonymousBytes),
    heapUsedMiB: toMiB(inside.heapUsed),
    heapTotalMiB: toMiB(inside.heapTotal),
    externalMiB: toMiB(inside.external),
    arrayBuffersMiB: toMiB(inside.arrayBuffers),
    liveMiB: collected === null ? null : toMiB(collected.heapUsed),
    descriptors: outside.descriptors,
    timers: inside.timers,
  };
}

function toMiB(bytes: number): number {
  return Math.round((bytes / 1_048_576) * 10) / 10;
}
