import { array, assert, constantFrom, integer, property, record } from "fast-check";
import { expect, test } from "vitest";
import { FairShare } from "../../shared/fair_share.ts";
import { FairTurns } from "../../shared/fair_turns.ts";

const shareOf = (max: number) => new FairShare({ max, what: "requests", random: () => 0 });

/** Takes one after the other until it is refused; the number that was taken. */
function takeAll(share: FairShare, holder: string): number {
  for (let taken = 0; ; taken += 1) {
    try {
      share.take(holder);
    } catch {
      return taken;
    }
  }
}

test("one alone has at most 80 %, and whoever comes then finds some", () => {
  const share = shareOf(1000);
  expect(takeAll(share, "a")).toBe(800);
  expect(takeAll(share, "b")).toBe(160);
  expect(share.isOver("a")).toBe(true);
  // Of what the first gives back, the second may have more.
  share.give("a", 400);
  expect(takeAll(share, "b")).toBeGreaterThan(200);
});

test("a holder over its share is told so, and another that there is nothing left", () => {
  const share = shareOf(10);
  share.take("a", 8);
  expect(() => share.take("a")).toThrow(expect.objectContaining({ code: "too_many", retryAfterSeconds: 1 }));
  share.take("b");
  share.take("c", 0.9);
  expect(() => share.take("d")).toThrow(expect.objectContaining({ code: "unavailable", retryAfterSeconds: 1 }));
});

test("large pieces of many holders leave room for the small ones of others", () => {
  const share = shareOf(1024);
  const take = (holder: string, amount: number) => () => share.take(holder, amount);
  for (let holder = 0; holder < 14; holder += 1) take(`hostile ${holder}`, 64)();
  expect(take("hostile 14", 64)).toThrow(expect.objectContaining({ code: "unavailable" }));
  for (let holder = 0; holder < 64; holder += 1) take(`victim ${holder}`, 2)();
  expect(take("victim 64", 2)).toThrow(expect.objectContaining({ code: "unavailable" }));
});

test("what is given back is free, in any order", () => {
  const step = record({ holder: constantFrom("a", "b", "c"), amount: integer({ min: 1, max: 30 }) });
  assert(
    property(array(step, { maxLength: 60 }), (steps) => {
      const share = shareOf(100);
      const taken = steps.filter(({ holder, amount }) => {
        try {
          share.take(holder, amount);
          return true;
        } catch {
          return false;
        }
      });
      expect(share.total).toBe(taken.reduce((sum, { amount }) => sum + amount, 0));
      expect(share.total).toBeLessThanOrEqual(100);
      for (const { holder, amount } of taken.toReversed()) share.give(holder, amount);
      expect(share.total).toBe(0);
      expect(takeAll(share, "a")).toBe(80);
    }),
  );
});

test("holders take turns, however many one of them has waiting", async () => {
  const turns = new FairTurns(1);
  const order: string[] = [];
  const run = (holder: string, name: string) => turns.run(holder, async () => void order.push(name));
  const all = ["a1", "a2", "a3", "a4", "b1", "b2", "c1"].map((name) => run(name.slice(0, 1), name));
  await Promise.all(all);
  expect(order).toEqual(["a1", "a2", "b1", "c1", "a3", "b2", "a4"]);
});

test("work that fails gives its turn to the next", async () => {
  const turns = new FairTurns(1);
  const failing = turns.run("a", () => Promise.reject(new Error("broken")));
  const next = turns.run("a", async () => "fine");
  await expect(failing).rejects.toThrow("broken");
  expect(await next).toBe("fine");
});

test.each([
  { atOnce: 10, holders: ["a"], most: 8 },
  { atOnce: 10, holders: ["a", "b"], most: 8 },
  { atOnce: 10, holders: ["a", "b", "c"], most: 9 },
  { atOnce: 3, holders: ["a"], most: 2 },
  { atOnce: 1, holders: ["a"], most: 1 },
])("work that never ends of $holders leaves a place for another where there is one: $most of $atOnce", async (row) => {
  const turns = new FairTurns(row.atOnce);
  let begun = 0;
  const endless = () => {
    begun += 1;
    return new Promise<never>(() => undefined);
  };
  for (let n = 0; n < 20; n += 1) for (const holder of row.holders) void turns.run(holder, endless);
  await Promise.resolve();
  expect(begun).toBe(row.most);
  if (row.most < row.atOnce) expect(await turns.run("victim", async () => "its turn")).toBe("its turn");
});
