import { loadavg } from "node:os";
import { launchChromium } from "../test/support/chromium.ts";
import { createRandom } from "../test/support/random.ts";
import { measureLatency, watchOrg, type LatencyFigures } from "./follow_latency.ts";
import { followThroughFaults, type RandomFigures } from "./follow_random.ts";
import { measureIdle, measureLarge, type IdleFigures, type LargeFigures } from "./follow_rest.ts";
import { startFollowStage, type FollowStage } from "./follow_stage.ts";
import { findMovingPairs } from "./moving_changes.ts";

export interface FollowFigures {
  readonly polled: LatencyFigures;
  readonly rung: LatencyFigures;
  readonly idle: IdleFigures;
  readonly faults: RandomFigures;
  readonly large: LargeFigures;
  readonly seed: number;
  /** The load average of the last minute, before and at the end. */
  readonly loads: readonly [number, number];
}

const intervalSeconds = 10;
/** Each with a page; 500 changes in the whole. */
const pages = 20;
const changesOfPage = 26;
const rungChangesOfPage = 10;

/** `scanstream follow` as it is published: from a change in the practice org to the page, and what must never be lost. */
export async function benchFollow(say: (line: string) => void): Promise<FollowFigures> {
  const [loadBefore = 0] = loadavg();
  const seed = Math.floor(Math.random() * 2 ** 31);
  const stage = await startFollowStage();
  try {
    const idle = measureIdle(stage, { polls: 360, intervalSeconds: 2 });
    idle.catch(() => undefined);
    const { polled, rung } = await measurePages(stage, seed);
    say(`change to page, ${intervalSeconds} s poll: ${latencyText(polled)}`);
    say(`with the doorbell: ${latencyText(rung)}`);
    const faults = await followThroughFaults(stage, { orgs: 10, changes: 200, seed });
    say(`faults: ${JSON.stringify(faults)}`);
    const large = await measureLarge(stage, { apps: 10_000, changes: 15, random: createRandom(seed) });
    say(`${large.apps} apps: peak memory ${large.peakMiB.toFixed(0)} MiB`);
    const idleFigures = await idle;
    say(`idle: ${JSON.stringify(idleFigures)}`);
    return { polled, rung, idle: idleFigures, faults, large, seed, loads: [loadBefore, loadavg()[0] ?? 0] };
  } finally {
    await stage.stop();
  }
}

async function measurePages(stage: FollowStage, seed: number) {
  const pairs = await findMovingPairs();
  const random = createRandom(seed);
  const browser = await launchChromium();
  try {
    const args = ["--interval", String(intervalSeconds)];
    const followed = await Promise.all(Array.from({ length: pages }, () => stage.follow({ args })));
    const orgs = await Promise.all(followed.map((one) => watchOrg(stage, browser, one)));
    // The pause is as long as the poll and the settling together, so that a change comes at any time between two polls.
    const polling = { pairs, changes: changesOfPage, pauseSeconds: [6, 16], rings: false, random } as const;
    const polled = await measureLatency(orgs, polling);
    const ringing = { pairs, changes: rungChangesOfPage, pauseSeconds: [5, 9], rings: true, random } as const;
    const rung = await measureLatency(orgs, ringing);
    await Promise.all(followed.map((one) => one.stop()));
    return { polled, rung };
  } finally {
    await browser.close();
  }
}

function latencyText(figures: LatencyFigures): string {
  const { changes, missing, medianSeconds, p99Seconds, maxSeconds, requests, fewestRequests } = figures;
  const seconds = [medianSeconds, p99Seconds, maxSeconds].map((value) => `${value.toFixed(2)} s`).join(", ");
  return `median, p99, most ${seconds} over ${changes} changes, ${missing} missing; requests ${requests} ÷ ${fewestRequests}`;
}
