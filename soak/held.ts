import { courseAfterWarmUp, type Point } from "./plateau.ts";
import { takeSample, type Sample } from "./samples.ts";
import { pause, type Work } from "./work.ts";

/** What the gateway's process holds without clients. */
export interface Held {
  readonly descriptors: number;
  readonly timers: number;
  /** By the gateway's own count. */
  readonly streams: number;
  /** Streams that were opened, less those that ended. */
  readonly unended: number;
  /** Channels at Redis with subscribers. */
  readonly subscriptions: number;
  readonly liveMiB: number;
  readonly rssMiB: number;
}

export async function measureHeld({ life, surroundings }: Work): Promise<Held> {
  const gateway = await life.gateway;
  const sample = await takeSample(gateway, { atSeconds: 0, collect: true });
  const [streams, opened, ended, { channels }] = await Promise.all([
    gateway.metric("scanstream_streams_open"),
    gateway.metric("scanstream_streams_opened_total"),
    gateway.metric("scanstream_streams_closed_total"),
    surroundings.subscriptions(),
  ]);
  return {
    descriptors: sample.descriptors,
    timers: sample.timers,
    streams,
    unended: opened - ended,
    subscriptions: channels,
    liveMiB: sample.liveMiB ?? 0,
    rssMiB: sample.rssMiB,
  };
}

/** The pool's idle connections to the database are closed after 30 s, the last subscriptions after 5 s. */
const settleMs = 45_000;

/** Waits until as little is held as before, or as little as there will be. */
export async function settle(work: Work, before: Held): Promise<Held> {
  const untilMs = Date.now() + settleMs;
  for (;;) {
    const held = await measureHeld(work);
    if (whatStayed(before, held).length === 0 || Date.now() > untilMs) return held;
    await pause(500);
  }
}

/** A kept-alive connection of the pool, of a client or to the issuer, each with its timer, is no leak. */
const descriptorSlack = 16;
const timerSlack = 16;
/** Code that was compiled, and the caches of tokens and queries that were filled; a leak is found by its rise. */
const heapSlackMiB = 24;

export function whatStayed(before: Held, after: Held): readonly string[] {
  const stayed = (name: keyof Held, slack: number) =>
    after[name] > before[name] + slack ? [`${name}: ${after[name]}, and ${before[name]} before`] : [];
  const left = (name: keyof Held) => (after[name] === 0 ? [] : [`${name}: ${after[name]} after every client had left`]);
  return [
    ...left("streams"),
    ...left("unended"),
    ...left("subscriptions"),
    ...stayed("descriptors", descriptorSlack),
    ...stayed("timers", timerSlack),
    ...stayed("liveMiB", heapSlackMiB),
  ];
}

/** One process of the gateway, from its start to its end. */
export interface LifeFigures {
  readonly samples: readonly Sample[];
}

/** A life that is shorter is nothing but warm-up. */
const minLifeSeconds = 100;
/** A bound on the rise in all, not by the hour: the longer the soak, the slower the leak that it finds. */
const maxRisesMiB = { liveMiB: 6, externalMiB: 8, rssMiB: 24 } as const;

/** What rises steadily through the whole life after its warm-up, by more than its bound. */
export function whatStillRises({ samples }: LifeFigures): readonly string[] {
  if ((samples.at(-1)?.atSeconds ?? 0) < minLifeSeconds) return [];
  return (["liveMiB", "externalMiB", "rssMiB"] as const).flatMap((name) => {
    const course = courseAfterWarmUp(pointsOf(samples, name));
    if (course === null || course.steadyRise <= maxRisesMiB[name]) return [];
    const { from, to, steadyRise } = course;
    return [
      `${name}: still rises after the warm-up, from ${from.toFixed(1)} to ${to.toFixed(1)}: ` +
        `${steadyRise.toFixed(1)} steadily, and at most ${maxRisesMiB[name]} are allowed`,
    ];
  });
}

export function pointsOf(samples: readonly Sample[], name: keyof Sample): readonly Point[] {
  return samples.flatMap((sample) => {
    const value = sample[name];
    return value === null ? [] : [{ atSeconds: sample.atSeconds, value }];
  });
}
