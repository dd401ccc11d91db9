import { setTimeout as pause } from "node:timers/promises";
import type { FollowStage } from "./follow_stage.ts";
import { saysWhatItUsed } from "./measured_command.ts";

export interface IdleFigures {
  readonly seconds: number;
  readonly intervalSeconds: number;
  readonly logPolls: number;
  readonly tokenRequests: number;
  /** To the provider. */
  readonly otherRequests: number;
}

/** Follows an org in which nothing happens, for as many polls as an hour has at the default interval. */
export async function measureIdle(
  stage: FollowStage,
  { polls, intervalSeconds }: { readonly polls: number; readonly intervalSeconds: number },
): Promise<IdleFigures> {
  const followed = await stage.follow({ args: ["--interval", String(intervalSeconds)] });
  const { org } = followed;
  // The first polls may still belong to the start.
  await pause(10_000);
  const before = org.requests.length;
  await pause(polls * intervalSeconds * 1000);
  const paths = org.requests.slice(before).map(({ path }) => path);
  await followed.stop();
  const logPolls = paths.filter((path) => path.startsWith("/api/v1/logs?")).length;
  const tokenRequests = paths.filter((path) => path.startsWith("/oauth2/")).length;
  return {
    seconds: polls * intervalSeconds,
    intervalSeconds,
    logPolls,
    tokenRequests,
    otherRequests: paths.length - logPolls - tokenRequests,
  };
}

export interface LargeFigures {
  readonly apps: number;
  readonly changes: number;
  /** Lines of verdicts that moved. */
  readonly lines: number;
  readonly fullScans: number;
  readonly peakMiB: number;
}

/** The peak memory of a follower of a large org, over its start, changes and full scans. */
export async function measureLarge(
  stage: FollowStage,
  { apps, changes, random }: { readonly apps: number; readonly changes: number; readonly random: () => number },
): Promise<LargeFigures> {
  const followed = await stage.follow({
    org: { profile: { name: "large", appCount: apps }, rateLimit: { perWindow: 100_000 } },
    args: ["--interval", "2", "--reconcile", "0.01"],
    nodeOptions: saysWhatItUsed,
  });
  const { org, follower } = followed;
  for (let change = 0; change < changes; change += 1) {
    org.changeAtRandom(random);
    await pause(4000);
  }
  const pages = org.requests.filter(({ path }) => path.startsWith("/api/v1/zones"));
  await followed.stop();
  const peak = /peak memory (\d+) KiB/.exec(follower.said())?.[1];
  if (peak === undefined) throw new Error(`The follower did not say its peak memory:\n${follower.said()}`);
  return {
    apps,
    changes,
    lines: follower.lines().filter(({ cause }) => cause !== "start").length,
    fullScans: pages.length,
    peakMiB: Number(peak) / 1024,
  };
}
