import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Lookups } from "../../../gateway/streaming/lookups.ts";
import { AppError } from "../../../shared/app_error.ts";

beforeEach(() => void vi.useFakeTimers({ now: 0 }));
afterEach(() => void vi.useRealTimers());

/** Work that the test settles itself, in the order in which it began. */
function createWork<Result>() {
  const begun: PromiseWithResolvers<Result>[] = [];
  const work = () => {
    const deferred = Promise.withResolvers<Result>();
    begun.push(deferred);
    return deferred.promise;
  };
  return { begun, work };
}

const unavailable = () => Promise.reject(new AppError("unavailable", "The database cannot be reached"));

test("callers that arrive during a lookup share the next one, which begins after it", async () => {
  const lookups = new Lookups({ spacingMs: 0 });
  const { begun, work } = createWork<string>();
  const first = lookups.share("tenant", "key", work);
  const later = [lookups.share("tenant", "key", work), lookups.share("tenant", "key", work)];
  expect(begun).toHaveLength(1);
  begun[0]?.resolve("before");
  expect(await first).toBe("before");
  await vi.advanceTimersByTimeAsync(0);
  expect(begun).toHaveLength(2);
  const last = lookups.share("tenant", "key", work);
  begun[1]?.resolve("after");
  expect(await Promise.all(later)).toEqual(["after", "after"]);
  await vi.advanceTimersByTimeAsync(0);
  expect(begun).toHaveLength(3);
  begun[2]?.resolve("last");
  expect(await last).toBe("last");
});

test("identical lookups begin no more often than the spacing, and every caller gets a result", async () => {
  const lookups = new Lookups({ spacingMs: 50 });
  const begunMs: number[] = [];
  const work = async () => begunMs.push(Date.now());
  const waiting: Promise<number>[] = [];
  for (let ms = 0; ms < 230; ms += 1) {
    waiting.push(lookups.share("tenant", "key", work));
    await vi.advanceTimersByTimeAsync(1);
  }
  await vi.advanceTimersByTimeAsync(50);
  await Promise.all(waiting);
  expect(begunMs).toEqual([0, 50, 100, 150, 200, 250]);
});

test("lookups of different keys run concurrently", async () => {
  const lookups = new Lookups();
  const { begun, work } = createWork<number>();
  const results = ["a", "b", "c"].map((key) => lookups.share("tenant", key, work));
  expect(begun).toHaveLength(3);
  for (const [index, deferred] of begun.entries()) deferred.resolve(index);
  expect(await Promise.all(results)).toEqual([0, 1, 2]);
});

test("a failure rejects the callers that share it, and no later ones", async () => {
  const lookups = new Lookups({ spacingMs: 0 });
  const { begun, work } = createWork<number>();
  const first = lookups.share("tenant", "key", work);
  const second = lookups.share("tenant", "key", work);
  begun[0]?.reject(new Error("first"));
  await expect(first).rejects.toThrow("first");
  await vi.advanceTimersByTimeAsync(0);
  begun[1]?.resolve(2);
  expect(await second).toBe(2);
});

test("more concurrent lookups than allowed are refused as unavailable", async () => {
  let random = 0;
  const lookups = new Lookups({ maxRunning: 3, random: () => random });
  const { begun, work } = createWork<number>();
  const running = [lookups.share("tenant", "a", work), lookups.share("tenant", "b", work)];
  await expect(lookups.share("tenant", "c", work)).rejects.toMatchObject({ code: "unavailable", retryAfterSeconds: 2 });
  random = 0.99;
  await expect(lookups.share("tenant", "e", work)).rejects.toMatchObject({
    code: "unavailable",
    retryAfterSeconds: 10,
  });
  begun[0]?.resolve(1);
  await running[0];
  const third = lookups.share("tenant", "d", work);
  expect(begun).toHaveLength(3);
  for (const { resolve } of begun) resolve(1);
  await Promise.all([...running, third]);
});

test("lookups wait in order for their turn at the database", async () => {
  const lookups = new Lookups({ atOnce: 3 });
  const { begun, work } = createWork<number>();
  const running = ["a", "b", "c", "d"].map((key) => lookups.share("tenant", key, work));
  expect(begun).toHaveLength(2);
  begun[1]?.reject(new Error("second"));
  await expect(running[1]).rejects.toThrow("second");
  expect(begun).toHaveLength(3);
  begun[2]?.resolve(3);
  expect(await running[2]).toBe(3);
  for (const { resolve } of begun) resolve(1);
  expect(await Promise.all([running[0], running[3]])).toEqual([1, 1]);
  const later = [
    lookups.share("tenant", "e", work),
    lookups.share("tenant", "f", work),
    lookups.share("tenant", "g", work),
  ];
  expect(begun).toHaveLength(6);
  for (const { resolve } of begun) resolve(1);
  await vi.waitFor(() => expect(begun).toHaveLength(7));
  begun[6]?.resolve(1);
  await Promise.all(later);
});

test("those that wait are refused at once when the database is found to be down", async () => {
  const lookups = new Lookups({ atOnce: 1 });
  const work = vi.fn(unavailable);
  const running = Array.from({ length: 10 }, (_, index) => lookups.share("tenant", String(index), work));
  for (const lookup of running) await expect(lookup).rejects.toMatchObject({ code: "unavailable" });
  expect(work).toHaveBeenCalledTimes(3);
});

test("more streams than allowed are not opened at the same time, and the clients of the others come back one by one", async () => {
  const lookups = new Lookups({ maxRunning: 3 });
  const { begun, work } = createWork<number>();
  // One alone leaves room for another.
  const opening = [lookups.admit("credential", work), lookups.admit("credential", work)];
  await expect(lookups.admit("credential", work)).rejects.toMatchObject({ code: "unavailable", retryAfterSeconds: 2 });
  const refused = await Promise.allSettled(Array.from({ length: 2000 }, () => lookups.admit("credential", work)));
  const seconds = refused.map((each) => (each.status === "rejected" ? each.reason.retryAfterSeconds : null));
  expect([seconds[0], seconds[999], seconds[1999]]).toEqual([2, 7, 12]);
  const other = lookups.admit("another", work);
  begun[2]?.resolve(3);
  expect(await other).toBe(3);
  begun[0]?.resolve(1);
  await opening[0];
  begun[1]?.reject(new Error("second"));
  await expect(opening[1]).rejects.toThrow("second");
  const later = [lookups.admit("credential", work), lookups.admit("credential", work)];
  expect(begun).toHaveLength(5);
  for (const { resolve } of begun) resolve(1);
  await Promise.all(later);
});

test("after three failures in a row lookups are refused for the pause, then one is tried", async () => {
  const lookups = new Lookups({ pauseMs: 1000 });
  const work = vi.fn(unavailable);
  for (const key of ["a", "b"]) await expect(lookups.share("tenant", key, work)).rejects.toThrow();
  expect(await lookups.share("tenant", "c", async () => "fine")).toBe("fine");
  for (const key of ["x", "y", "z"]) await expect(lookups.share("tenant", key, work)).rejects.toThrow();
  expect(work).toHaveBeenCalledTimes(5);
  vi.setSystemTime(999);
  await expect(lookups.share("tenant", "d", work)).rejects.toMatchObject({ code: "unavailable", retryAfterSeconds: 2 });
  expect(work).toHaveBeenCalledTimes(5);
  vi.setSystemTime(1000);
  const { begun, work: probe } = createWork<string>();
  const probing = lookups.share("tenant", "e", probe);
  await expect(lookups.share("tenant", "f", work)).rejects.toThrow();
  expect(work).toHaveBeenCalledTimes(5);
  begun[0]?.resolve("back");
  expect(await probing).toBe("back");
  expect(await lookups.share("tenant", "g", async () => "open")).toBe("open");
});

test("refusals of the feature do not count as failures of the database", async () => {
  const lookups = new Lookups();
  for (let n = 0; n < 5; n += 1) {
    await vi.advanceTimersByTimeAsync(25);
    await expect(
      lookups.share("tenant", "key", () => Promise.reject(new AppError("not_found", "No such thing"))),
    ).rejects.toMatchObject({ code: "not_found" });
  }
});
