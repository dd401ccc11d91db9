import type { Fault } from "../../practice_org/api/faults.ts";
import type { PracticeOrg } from "../../practice_org/create_practice_org.ts";
import { differences, chainProblems, followedVerdicts, freshVerdicts } from "./followed_state.ts";
import type { FollowProcess } from "./follow_process.ts";

const log = "/api/v1/logs";

/** One thing that goes wrong for a while. */
type Mishap = readonly Fault[];

/** The log stays readable, or is so again at the next poll. */
export const passingMishaps: readonly Mishap[] = [
  [{ name: "rate-limit", times: 3 }],
  [{ name: "rate-limit", path: log, times: 2 }],
  [{ name: "reset", path: log, times: 1 }],
  [{ name: "cut-connection", path: log, times: 1 }],
  [{ name: "server-error", path: log, times: 1 }],
  [{ name: "html", path: log, times: 1 }],
  [{ name: "empty-log-page", path: log, times: 2 }],
  [{ name: "doubled-log-page", path: log, times: 3 }],
  [{ name: "repeated-cursor", path: log, times: 2 }],
  [{ name: "next-link-elsewhere", path: log, times: 2 }],
  [{ name: "log-cursor-lost", path: log, times: 1 }],
  [{ name: "duplicate-events", times: 3 }],
  [{ name: "unknown-event-type", times: 1 }],
  [{ name: "event-without-target", times: 1 }],
];

export interface RandomFollowOptions {
  readonly org: PracticeOrg;
  readonly follower: FollowProcess;
  readonly changes: number;
  /** After how many changes the process ends, by `kill -9` two times of three. */
  readonly endsAfter: number;
  readonly mishaps: readonly Mishap[];
  /** Between two changes, at the most. */
  readonly pauseMs: number;
  /** From 0 to below 1. */
  readonly random: () => number;
}

export interface RandomFollowOutcome {
  readonly kills: number;
  readonly restarts: number;
  readonly mishaps: number;
  /** Lines of verdicts that moved. */
  readonly lines: number;
  readonly unexplained: number;
  /** Where the followed state is not that of a fresh scan, and where a difference is not in the changes. */
  readonly problems: readonly string[];
}

const catchUpMs = 150_000;

/** Makes random changes while things go wrong and the process is ended; then compares what was followed with a fresh scan. */
export async function followAtRandom(options: RandomFollowOptions): Promise<RandomFollowOutcome> {
  const { org, follower, changes, endsAfter, mishaps, pauseMs, random } = options;
  let [kills, restarts, mishapCount, faultyUntil] = [0, 0, 0, 0];
  for (let change = 1; change <= changes; change++) {
    if (change === faultyUntil) org.setFaults([]);
    if (change >= faultyUntil && random() < 0.2) {
      org.setFaults(mishaps[Math.floor(random() * mishaps.length)] ?? []);
      mishapCount++;
      faultyUntil = change + 1 + Math.floor(random() * 4);
    }
    org.changeAtRandom(random);
    await pause(random() * pauseMs);
    if (change % endsAfter !== 0) continue;
    const isKill = random() < 2 / 3;
    if (isKill) kills++;
    else restarts++;
    await follower.end(isKill ? "SIGKILL" : "SIGTERM");
    follower.start();
  }
  org.setFaults([]);
  const lines = await caughtUp(org, follower);
  const moved = lines.filter(({ cause }) => cause !== "start");
  const left = differences(followedVerdicts(lines), await freshVerdicts(org));
  return {
    kills,
    restarts,
    mishaps: mishapCount,
    lines: moved.length,
    unexplained: moved.filter(({ explained_by: events }) => events.length === 0).length,
    problems: [...left, ...chainProblems(lines)],
  };
}

/** What is late in the log, and what could not be collected, comes within a minute. */
async function caughtUp(org: PracticeOrg, follower: FollowProcess) {
  const fresh = await freshVerdicts(org);
  const waited = pause(catchUpMs);
  await Promise.race([waited, follower.until((lines) => differences(followedVerdicts(lines), fresh).length === 0)]);
  return follower.lines();
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref());
}
