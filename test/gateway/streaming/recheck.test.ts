import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { AuthorityCheck, AuthoritySubject } from "../../../gateway/auth/membership.ts";
import type { OpenStream } from "../../../gateway/streaming/open_stream.ts";
import { TenantStreams, type RecheckOptions } from "../../../gateway/streaming/tenant_streams.ts";
import { createRandom } from "../../support/random.ts";

beforeEach(() => void vi.useFakeTimers({ now: 1_000_000 }));
afterEach(() => void vi.useRealTimers());

const recheckMs = 30_000;
const sweepMs = 1000;

/** A tenant with streams of these people. */
function setUp(
  stillAllowed: AuthorityCheck["stillAllowed"],
  ids: readonly string[],
  options: Partial<Pick<RecheckOptions, "recheckChannels" | "random">> = {},
) {
  let failed = 0;
  const tenant = new TenantStreams("tenant", {
    random: () => 1,
    onStored() {},
    ...options,
    authority: { stillAllowed },
    recheckMs,
    count: () => void (failed += 1),
    now: Date.now,
  });
  setInterval(() => tenant.onSweep(Date.now()), sweepMs);
  const add = (id: string, checkedMs = Date.now()) => {
    const closed: { readonly reason: string; readonly atMs: number }[] = [];
    const stream = {
      principal: { kind: "user" as const, id },
      isOpen: true,
      checkedMs,
      confirmedMs: checkedMs,
      onSweep() {},
      closed,
      close(reason: string) {
        if (!stream.isOpen) return;
        stream.isOpen = false;
        closed.push({ reason, atMs: Date.now() });
      },
      endBy: (atMs: number, reason: string) => void setTimeout(() => stream.close(reason), atMs - Date.now()),
    };
    tenant.streams.add(stream as unknown as OpenStream);
    return stream;
  };
  return { add, streams: ids.map((id) => add(id)), failed: () => failed };
}

test("a revoked stream is closed within the interval although the query is slow", async () => {
  let isRevoked = false;
  const answer: AuthorityCheck["stillAllowed"] = async (_tenantId, subjects) => {
    // The query saw this when it began; it takes as long as it may.
    const allowed = new Set(isRevoked ? [] : subjects);
    await new Promise((resolve) => setTimeout(resolve, recheckMs * 0.3 - 1));
    return allowed;
  };
  const [stream] = setUp(answer, ["ada"]).streams;
  // Right after a query began, the worst moment.
  await vi.advanceTimersByTimeAsync(recheckMs * 0.6 + 1);
  isRevoked = true;
  const revokedAtMs = Date.now();
  await vi.advanceTimersByTimeAsync(2 * recheckMs);
  expect(stream?.closed).toHaveLength(1);
  expect((stream?.closed[0]?.atMs ?? Infinity) - revokedAtMs).toBeLessThan(recheckMs);
});

test("a stream that is opened during a query is in the next one in time", async () => {
  const askedMs: number[] = [];
  const answer: AuthorityCheck["stillAllowed"] = async (_tenantId, subjects) => {
    askedMs.push(Date.now() - 1_000_000);
    await new Promise((resolve) => setTimeout(resolve, 8000));
    return new Set(subjects);
  };
  const { add } = setUp(answer, ["ada"]);
  await vi.advanceTimersByTimeAsync(20_000);
  add("grace", Date.now() - 15_000);
  await vi.advanceTimersByTimeAsync(10_000);
  // Right after the first query.
  expect(askedMs).toEqual([18_000, 26_000]);
});

test("streams stay while the database is down, and are closed, spread, after two to four intervals", async () => {
  const startedMs = Date.now();
  const ids = Array.from({ length: 30 }, (_, n) => String(n));
  const { streams, failed } = setUp(() => Promise.reject(new Error("down")), ids, { random: createRandom(1) });
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
  const { add, streams } = setUp(() => promise, ["ada"]);
  await vi.advanceTimersByTimeAsync(recheckMs * 0.6 + 1);
  const late = add("ada");
  resolve(new Set());
  await vi.advanceTimersByTimeAsync(1);
  expect(streams[0]?.closed).toHaveLength(1);
  expect(late.closed).toHaveLength(0);
});

test("the openings of a tenant's subjects are repeated one after the other, all of them", async () => {
  let atOnce = 0;
  const most: number[] = [];
  const asked: string[] = [];
  setUp(async (_tenantId, subjects) => new Set(subjects), ["ada", "grace", "joan"], {
    async recheckChannels({ id }) {
      most.push((atOnce += 1));
      asked.push(id);
      await new Promise((resolve) => setTimeout(resolve, 1000));
      atOnce -= 1;
      return new Map();
    },
  });
  await vi.advanceTimersByTimeAsync(recheckMs);
  expect(asked).toEqual(["ada", "grace", "joan"]);
  expect(Math.max(...most)).toBe(1);
});
