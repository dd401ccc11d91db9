import { expect, test } from "vitest";
import { FairStart } from "../../../gateway/runtime/fair_start.ts";

test("requests of one holder begin a few at a time, and another's begins before most of them", async () => {
  const starts = new FairStart();
  const begun: string[] = [];
  const run = (holder: string) => starts.run(holder, async () => void begun.push(holder));
  const flood = Array.from({ length: 1000 }, () => run("flood"));
  await run("other");
  expect(begun.length).toBeLessThan(10);
  await Promise.all(flood);
  expect(begun).toHaveLength(1001);
});

test("a holder with too many requests that wait is told to come back, another one is not", async () => {
  const starts = new FairStart();
  let begun = 0;
  const run = (holder: string) => starts.run(holder, async () => (begun += 1));
  const answers = await Promise.allSettled(Array.from({ length: 3000 }, () => run("flood")));
  const refused = answers.filter(({ status }) => status === "rejected");
  expect(refused[0]).toMatchObject({ reason: { code: "too_many", retryAfterSeconds: expect.any(Number) } });
  expect([refused.length + begun, begun < 2048]).toEqual([3000, true]);
  const flood = Array.from({ length: 3000 }, () => run("flood").catch(() => undefined));
  await expect(run("other")).resolves.toBeGreaterThan(0);
  await Promise.all(flood);
});

test("while twenty holders have all the places, another one's burst is taken, and begins before most of theirs", async () => {
  const starts = new FairStart();
  const begun: string[] = [];
  const run = (holder: string) => starts.run(holder, async () => void begun.push(holder));
  const storm = Array.from({ length: 20_000 }, (_, n) => run(`flood ${n % 20}`).then(null, () => "refused"));
  const burst = await Promise.allSettled(Array.from({ length: 20 }, () => run("other")));
  expect(burst.filter(({ status }) => status === "rejected")).toEqual([]);
  // Its requests and as many of each of the twenty, and those that began at once.
  expect(begun.length).toBeLessThan(450);
  const refused = (await Promise.all(storm)).filter((answer) => answer === "refused").length;
  expect(20_000 - refused).toBeGreaterThan(2000);
});

test("what fails is rejected with its reason, and holds no place", async () => {
  const starts = new FairStart();
  const failing = () => starts.run("one", () => Promise.reject(new Error("it failed")));
  await Promise.all(Array.from({ length: 10 }, () => expect(failing()).rejects.toThrow("it failed")));
  await expect(starts.run("one", async () => "answered")).resolves.toBe("answered");
});

test("what throws gives its place back once: the bound stays where it is", async () => {
  const refusedBy = async (starts: FairStart) => {
    const run = () => starts.run("flood", async () => undefined);
    const answers = await Promise.allSettled(Array.from({ length: 3000 }, run));
    return answers.filter(({ status }) => status === "rejected").length;
  };
  const starts = new FairStart();
  const throwing = () =>
    starts.run("one", () => {
      throw new Error("it threw");
    });
  await Promise.all(Array.from({ length: 100 }, () => expect(throwing()).rejects.toThrow("it threw")));
  expect(await refusedBy(starts)).toBeGreaterThanOrEqual(await refusedBy(new FairStart()));
});
