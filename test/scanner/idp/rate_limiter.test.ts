import { expect, test } from "vitest";
import { RateLimiter, EndpointExhausted, type Permit } from "../../../scanner/idp/rate_limiter.ts";
import type { RateLimitReading } from "../../../scanner/idp/rate_limit.ts";
import { createFakeClock, type FakeClock } from "../../support/fake_clock.ts";

const windowMs = 60_000;

test("a pacer lets as many requests out at once as it may", async () => {
  const { pacer } = createPacer({ concurrency: 3 });
  const waiting = enterAll(
    pacer,
    ["a", "b", "c", "d"].map((name) => `/api/v1/${name}`),
  );
  await settled();
  expect(waiting.map(({ permit }) => permit !== null)).toEqual([true, true, true, false]);
  waiting[0]?.permit?.leave("no_limit");
  await settled();
  expect(waiting[3]?.permit).not.toBeNull();
});

test("the first request of an endpoint goes alone, and its answer says how many may follow", async () => {
  const { pacer, clock } = createPacer();
  const waiting = enterAll(pacer, Array<string>(10).fill("/api/v1/apps"));
  await settled();
  expect(inside(waiting)).toBe(1);
  waiting[0]?.permit?.leave(facts(clock, { limit: 5, remaining: 4 }));
  await settled();
  expect(inside(waiting)).toBe(5);
});

test("an endpoint without rate limit headers is bounded by concurrency only", async () => {
  const { pacer } = createPacer({ concurrency: 4 });
  const waiting = enterAll(pacer, Array<string>(10).fill("/api/v1/apps"));
  await settled();
  waiting[0]?.permit?.leave("no_limit");
  await settled();
  expect(inside(waiting)).toBe(5);
});

test("a refusal that names no window teaches nothing: the next one goes alone too", async () => {
  const { pacer } = createPacer();
  const waiting = enterAll(pacer, Array<string>(10).fill("/api/v1/apps"));
  await settled();
  waiting[0]?.permit?.leave("refused");
  await settled();
  expect(inside(waiting)).toBe(2);
});

test("after a request without an answer the others do not wait for each other's silence, until one is answered", async () => {
  const { pacer, clock } = createPacer({ concurrency: 4 });
  const waiting = enterAll(pacer, Array<string>(10).fill("/api/v1/apps"));
  await settled();
  waiting[0]?.permit?.leave("silence");
  await settled();
  expect(inside(waiting)).toBe(5);
  waiting[1]?.permit?.leave(facts(clock, { limit: 4, remaining: 3 }));
  await settled();
  expect(inside(waiting)).toBe(5);
});

test("requests under way are counted against what is left before their answers come", async () => {
  const { pacer, clock } = createPacer();
  const waiting = enterAll(pacer, Array<string>(10).fill("/api/v1/apps"));
  await settled();
  waiting[0]?.permit?.leave(facts(clock, { limit: 4, remaining: 3 }));
  await settled();
  expect(inside(waiting)).toBe(4);
  // Processed out of order: this answer was the last of the window, the two others are still to come.
  waiting[3]?.permit?.leave(facts(clock, { limit: 4, remaining: 0 }));
  waiting[1]?.permit?.leave(facts(clock, { limit: 4, remaining: 2 }));
  await Promise.resolve();
  expect(inside(waiting)).toBe(4);
});

test("a used-up window is waited out, and the time is told", async () => {
  const { pacer, clock } = createPacer();
  const [first] = enterAll(pacer, ["/api/v1/apps"]);
  await settled();
  const startMs = clock.nowMs();
  first?.permit?.leave(facts(clock, { limit: 1, remaining: 0 }));
  expect(pacer.throttledMs()).toBe(0);
  await pacer.enter("/api/v1/apps");
  const waitedMs = clock.nowMs() - startMs;
  expect(waitedMs).toBeGreaterThanOrEqual(windowMs);
  expect(waitedMs).toBeLessThan(windowMs * 1.01);
  expect(pacer.throttledMs()).toBe(waitedMs);
});

test("the time that several endpoints wait together is counted once", async () => {
  const { pacer, clock } = createPacer();
  const firsts = enterAll(pacer, ["/api/v1/apps", "/api/v1/zones"]);
  await settled();
  firsts[0]?.permit?.leave(facts(clock, { limit: 7, remaining: 0 }));
  firsts[1]?.permit?.leave(facts(clock, { limit: 8, remaining: 0 }));
  await Promise.all([pacer.enter("/api/v1/apps"), pacer.enter("/api/v1/zones")]);
  expect(pacer.throttledMs()).toBeLessThan(windowMs * 1.01);
});

test("endpoints that name the same window are counted together", async () => {
  const { pacer, clock } = createPacer();
  const firsts = enterAll(pacer, ["/api/v1/apps", "/api/v1/zones"]);
  await settled();
  firsts[0]?.permit?.leave(facts(clock, { limit: 3, remaining: 2 }));
  firsts[1]?.permit?.leave(facts(clock, { limit: 3, remaining: 1 }));
  const more = enterAll(pacer, ["/api/v1/apps", "/api/v1/zones"]);
  await Promise.resolve();
  expect(inside(more)).toBe(1);
});

test("an endpoint that shows more left than another saw before it is counted apart from then on", async () => {
  const { pacer, clock } = createPacer();
  const [apps] = enterAll(pacer, ["/api/v1/apps"]);
  await settled();
  apps?.permit?.leave(facts(clock, { limit: 10, remaining: 0 }));
  const [zones] = enterAll(pacer, ["/api/v1/zones"]);
  await settled();
  zones?.permit?.leave(facts(clock, { limit: 10, remaining: 9 }));
  const more = enterAll(pacer, Array<string>(12).fill("/api/v1/zones"));
  await Promise.resolve();
  expect(inside(more)).toBe(9);
});

test("requests about whose window nothing is known yet may count in any, so they are reserved for", async () => {
  const { pacer, clock } = createPacer();
  const firsts = enterAll(pacer, ["/api/v1/apps", "/api/v1/zones", "/api/v1/brands"]);
  await settled();
  firsts[0]?.permit?.leave(facts(clock, { limit: 4, remaining: 3 }));
  const more = enterAll(pacer, Array<string>(5).fill("/api/v1/apps"));
  await settled();
  expect(inside(more)).toBe(1);
});

test("an endpoint that has not told its limit yet counts in the window of its family", async () => {
  const { pacer, clock } = createPacer();
  const [policies] = enterAll(pacer, ["/api/v1/policies?type=PASSWORD"]);
  await settled();
  policies?.permit?.leave(facts(clock, { limit: 3, remaining: 2 }));
  const rules = enterAll(
    pacer,
    ["1", "2", "3"].map((id) => `/api/v1/policies/${id}/rules`),
  );
  await Promise.resolve();
  expect(inside(rules)).toBe(2);
});

test("an endpoint with a limit of its own does not wait for the rest of its family", async () => {
  const { pacer, clock } = createPacer();
  const [apps] = enterAll(pacer, ["/api/v1/apps"]);
  await settled();
  apps?.permit?.leave(facts(clock, { limit: 3, remaining: 2 }));
  const [one] = enterAll(pacer, ["/api/v1/apps/1"]);
  await settled();
  one?.permit?.leave(facts(clock, { limit: 50, remaining: 40 }));
  const more = enterAll(pacer, Array<string>(10).fill("/api/v1/apps/2"));
  await Promise.resolve();
  expect(inside(more)).toBe(10);
});

test("only one request of a family asks for its new window", async () => {
  const { pacer } = createPacer();
  const waiting = enterAll(pacer, ["/api/v1/policies", "/api/v1/policies/1/rules", "/api/v1/zones"]);
  await settled();
  expect(waiting.map(({ permit }) => permit !== null)).toEqual([true, false, true]);
});

test("a new window is asked first by one request", async () => {
  const { pacer, clock } = createPacer();
  const [first] = enterAll(pacer, ["/api/v1/apps"]);
  await settled();
  first?.permit?.leave(facts(clock, { limit: 100, remaining: 99 }));
  clock.advance(windowMs + 1000);
  const waiting = enterAll(pacer, Array<string>(5).fill("/api/v1/apps"));
  await settled();
  expect(inside(waiting)).toBe(1);
  waiting[0]?.permit?.leave(facts(clock, { limit: 100, remaining: 99 }));
  await settled();
  expect(inside(waiting)).toBe(5);
});

test("an answer that was overtaken by the next window's does not bring the old window back", async () => {
  const { pacer, clock } = createPacer();
  const [first] = enterAll(pacer, ["/api/v1/apps"]);
  await settled();
  const old = facts(clock, { limit: 5, remaining: 0 });
  first?.permit?.leave(facts(clock, { limit: 5, remaining: 4 }));
  const [late] = enterAll(pacer, ["/api/v1/apps"]);
  await settled();
  const newer = { ...old, remaining: 4, resetSeconds: old.resetSeconds + 60, resetAtMs: old.resetAtMs + windowMs };
  const [next] = enterAll(pacer, ["/api/v1/apps"]);
  await settled();
  next?.permit?.leave(newer);
  late?.permit?.leave(old);
  const more = enterAll(pacer, Array<string>(9).fill("/api/v1/apps"));
  await Promise.resolve();
  expect(inside(more)).toBe(4);
});

test("an endpoint that is held back waits that long, the others do not", async () => {
  const { pacer, clock } = createPacer();
  pacer.holdBack("/api/v1/apps", 3000);
  const startMs = clock.nowMs();
  await pacer.enter("/api/v1/zones");
  expect(clock.nowMs()).toBe(startMs);
  await pacer.enter("/api/v1/apps");
  expect(clock.nowMs() - startMs).toBe(3000);
});

test("concurrency is halved down to one", async () => {
  const { pacer } = createPacer({ concurrency: 3 });
  pacer.halveConcurrency();
  pacer.halveConcurrency();
  const waiting = enterAll(pacer, ["/api/v1/a", "/api/v1/b"]);
  await settled();
  expect(inside(waiting)).toBe(1);
});

test("turning an endpoint away ends the waiting for it only", async () => {
  const { pacer } = createPacer({ concurrency: 1 });
  await pacer.enter("/api/v1/a");
  const apps = pacer.enter("/api/v1/apps");
  const zones = enterAll(pacer, ["/api/v1/zones"]);
  pacer.rejectWaiting("/api/v1/apps");
  await expect(apps).rejects.toBeInstanceOf(EndpointExhausted);
  expect(zones[0]?.problem).toBeNull();
});

test("an abort ends every wait with its reason, also the one for a window", async () => {
  const stop = new AbortController();
  const { pacer, clock } = createPacer({ signal: stop.signal });
  const [first] = enterAll(pacer, ["/api/v1/apps"]);
  await settled();
  first?.permit?.leave(facts(clock, { limit: 1, remaining: 0 }));
  const waiting = pacer.enter("/api/v1/apps");
  stop.abort(new Error("interrupted"));
  await expect(waiting).rejects.toThrow("interrupted");
  expect(() => pacer.enter("/api/v1/zones")).toThrow("interrupted");
});

test("a permit that is given back twice counts once", async () => {
  const { pacer } = createPacer({ concurrency: 1 });
  const permit = await pacer.enter("/api/v1/a");
  permit.leave("no_limit");
  permit.leave("no_limit");
  const waiting = enterAll(pacer, ["/api/v1/a", "/api/v1/a"]);
  await settled();
  expect(inside(waiting)).toBe(1);
});

function createPacer(options: { readonly concurrency?: number; readonly signal?: AbortSignal } = {}) {
  const clock = createFakeClock(1_800_000_000_000);
  const { concurrency = 50, signal = new AbortController().signal } = options;
  return { clock, pacer: new RateLimiter({ clock, signal, concurrency }) };
}

function facts(
  clock: FakeClock,
  { limit, remaining }: { readonly limit: number; readonly remaining: number },
): RateLimitReading {
  const resetSeconds = Math.floor(clock.nowMs() / windowMs + 1) * (windowMs / 1000);
  return { limit, remaining, resetSeconds, resetAtMs: resetSeconds * 1000 };
}

interface Waiting {
  permit: Permit | null;
  problem: unknown;
}

function enterAll(pacer: RateLimiter, paths: readonly string[]): readonly Waiting[] {
  return paths.map((path) => {
    const entry: Waiting = { permit: null, problem: null };
    pacer.enter(path).then(
      (permit) => {
        entry.permit = permit;
      },
      (error: unknown) => {
        entry.problem = error;
      },
    );
    return entry;
  });
}

function inside(waiting: readonly Waiting[]): number {
  return waiting.filter(({ permit }) => permit !== null).length;
}

/** What was let out is let out by a promise; the fake clock moves only in a later turn. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await Promise.resolve();
}
