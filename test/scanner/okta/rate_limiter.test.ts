import { expect, test } from "vitest";
import type { Clock } from "../../../scanner/okta/clock.ts";
import type { RateLimitReading } from "../../../scanner/okta/rate_limit.ts";
import { EndpointExhausted, RateLimiter, type Permit } from "../../../scanner/okta/rate_limiter.ts";

const windowMs = 60_000;
/** Half of the longest delay after a window's end, as `random` is half. */
const marginMs = 125;

test("grants as many permits as may be in flight", async () => {
  const { limiter } = createLimiter({ concurrency: 3 });
  const requests = await acquireAll(limiter, "/api/v1/a", "/api/v1/b", "/api/v1/c", "/api/v1/d");
  expect(requests.map(({ permit }) => permit !== null)).toEqual([true, true, true, false]);
  await release(requests[0], "unlimited");
  expect(requests[3]?.permit).not.toBeNull();
});

test("probes an endpoint with one request, whose response says how many may follow", async () => {
  const { limiter, clock } = createLimiter();
  const requests = await acquireMany(limiter, 10, "/api/v1/apps");
  expect(granted(requests)).toBe(1);
  await release(requests[0], reading(clock, { limit: 5, remaining: 4 }));
  expect(granted(requests)).toBe(5);
});

test("a 429 that names no window is followed by another probe", async () => {
  const { limiter } = createLimiter();
  const requests = await acquireMany(limiter, 10, "/api/v1/apps");
  await release(requests[0], "refused");
  expect(granted(requests)).toBe(2);
});

test("an unresponsive endpoint is not probed one by one, until it responds", async () => {
  const { limiter, clock } = createLimiter({ concurrency: 4 });
  const requests = await acquireMany(limiter, 10, "/api/v1/apps");
  await release(requests[0], "no_response");
  expect(granted(requests)).toBe(5);
  await release(requests[1], reading(clock, { limit: 4, remaining: 3 }));
  expect(granted(requests)).toBe(5);
});

test("reserves for requests in flight before their responses arrive, in whatever order they do", async () => {
  const { limiter, clock } = createLimiter();
  const requests = await acquireMany(limiter, 10, "/api/v1/apps");
  await release(requests[0], reading(clock, { limit: 4, remaining: 3 }));
  expect(granted(requests)).toBe(4);
  await release(requests[3], reading(clock, { limit: 4, remaining: 0 }));
  await release(requests[1], reading(clock, { limit: 4, remaining: 2 }));
  expect(granted(requests)).toBe(4);
});

test("waits until a used-up window ends, and counts the time", async () => {
  const { limiter, clock } = createLimiter();
  const [first] = await acquireAll(limiter, "/api/v1/apps");
  await release(first, reading(clock, { limit: 1, remaining: 0 }));
  expect(limiter.throttledMs()).toBe(0);
  const next = await acquireAll(limiter, "/api/v1/apps");
  await clock.advance(windowMs + marginMs - 1);
  expect(granted(next)).toBe(0);
  await clock.advance(1);
  expect(granted(next)).toBe(1);
  expect(limiter.throttledMs()).toBe(windowMs + marginMs);
  expect(clock.timerCount()).toBe(0);
});

test("counts the time that several endpoints wait together once", async () => {
  const { limiter, clock } = createLimiter();
  const [apps, zones] = await acquireAll(limiter, "/api/v1/apps", "/api/v1/zones");
  await release(apps, reading(clock, { limit: 7, remaining: 0 }));
  await release(zones, reading(clock, { limit: 8, remaining: 0 }));
  const next = await acquireAll(limiter, "/api/v1/apps", "/api/v1/zones");
  await clock.advance(windowMs + marginMs);
  expect(granted(next)).toBe(2);
  expect(limiter.throttledMs()).toBe(windowMs + marginMs);
});

test("endpoints that name the same window share it", async () => {
  const { limiter, clock } = createLimiter();
  const [apps, zones] = await acquireAll(limiter, "/api/v1/apps", "/api/v1/zones");
  await release(apps, reading(clock, { limit: 3, remaining: 2 }));
  await release(zones, reading(clock, { limit: 3, remaining: 1 }));
  expect(granted(await acquireAll(limiter, "/api/v1/apps", "/api/v1/zones"))).toBe(1);
});

test("a family that shows more left than another saw before is separate from then on", async () => {
  const { limiter, clock } = createLimiter();
  const [apps] = await acquireAll(limiter, "/api/v1/apps");
  await release(apps, reading(clock, { limit: 10, remaining: 0 }));
  const [zones] = await acquireAll(limiter, "/api/v1/zones");
  await release(zones, reading(clock, { limit: 10, remaining: 9 }));
  expect(granted(await acquireMany(limiter, 12, "/api/v1/zones"))).toBe(9);
});

test("every window reserves for probes in flight, which may count in any", async () => {
  const { limiter, clock } = createLimiter();
  const [apps] = await acquireAll(limiter, "/api/v1/apps", "/api/v1/zones", "/api/v1/brands");
  await release(apps, reading(clock, { limit: 4, remaining: 3 }));
  expect(granted(await acquireMany(limiter, 5, "/api/v1/apps"))).toBe(1);
});

test("an endpoint whose limit is unknown counts in the window of its family", async () => {
  const { limiter, clock } = createLimiter();
  const [policies] = await acquireAll(limiter, "/api/v1/policies?type=PASSWORD");
  await release(policies, reading(clock, { limit: 3, remaining: 2 }));
  const rules = ["1", "2", "3"].map((id) => `/api/v1/policies/${id}/rules`);
  expect(granted(await acquireAll(limiter, ...rules))).toBe(2);
});

test("an endpoint with a limit of its own does not wait for the rest of its family", async () => {
  const { limiter, clock } = createLimiter();
  const [apps] = await acquireAll(limiter, "/api/v1/apps");
  await release(apps, reading(clock, { limit: 3, remaining: 2 }));
  const [one] = await acquireAll(limiter, "/api/v1/apps/1");
  await release(one, reading(clock, { limit: 50, remaining: 40 }));
  expect(granted(await acquireMany(limiter, 10, "/api/v1/apps/2"))).toBe(10);
});

test("only one request of a family probes", async () => {
  const { limiter } = createLimiter();
  const requests = await acquireAll(limiter, "/api/v1/policies", "/api/v1/policies/1/rules", "/api/v1/zones");
  expect(requests.map(({ permit }) => permit !== null)).toEqual([true, false, true]);
});

test("probes each new window with one request", async () => {
  const { limiter, clock } = createLimiter();
  const [first] = await acquireAll(limiter, "/api/v1/apps");
  await release(first, reading(clock, { limit: 100, remaining: 99 }));
  await clock.advance(windowMs + 1000);
  const requests = await acquireMany(limiter, 5, "/api/v1/apps");
  expect(granted(requests)).toBe(1);
  await release(requests[0], reading(clock, { limit: 100, remaining: 99 }));
  expect(granted(requests)).toBe(5);
});

test("ignores a response that was overtaken by one of the next window", async () => {
  const { limiter, clock } = createLimiter();
  const [first] = await acquireAll(limiter, "/api/v1/apps");
  const old = reading(clock, { limit: 5, remaining: 0 });
  await release(first, reading(clock, { limit: 5, remaining: 4 }));
  const [late, next] = await acquireAll(limiter, "/api/v1/apps", "/api/v1/apps");
  const newer = { remaining: 4, resetSeconds: old.resetSeconds + 60, resetAtMs: old.resetAtMs + windowMs };
  await release(next, { ...old, ...newer });
  await release(late, old);
  expect(granted(await acquireMany(limiter, 9, "/api/v1/apps"))).toBe(4);
});

test("a pause delays its own endpoint only", async () => {
  const { limiter, clock } = createLimiter();
  limiter.pause("/api/v1/apps", 3000);
  const [apps, zones] = await acquireAll(limiter, "/api/v1/apps", "/api/v1/zones");
  expect(zones?.permit).not.toBeNull();
  await clock.advance(2999);
  expect(apps?.permit).toBeNull();
  await clock.advance(1);
  expect(apps?.permit).not.toBeNull();
});

test("halves concurrency down to one", async () => {
  const { limiter } = createLimiter({ concurrency: 3 });
  limiter.halveConcurrency();
  limiter.halveConcurrency();
  expect(granted(await acquireAll(limiter, "/api/v1/a", "/api/v1/b"))).toBe(1);
});

test("rejectWaiting rejects the requests that wait for its own endpoint only", async () => {
  const { limiter } = createLimiter({ concurrency: 1 });
  const [, apps, zones] = await acquireAll(limiter, "/api/v1/a", "/api/v1/apps", "/api/v1/zones");
  limiter.rejectWaiting("/api/v1/apps");
  await settled();
  expect(apps?.problem).toBeInstanceOf(EndpointExhausted);
  expect(zones?.problem).toBeNull();
});

test("an abort rejects every waiting request with its reason, and cancels the timer", async () => {
  const stop = new AbortController();
  const { limiter, clock } = createLimiter({ signal: stop.signal });
  const [first] = await acquireAll(limiter, "/api/v1/apps");
  await release(first, reading(clock, { limit: 1, remaining: 0 }));
  const [waiting] = await acquireAll(limiter, "/api/v1/apps");
  expect(clock.timerCount()).toBe(1);
  stop.abort(new Error("interrupted"));
  await settled();
  expect(waiting?.problem).toBe(stop.signal.reason);
  expect(clock.timerCount()).toBe(0);
  expect(() => limiter.acquire("/api/v1/zones")).toThrow("interrupted");
});

function createLimiter(options: { readonly concurrency?: number; readonly signal?: AbortSignal } = {}) {
  const clock = createManualClock();
  const { concurrency = 50, signal = new AbortController().signal } = options;
  return { clock, limiter: new RateLimiter({ clock, signal, concurrency, onThrottled: () => undefined }) };
}

/** The present window of a provider whose windows are minutes. */
function reading(clock: Clock, counts: { readonly limit: number; readonly remaining: number }): RateLimitReading {
  const resetSeconds = Math.floor(clock.nowMs() / windowMs + 1) * (windowMs / 1000);
  return { ...counts, resetSeconds, resetAtMs: resetSeconds * 1000 };
}

interface PendingRequest {
  permit: Permit | null;
  problem: unknown;
}

async function acquireAll(limiter: RateLimiter, ...paths: readonly string[]): Promise<readonly PendingRequest[]> {
  const requests = paths.map((path) => {
    const request: PendingRequest = { permit: null, problem: null };
    limiter.acquire(path).then(
      (permit) => (request.permit = permit),
      (error: unknown) => (request.problem = error),
    );
    return request;
  });
  await settled();
  return requests;
}

function acquireMany(limiter: RateLimiter, count: number, path: string): Promise<readonly PendingRequest[]> {
  return acquireAll(limiter, ...Array<string>(count).fill(path));
}

async function release(request: PendingRequest | undefined, outcome: Parameters<Permit["release"]>[0]): Promise<void> {
  const permit = request?.permit ?? null;
  if (permit === null) throw new Error("It has no permit");
  permit.release(outcome);
  await settled();
}

function granted(requests: readonly PendingRequest[]): number {
  return requests.filter(({ permit }) => permit !== null).length;
}

/** Time that passes only by `advance`. */
function createManualClock() {
  let nowMs = 1_800_000_000_000;
  const timers = new Set<{ readonly atMs: number; readonly wake: () => void }>();
  return {
    nowMs: () => nowMs,
    random: () => 0.5,
    timerCount: () => timers.size,
    sleep: (ms: number, signal: AbortSignal) =>
      new Promise<void>((resolve, reject) => {
        const timer = { atMs: nowMs + ms, wake: resolve };
        timers.add(timer);
        signal.addEventListener("abort", () => {
          timers.delete(timer);
          reject(signal.reason);
        });
      }),
    async advance(ms: number) {
      nowMs += ms;
      for (const timer of timers) {
        if (timer.atMs > nowMs) continue;
        timers.delete(timer);
        timer.wake();
      }
      await settled();
    },
  };
}

/** Everything that is due has happened once the event loop turns. */
function settled(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}
