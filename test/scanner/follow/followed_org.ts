import { parseFailOn } from "../../../scanner/decisions/fail_on.ts";
import type { PracticeOrgOptions } from "../../../practice_org/create_practice_org.ts";
import { selectChecks } from "../../../scanner/catalog/select_checks.ts";
import { defaultScopes } from "../../../scanner/settings/values.ts";
import type { ChangeLine } from "../../../scanner/follow/changes.ts";
import { follow } from "../../../scanner/follow/follower.ts";
import type { FollowParts, FollowPlan } from "../../../scanner/follow/follow_plan.ts";
import { systemClock, type Clock } from "../../../scanner/okta/clock.ts";
import { connect } from "../../../scanner/okta/connection.ts";
import type { MonitorUpdate } from "../../../shared/schemas/monitor.ts";
import { startOrg } from "../../practice_org/start_org.ts";
import { cleanUp, ownFolder } from "../../support/clean_up.ts";
import { configFor } from "../../support/idp_connection.ts";

/** A clock that stands still while the follower works, and shows when it waits. */
function createSteppedClock() {
  let nowMs = Date.now();
  const waiting = new Set<{ readonly atMs: number; readonly wake: () => void }>();
  let onWait: (() => void)[] = [];
  const clock: Clock = {
    nowMs: () => nowMs,
    random: () => 0.5,
    sleep(ms, signal) {
      if (signal.aborted) return Promise.reject(signal.reason);
      return new Promise((resolve, reject) => {
        const entry = { atMs: nowMs + ms, wake: resolve };
        waiting.add(entry);
        signal.addEventListener("abort", () => (waiting.delete(entry), reject(signal.reason)), { once: true });
        for (const wake of onWait.splice(0)) wake();
      });
    },
  };
  return {
    clock,
    waits: () => new Promise<void>((resolve) => (waiting.size > 0 ? resolve() : void onWait.push(resolve))),
    advance(ms: number) {
      nowMs += ms;
      for (const entry of waiting) if (entry.atMs <= nowMs && waiting.delete(entry)) entry.wake();
    },
    /** Another time of day: timers do not go by it. */
    jump(ms: number) {
      nowMs += ms;
      for (const entry of waiting) if (waiting.delete(entry)) entry.wake();
    },
    reset() {
      onWait = [];
      waiting.clear();
    },
  };
}

/** An org with a follower that waits for its next look at it. */
export async function startFollower(options: FollowerOptions = {}, orgOptions: Partial<PracticeOrgOptions> = {}) {
  const set = await setUpOrg(orgOptions);
  return { ...set, follower: await set.started(options) };
}

type FollowerOptions = Partial<FollowPlan & Pick<FollowParts, "decisions" | "unfiled">> & {
  readonly isGatewayDown?: boolean;
  readonly isRestored?: boolean;
  readonly registeredAs?: string | null;
};

export async function setUpOrg(options: Partial<PracticeOrgOptions> = {}) {
  const rateLimit = { perWindow: 100_000, buckets: { logs: 100_000 } };
  const org = await startOrg({ profile: { name: "compliant" }, rateLimit, dpop: "off", ...options });
  const directory = await ownFolder();
  const time = createSteppedClock();
  return { org, directory, time, start, started };

  /** A follower that waits for its next look. */
  async function started(followerOptions: FollowerOptions = {}) {
    const follower = start(followerOptions);
    await follower.settled();
    return follower;
  }

  /** A follower of the org, stopped with the test; a second one goes on from the state of the first. */
  function start({
    decisions = { refresh: async () => false, apply: (results) => results },
    isGatewayDown = false,
    isRestored = false,
    registeredAs = null,
    unfiled = () => [],
    ...overrides
  }: FollowerOptions = {}) {
    const stop = new AbortController();
    const lines: ChangeLine[] = [];
    const said: string[] = [];
    const looks: MonitorUpdate[] = [];
    const calls: string[] = [];
    const linesBeforeState: number[] = [];
    let register = (_lastLookAt: string | null) => {};
    const openMonitor: FollowParts["openMonitor"] = ({ monitorId, onRegistered, changes }) => {
      calls.push(`started ${monitorId}`);
      const id = registeredAs ?? monitorId;
      // As after the gateway's answer, which takes a turn or more.
      const facts = { id, channel: "", last_change_at: isRestored ? null : "9", started_at: "" };
      register = (last_look_at) => onRegistered({ ...facts, last_look_at });
      queueMicrotask(() => register(registeredAs === null ? "2026-11-22" : null));
      return {
        polled: (look) => void looks.push(look),
        changed() {
          const found = changes.first(1000);
          calls.push(`changed ${found.length}`);
          if (!isGatewayDown) changes.acknowledge(found);
        },
        end: async (reason) => void calls.push(reason === null ? "stopped" : `ended ${reason}`),
      };
    };
    const scopes = [...defaultScopes, "logs.read"];
    const config = configFor({ url: org.url, clientId: org.clientId, privateKey: org.privateKeyPem }, { scopes });
    const following = follow(
      {
        orgUrl: org.url,
        clientId: org.clientId,
        checks: selectChecks(),
        benchmark: "okta-idaas-stig-v1r2",
        orgPolicy: { current: () => null, async refresh() {} },
        intervalMs: 2000,
        reconcileMs: 3_600_000,
        once: false,
        untilClean: false,
        failOn: parseFailOn("never"),
        withAddresses: false,
        directory,
        ...overrides,
        signal: stop.signal,
      },
      {
        connect: (given) => connect(config, { ...given, clock: { ...systemClock, nowMs: time.clock.nowMs } }),
        clock: time.clock,
        newId: () => crypto.randomUUID(),
        decisions,
        write: (written) => void lines.push(...written.filter((line) => line.schema === "scanstream.change/1")),
        unfiled,
        writeState: () => void linesBeforeState.push(lines.length),
        say: (text) => void said.push(text),
        openMonitor,
      },
    );
    const finished = following.then(({ end }) => end);
    const ended = finished.then(
      () => undefined,
      () => undefined,
    );
    cleanUp(stopped);
    return {
      lines,
      said,
      looks,
      calls,
      /** How many lines were written before the state with which a new file begins. */
      linesBeforeState,
      /** As when the gateway has lost what it had. */
      restored: () => register(null),
      finished,
      /** Until the follower waits for its next look, or has ended. */
      settled: () => Promise.race([time.waits(), ended]),
      /** Its next looks, over that time, and only the lines of them. */
      async after(ms = 2000) {
        await Promise.race([time.waits(), ended]);
        lines.length = 0;
        const before = org.requests.length;
        time.advance(ms);
        await Promise.race([time.waits(), ended]);
        return { lines: [...lines], requests: org.requests.slice(before).map(({ path }) => path) };
      },
      stop: stopped,
    };

    async function stopped() {
      await Promise.race([time.waits(), ended]);
      stop.abort();
      time.reset();
      return finished;
    }
  }
}
