import { setTimeout as pause } from "node:timers/promises";
import { settings } from "../practice_org/changes/org_changes.ts";
import { NotPossibleError } from "../practice_org/not_possible_error.ts";
import { createPracticeOrg } from "../practice_org/create_practice_org.ts";
import { launchChromium } from "../test/support/chromium.ts";
import { differences, freshVerdicts } from "../test/support/followed_state.ts";
import { createRandom } from "../test/support/random.ts";
import { measureLatency, watchOrg, type LatencyFigures } from "./follow_latency.ts";
import { startFollowStage } from "./follow_stage.ts";
import { saysWhatItUsed } from "./measured_command.ts";
import { text, type Table } from "./report.ts";

type Progress = (line: string) => void;

/** From a change in the practice org to the page, by `scanstream follow` as it is published: twenty orgs with a page each. */
export async function benchFollow(progress: Progress): Promise<Table> {
  const pairs = await movingPairs();
  const random = createRandom(Math.floor(Math.random() * 2 ** 31));
  const stage = await startFollowStage();
  const browser = await launchChromium();
  try {
    const starts = Array.from({ length: 20 }, () => stage.follow({ args: ["--interval", "10"] }));
    const orgs = await Promise.all((await Promise.all(starts)).map((followed) => watchOrg(stage, browser, followed)));
    // The pause is as long as the poll and the settling together, so that a change comes at any time between two polls.
    const polled = await measureLatency(orgs, { pairs, changes: 26, pauseSeconds: [6, 16], rings: false, random });
    progress(`${polled.changes} changes took ${polled.requests} requests`);
    const ringing = orgs.slice(0, 8);
    await Promise.all(orgs.slice(ringing.length).map((org) => org.leave()));
    const rung = await measureLatency(ringing, { pairs, changes: 26, pauseSeconds: [5, 8], rings: true, random });
    const row = (name: string, { changes, requests, missing, ...seconds }: LatencyFigures) => [
      name,
      String(changes),
      ...[seconds.medianSeconds, seconds.p99Seconds, seconds.maxSeconds].map(text.seconds),
      String(missing),
      String(requests),
    ];
    return {
      head: ["change → page", "changes", "median", "p99", "most", "missing", "requests"],
      rows: [row("10 s poll", polled), row("with the event hook", rung)],
    };
  } finally {
    await browser.close();
    await stage.stop();
  }
}

/** Changes that move a verdict of an org in which nothing else was changed, each with the one that takes it back. */
async function movingPairs(): Promise<readonly (readonly [away: string, back: string])[]> {
  const rateLimit = { perWindow: 1_000_000, buckets: {} };
  const org = await createPracticeOrg({ profile: { name: "compliant" }, role: "super", rateLimit });
  try {
    const pairs: (readonly [string, string])[] = [];
    const before = await freshVerdicts(org);
    for (const { changes } of settings) {
      const [away, back] = changes;
      try {
        org.change(away.name);
      } catch (error) {
        if (!(error instanceof NotPossibleError)) throw error;
        continue;
      }
      const between = await freshVerdicts(org);
      org.change(back.name);
      if (differences(before, between).length > 0) pairs.push([away.name, back.name]);
    }
    return pairs;
  } finally {
    await org.stop();
  }
}

/** The peak memory of a follower of a large org, over its start, changes and full scans. */
export async function benchFollowMemory(): Promise<Table> {
  const stage = await startFollowStage();
  try {
    const { org, follower, stop } = await stage.follow({
      org: { profile: { name: "large", appCount: 10_000 }, rateLimit: { perWindow: 100_000 } },
      args: ["--interval", "2", "--reconcile", "0.01"],
      nodeOptions: saysWhatItUsed,
    });
    const random = createRandom(1);
    for (let change = 0; change < 15; change += 1) {
      org.changeAtRandom(random);
      await pause(4000);
    }
    await stop();
    const peak = /peak memory (\d+) KiB/.exec(follower.said())?.[1];
    if (peak === undefined) throw new Error(`The follower did not say its peak memory:\n${follower.said()}`);
    return {
      head: ["a follower of 10,000 apps", "peak memory"],
      rows: [["15 changes, full scans every 36 s", text.mib(Number(peak) * 1024)]],
    };
  } finally {
    await stage.stop();
  }
}
