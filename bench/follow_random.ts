import { setTimeout as pause } from "node:timers/promises";
import { createRandom } from "../test/support/random.ts";
import {
  blindingMishaps,
  followAtRandom,
  passingMishaps,
  slowMishaps,
  type RandomFollowOutcome,
} from "../test/support/random_follow.ts";
import { startTcpProxy, type TcpProxy } from "../test/support/tcp_proxy.ts";
import type { FollowedOrg, FollowStage } from "./follow_stage.ts";

export interface RandomFigures extends Omit<RandomFollowOutcome, "problems"> {
  readonly orgs: number;
  readonly changes: number;
  /** Of the gateway, for all followers. */
  readonly outages: number;
  /** Lines that a follower wrote and the gateway does not have, or the other way round. */
  readonly notAtGateway: number;
  readonly problems: readonly string[];
}

export interface RandomOptions {
  readonly orgs: number;
  /** Of each org. */
  readonly changes: number;
  readonly seed: number;
}

const outageMs = 15_000;
const betweenOutagesMs = 45_000;

/** Random changes of many orgs side by side, with faults of the provider, outages of the gateway, restarts and kills. */
export async function followThroughFaults(stage: FollowStage, options: RandomOptions): Promise<RandomFigures> {
  const { port } = new URL(stage.gatewayUrl);
  const network = await startTcpProxy({ host: "127.0.0.1", port: Number(port) });
  const over = new AbortController();
  const outages = breakNetwork(network, over.signal);
  try {
    const outcomes = await Promise.all(
      Array.from({ length: options.orgs }, (_org, index) =>
        followOne(stage, { ...options, index, port: network.port }),
      ),
    );
    over.abort();
    const sum = (of: (outcome: (typeof outcomes)[number]) => number) =>
      outcomes.reduce((total, outcome) => total + of(outcome), 0);
    return {
      orgs: options.orgs,
      changes: options.orgs * options.changes,
      kills: sum(({ kills }) => kills),
      restarts: sum(({ restarts }) => restarts),
      mishaps: sum(({ mishaps }) => mishaps),
      outages: await outages,
      lines: sum(({ lines }) => lines),
      unexplained: sum(({ unexplained }) => unexplained),
      notAtGateway: sum(({ notAtGateway }) => notAtGateway),
      problems: outcomes.flatMap(({ problems }) => problems),
    };
  } finally {
    over.abort();
    await outages;
    await network.close();
  }
}

async function followOne(
  stage: FollowStage,
  { changes, seed, index, port }: RandomOptions & { readonly index: number; readonly port: number },
): Promise<RandomFollowOutcome & { readonly notAtGateway: number }> {
  // What the log does not say is found by a full scan only: half of the followers make one every minute.
  const isBlinded = index % 2 === 1;
  const followed = await stage.follow({
    org: { profile: { name: "typical" } },
    args: ["--interval", "2", ...(isBlinded ? ["--reconcile", "0.017"] : [])],
    gatewayUrl: `http://127.0.0.1:${port}`,
  });
  const mishaps = [...passingMishaps, ...slowMishaps, ...(isBlinded ? blindingMishaps : [])];
  const random = createRandom(seed + index);
  const { org, follower } = followed;
  const outcome = await followAtRandom({ org, follower, changes, endsAfter: 20, mishaps, pauseMs: 2000, random });
  const notAtGateway = await untilStored(stage, followed);
  await followed.stop();
  const said = outcome.problems.length > 0 ? [`org ${index} of seed ${seed}: ${follower.said()}`] : [];
  return { ...outcome, notAtGateway, problems: [...outcome.problems, ...said] };
}

const storedWithinMs = 60_000;

/** How many lines are only at one of the two, once the gateway could be reached for a while. */
async function untilStored(stage: FollowStage, { follower, monitorId }: FollowedOrg): Promise<number> {
  const startedMs = performance.now();
  for (;;) {
    const stored = new Set(await storedIds(stage, monitorId));
    const lines = new Set(follower.lines().map(({ id }) => id));
    const size = lines.size + stored.size - 2 * [...lines].filter((id) => stored.has(id)).length;
    if (size === 0 || performance.now() - startedMs > storedWithinMs) return size;
    await pause(1000);
  }
}

async function storedIds(stage: FollowStage, monitorId: string): Promise<readonly string[]> {
  const ids: string[] = [];
  for (let cursor: string | null = ""; cursor !== null;) {
    const query: string = cursor === "" ? "" : `&cursor=${encodeURIComponent(cursor)}`;
    const answer = await stage.request(`/api/v1/monitors/${monitorId}/changes?limit=200${query}`);
    const page = (await answer.json()) as {
      readonly items: readonly { id: string }[];
      readonly next_cursor: string | null;
    };
    ids.push(...page.items.map(({ id }) => id));
    cursor = page.next_cursor;
  }
  return ids;
}

/** Resolves with the number of outages, the network restored. */
async function breakNetwork(network: TcpProxy, signal: AbortSignal): Promise<number> {
  let count = 0;
  try {
    for (;;) {
      await pause(betweenOutagesMs, null, { signal });
      count += 1;
      network.refuse();
      await pause(outageMs, null, { signal });
      network.restore();
    }
  } catch (error) {
    if (!signal.aborted) throw error;
    return count;
  } finally {
    network.restore();
  }
}
