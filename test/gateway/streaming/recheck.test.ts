import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { AuthorityCheck, AuthoritySubject } from "../../../gateway/auth/membership.ts";
import { Recheck, type RecheckOptions } from "../../../gateway/streaming/recheck.ts";
import { Sweep } from "../../../gateway/streaming/sweep.ts";
import { noStreamMetrics } from "../../../gateway/observability/stream_metrics.ts";
import type { TenantStreams } from "../../../gateway/streaming/tenant_streams.ts";

beforeEach(() => void vi.useFakeTimers({ now: 1_000_000 }));
afterEach(() => void vi.useRealTimers());

const recheckMs = 30_000;
const sweepMs = 1000;

interface FakeStream {
  readonly principal: AuthoritySubject;
  checkedMs: number;
  readonly closed: { readonly reason: string; readonly atMs: number }[];
}

function createStream(id: string, kind: "user" | "api_key" = "user"): FakeStream {
  const closed: FakeStream["closed"] = [];
  return { principal: { kind, id }, checkedMs: Date.now(), closed };
}

/** A tenant whose streams leave it when they are closed, as open streams do. */
function createTenant(streams: readonly FakeStream[]): TenantStreams & { add(stream: FakeStream): void } {
  const set = new Set<FakeStream>();
  const close = (stream: FakeStream, reason: string) => {
    if (!set.has(stream)) return;
    stream.closed.push({ reason, atMs: Date.now() });
    set.delete(stream);
  };
  const tenant = {
    id: "tenant",
    streams: set,
    add(stream: FakeStream) {
      set.add(
        Object.assign(stream, {
          close: (reason: string) => close(stream, reason),
          endBy: (atMs: number, reason: string) => void setTimeout(() => close(stream, reason), atMs - Date.now()),
        }),
      );
    },
    remove() {},
    release() {},
  };
  for (const stream of streams) tenant.add(stream);
  return tenant as unknown as TenantStreams & { add(stream: FakeStream): void };
}

function setUp(
  stillAllowed: AuthorityCheck["stillAllowed"],
  random = () => 1,
  options: Pick<RecheckOptions, "recheckChannels"> = {},
) {
  let failed = 0;
  const recheck = new Recheck({
    ...options,
    authority: { stillAllowed },
    recheckMs,
    sweep: new Sweep(sweepMs, Date.now),
    metrics: { ...noStreamMetrics, recheckFailed: () => void (failed += 1) },
    now: Date.now,
    random,
  });
  return { recheck, failed: () => failed };
}

test("a revoked stream is closed within the interval although the query is slow", async () => {
  let isRevoked = false;
  const { recheck } = setUp(async (_tenantId, subjects) => {
    // The query saw this when it began; it takes as long as it may.
    const allowed = new Set(isRevoked ? [] : subjects);
    await new Promise((resolve) => setTimeout(resolve, recheckMs * 0.3 - 1));
    return allowed;
  });
  const stream = createStream("ada");
  recheck.watch(createTenant([stream]));
  // Right after a query began, the worst moment.
  await vi.advanceTimersByTimeAsync(recheckMs * 0.6 + 1);
  isRevoked = true;
  const revokedAtMs = Date.now();
  await vi.advanceTimersByTimeAsync(2 * recheckMs);
  expect(stream.closed).toHaveLength(1);
  expect((stream.closed[0]?.atMs ?? Infinity) - revokedAtMs).toBeLessThan(recheckMs);
});

test("a stream that is opened during a query is in the next one in time", async () => {
  const askedMs: number[] = [];
  const { recheck } = setUp(async (_tenantId, subjects) => {
    askedMs.push(Date.now() - 1_000_000);
    await new Promise((resolve) => setTimeout(resolve, 8000));
    return new Set(subjects);
  });
  const tenant = createTenant([createStream("ada")]);
  recheck.watch(tenant);
  await vi.advanceTimersByTimeAsync(20_000);
  const late = { ...createStream("grace"), checkedMs: Date.now() - 15_000 };
  tenant.add(late);
  recheck.admit(tenant, late);
  await vi.advanceTimersByTimeAsync(10_000);
  // Right after the first query.
  expect(askedMs).toEqual([18_000, 26_000]);
});

test("streams stay while the database is down, and are closed, spread, after two to four intervals", async () => {
  const { recheck, failed } = setUp(() => Promise.reject(new Error("down")), createRandom());
  const startedMs = Date.now();
  const streams = Array.from({ length: 30 }, (_, n) => createStream(String(n)));
  recheck.watch(createTenant(streams));
  await vi.advanceTimersByTimeAsync(2 * recheckMs - 1);
  expect(streams.every(({ closed }) => closed.length === 0)).toBe(true);
  expect(failed()).toBeGreaterThan(2);
  await vi.advanceTimersByTimeAsync(3 * recheckMs);
  expect(streams.every(({ closed }) => closed.length === 1 && closed[0]?.reason === "revoked")).toBe(true);
  const times = new Set(streams.map(({ closed }) => closed[0]?.atMs));
  expect(times.size).toBeGreaterThan(1);
  expect(Math.max(...[...times].map(Number)) - startedMs).toBeLessThanOrEqual(4.6 * recheckMs);
});

test("a stream that was opened after a query began is not closed by its result", async () => {
  const { promise, resolve } = Promise.withResolvers<ReadonlySet<AuthoritySubject>>();
  const { recheck } = setUp(() => promise);
  const early = createStream("ada");
  const tenant = createTenant([early]);
  recheck.watch(tenant);
  await vi.advanceTimersByTimeAsync(recheckMs * 0.6 + 1);
  const late = createStream("ada");
  tenant.add(late);
  resolve(new Set());
  await vi.advanceTimersByTimeAsync(1);
  expect(early.closed).toHaveLength(1);
  expect(late.closed).toHaveLength(0);
});

test("the openings of a tenant's subjects are repeated one after the other, all of them", async () => {
  let atOnce = 0;
  const most: number[] = [];
  const asked: string[] = [];
  const { recheck } = setUp(async (_tenantId, subjects) => new Set(subjects), undefined, {
    async recheckChannels({ id }) {
      most.push((atOnce += 1));
      asked.push(id);
      await new Promise((resolve) => setTimeout(resolve, 1000));
      atOnce -= 1;
      return new Map();
    },
  });
  recheck.watch(createTenant(["ada", "grace", "joan"].map((id) => createStream(id))));
  await vi.advanceTimersByTimeAsync(recheckMs);
  expect(asked).toEqual(["ada", "grace", "joan"]);
  expect(Math.max(...most)).toBe(1);
});

/** Evenly distributed and deterministic. */
function createRandom(): () => number {
  let n = 0;
  return () => (n = (n + 0.618_033_988_749_895) % 1);
}
