import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Database } from "../../../drizzle/database.ts";
import { startMarkingStale } from "../../../gateway/features/monitors/mark_stale.ts";
import { startExpiring } from "../../../gateway/features/scans/expire_scans.ts";
import { silentLog } from "../../../gateway/observability/log.ts";
import { recordEvents } from "../../support/record_events.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test.each([
  ["startExpiring", startExpiring, 15 * 60_000, 60_000],
  ["startMarkingStale", startMarkingStale, 60_000, 15_000],
])("%s first waits %3$d ms, then runs every %4$d ms, and never twice at once", async (_, start, firstMs, everyMs) => {
  let begun = 0;
  let answer = Promise.withResolvers<never>();
  const transact = () => {
    begun += 1;
    return answer.promise;
  };
  const slow: Database = { close: async () => {}, transact, transactOne: transact };
  const stop = start({ database: slow, ...recordEvents(), log: silentLog });
  await vi.advanceTimersByTimeAsync(firstMs - 1);
  expect(begun).toBe(0);
  await vi.advanceTimersByTimeAsync(1);
  expect(begun).toBe(1);
  await vi.advanceTimersByTimeAsync(20 * everyMs);
  expect(begun).toBe(1);
  answer.resolve({ rows: [] } as never);
  answer = Promise.withResolvers();
  await vi.advanceTimersByTimeAsync(everyMs);
  expect(begun).toBe(2);
  stop();
  answer.resolve({ rows: [] } as never);
  await vi.advanceTimersByTimeAsync(20 * everyMs);
  expect(begun).toBe(2);
});
