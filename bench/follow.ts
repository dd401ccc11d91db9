import { loadavg } from "node:os";
import { launchChromium } from "../test/support/chromium.ts";
import { createRandom } from "../test/support/random.ts";
import { measureLatency, watchOrg, type LatencyFigures } from "./follow_latency.ts";
import { measureIdle, measureLarge, type IdleFigures, type LargeFigures } from "./follow_rest.ts";
import { startFollowStage, type FollowStage } from "./follow_stage.ts";
import { findMovingPairs } from "./moving_changes.ts";

/** `scanstream follow` as it is published: from a change in the practice org to the page, and what it costs. */
export const followBenches: Readonly<Record<string, (say: (line: string) => void) => Promise<unknown>>> = {
  follow_pages: benchPages,
  follow_rest: benchRest,
};

export interface FollowRun {
  readonly seed: number;
  /** The load average of the last minute, before and at the end. */
  readonly loads: readonly [number, number];
}

export interface PageFigures extends FollowRun {
  readonly polled: LatencyFigures;
  readonly rung: LatencyFigures;
}

export interface RestFigures extends FollowRun {
  readonly idle: IdleFigures;
  readonly large: LargeFigures;
}

const intervalSeconds = 10;
/** Each with a page. */
const polledPages = 20;
const polledChanges = 26;
const rungPages = 8;
const rungChanges = 26;

function benchPages(say: (line: string) => void): Promise<PageFigures> {
  return onStage(async (stage, seed) => {
    const pairs = await findMovingPairs();
    const random = createRandom(seed);
    const browser = await launchChromium();
    try {
      const args = ["--interval", String(intervalSeconds)];
      const followed = await Promise.all(Array.from({ length: polledPages }, () => stage.follow({ args })));
      const orgs = await Promise.all(followed.map((one) => watchOrg(stage, browser, one)));
      // The pause is as long as the poll and the settling together, so that a change comes at any time between two polls.
      const polling = { pairs, changes: polledChanges, pauseSeconds: [6, 16], rings: false, random } as const;
      const polled = await measureLatency(orgs, polling);
      say(`change to page, ${intervalSeconds} s poll: ${latencyText(polled)}`);
      await Promise.all(orgs.slice(rungPages).map((org) => org.leave()));
      const ringing = { pairs, changes: rungChanges, pauseSeconds: [5, 8], rings: true, random } as const;
      const rung = await measureLatency(orgs.slice(0, rungPages), ringing);
      say(`with the doorbell: ${latencyText(rung)}`);
      return { polled, rung };
    } finally {
      await browser.close();
    }
  });
}

function latencyText(figures: LatencyFigures): string {
  const { changes, missing, medianSeconds, p99Seconds, maxSeconds, requests, fewestRequests } = figures;
  const seconds = [medianSeconds, p99Seconds, maxSeconds].map((value) => `${value.toFixed(2)} s`).join(", ");
  return `median, p99, most ${seconds} over ${changes} changes, ${missing} missing; requests ${requests} ÷ ${fewestRequests}`;
}

function benchRest(say: (line: string) => void): Promise<RestFigures> {
  return onStage(async (stage, seed) => {
    const [idle, large] = await Promise.all([
      measureIdle(stage, { polls: 360, intervalSeconds: 2 }),
      measureLarge(stage, { apps: 10_000, changes: 15, random: createRandom(seed) }),
    ]);
    say(`${large.apps} apps: peak memory ${large.peakMiB.toFixed(0)} MiB`);
    say(`at rest: ${idle.logPolls} polls, ${idle.otherRequests} other requests, ${idle.tokenRequests} for a token`);
    return { idle, large };
  });
}

async function onStage<Figures>(
  measure: (stage: FollowStage, seed: number) => Promise<Figures>,
): Promise<Figures & FollowRun> {
  const [loadBefore = 0] = loadavg();
  const seed = Math.floor(Math.random() * 2 ** 31);
  const stage = await startFollowStage();
  try {
    const figures = await measure(stage, seed);
    return { ...figures, seed, loads: [loadBefore, loadavg()[0] ?? 0] };
  } finally {
    await stage.stop();
  }
}
