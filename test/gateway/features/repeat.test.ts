import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Database } from "../../../drizzle/database.ts";
import type { FeatureDependencies } from "../../../gateway/features/features.ts";
import { startRepeating } from "../../../gateway/features/repeat.ts";
import { expiringScans, markingStale } from "../../../gateway/features/runs/sweep.ts";
import { silentLog } from "../../../gateway/observability/log.ts";
import { recordEvents } from "../../../gateway/library/record_events.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test.each([
  ["expiringScans", expiringScans, 15 * 60_000, 60_000],
  ["markingStale", markingStale, 60_000, 15_000],
])("%s first waits %3$d ms, then runs every %4$d ms, and never twice at once", async (_, task, firstMs, everyMs) => {
  let begun = 0;
  let answer = Promise.withResolvers<never>();
  const transact = () => {
    begun += 1;
    return answer.promise;
  };
  const slow: Database = { close: async () => {}, transact, transactOne: transact };
  const dependencies: Partial<FeatureDependencies> = { database: slow, ...recordEvents(), log: silentLog };
  const stop = startRepeating(() => task.run(dependencies as FeatureDependencies), task);
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
