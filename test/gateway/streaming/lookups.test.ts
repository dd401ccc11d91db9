import { expect, test, vi } from "vitest";
import { createLookups } from "../../../gateway/streaming/lookups.ts";
import { AppError } from "../../../shared/app_error.ts";

/** Work that the test finishes itself, in the order in which it began. */
function createWork<Result>() {
  const begun: PromiseWithResolvers<Result>[] = [];
  const work = () => {
    const deferred = Promise.withResolvers<Result>();
    begun.push(deferred);
    return deferred.promise;
  };
  return { begun, work };
}

const away = () => Promise.reject(new AppError("unavailable", "The database cannot be reached"));

test("share: whoever arrives while a lookup runs shares the next one, which begins after it", async () => {
  const lookups = createLookups({ spacingMs: 0 });
  const { begun, work } = createWork<string>();
  const first = lookups.share("key", work);
  const later = [lookups.share("key", work), lookups.share("key", work)];
  expect(begun).toHaveLength(1);
  begun[0]?.resolve("before");
  expect(await first).toBe("before");
  await vi.waitFor(() => expect(begun).toHaveLength(2));
  const last = lookups.share("key", work);
  begun[1]?.resolve("after");
  expect(await Promise.all(later)).toEqual(["after", "after"]);
  await vi.waitFor(() => expect(begun).toHaveLength(3));
  begun[2]?.resolve("last");
  expect(await last).toBe("last");
});

test("share: identical lookups begin no more often than the spacing, and each comes to its turn", async () => {
  const lookups = createLookups({ spacingMs: 50 });
  const begun: number[] = [];
  const work = async () => begun.push(performance.now());
  const deadline = performance.now() + 230;
  const waiting: Promise<number>[] = [];
  while (performance.now() < deadline) {
    waiting.push(lookups.share("key", work));
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  await Promise.all(waiting);
  expect(waiting.length).toBeGreaterThan(20);
  expect(begun.length).toBeGreaterThan(3);
  expect(begun.length).toBeLessThanOrEqual(6);
  const gaps = begun.slice(1).map((time, index) => time - (begun[index] ?? 0));
  expect(Math.min(...gaps)).toBeGreaterThan(48);
});

test("share: also one after another, each lookup begins after it was asked for", async () => {
  const lookups = createLookups({ spacingMs: 20 });
  let state = 0;
  for (let round = 1; round <= 10; round += 1) {
    state = round;
    expect(await lookups.share("key", async () => state)).toBe(round);
  }
});

test("share: after the spacing nothing is waited for and nothing remembered", async () => {
  let nowMs = 0;
  const lookups = createLookups({ spacingMs: 20, now: () => nowMs });
  await lookups.share("key", async () => 1);
  nowMs = 20;
  const work = vi.fn(async () => 2);
  const second = lookups.share("key", work);
  expect(work).toHaveBeenCalledTimes(1);
  expect(await second).toBe(2);
});

test("share: other keys do not wait", async () => {
  const lookups = createLookups();
  const { begun, work } = createWork<number>();
  const results = ["a", "b", "c"].map((key) => lookups.share(key, work));
  expect(begun).toHaveLength(3);
  for (const [index, deferred] of begun.entries()) deferred.resolve(index);
  expect(await Promise.all(results)).toEqual([0, 1, 2]);
});

test("share: a failure is everybody's who shares it, and nobody's after them", async () => {
  const lookups = createLookups({ spacingMs: 0 });
  const { begun, work } = createWork<number>();
  const first = lookups.share("key", work);
  const second = lookups.share("key", work);
  begun[0]?.reject(new Error("first"));
  await expect(first).rejects.toThrow("first");
  await vi.waitFor(() => expect(begun).toHaveLength(2));
  begun[1]?.resolve(2);
  expect(await second).toBe(2);
});

test("share: more lookups at a time than allowed are refused as unavailable", async () => {
  const lookups = createLookups({ maxRunning: 2 });
  const { begun, work } = createWork<number>();
  const running = [lookups.share("a", work), lookups.share("b", work)];
  await expect(lookups.share("c", work)).rejects.toMatchObject({ code: "unavailable", retryAfterSeconds: 2 });
  begun[0]?.resolve(1);
  await running[0];
  const third = lookups.share("d", work);
  expect(begun).toHaveLength(3);
  for (const { resolve } of begun) resolve(1);
  await Promise.all([...running, third]);
});

test("share: a database that is away three times in a row is left alone, then tried by one", async () => {
  let nowMs = 0;
  const lookups = createLookups({ pauseMs: 1000, now: () => nowMs });
  const work = vi.fn(away);
  for (const key of ["a", "b"]) await expect(lookups.share(key, work)).rejects.toThrow();
  expect(await lookups.share("c", async () => "fine")).toBe("fine");
  for (const key of ["a", "b", "c"]) await expect(lookups.share(key, work)).rejects.toThrow();
  expect(work).toHaveBeenCalledTimes(5);
  nowMs = 999;
  await expect(lookups.share("d", work)).rejects.toMatchObject({ code: "unavailable", retryAfterSeconds: 2 });
  expect(work).toHaveBeenCalledTimes(5);
  nowMs = 1000;
  const { begun, work: probe } = createWork<string>();
  const probing = lookups.share("e", probe);
  await expect(lookups.share("f", work)).rejects.toThrow();
  expect(work).toHaveBeenCalledTimes(5);
  begun[0]?.resolve("back");
  expect(await probing).toBe("back");
  expect(await lookups.share("g", async () => "open")).toBe("open");
});

test("share: refusals of the feature say nothing about the database", async () => {
  const lookups = createLookups();
  for (let n = 0; n < 5; n += 1) {
    await expect(
      lookups.share("key", () => Promise.reject(new AppError("not_found", "No such thing"))),
    ).rejects.toMatchObject({ code: "not_found" });
  }
});
