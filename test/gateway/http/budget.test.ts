import { expect, test } from "vitest";
import { boundsFor, Budget } from "../../../gateway/http/budget.ts";

test("requests being answered are the tenant's share, and are given back", () => {
  const budget = new Budget(boundsFor(0));
  const accounts = Array.from({ length: 2048 }, () => budget.open(new Request("http://gateway/")));
  const begin = (tenantId: string) => {
    for (const [index, account] of accounts.entries()) {
      try {
        account.belongsTo(tenantId);
      } catch (error) {
        expect(error).toMatchObject({ code: "too_many", retryAfterSeconds: expect.any(Number) });
        return index;
      }
    }
    return accounts.length;
  };
  expect(begin("attacker")).toBe(1638);
  budget.open(new Request("http://gateway/")).belongsTo("victim");
  for (const account of accounts) account.close();
  // One of them is the victim's.
  expect(begin("attacker")).toBe(1637);
});

test("of large reads two of one tenant run, another tenant's begins at once, and small requests find the event loop free", async () => {
  const budget = new Budget(boundsFor(0));
  const order: string[] = [];
  const read = (holder: string, work: Promise<void>) =>
    budget.open(new Request("http://gateway/"), holder).readLarge(async () => {
      order.push(holder);
      await work;
    });
  const first = Promise.withResolvers<void>();
  const attacks = Array.from({ length: 4 }, () => read("attacker", first.promise));
  await Promise.resolve();
  expect(order).toEqual(["attacker", "attacker"]);
  await read("victim", Promise.resolve());
  expect(order).toEqual(["attacker", "attacker", "victim"]);
  first.resolve();
  await Promise.all(attacks);
  expect(order).toHaveLength(5);
});

test("a large read that fails gives its turn back, and its error to the caller", async () => {
  const account = new Budget(boundsFor(0)).open(new Request("http://gateway/"), "tenant");
  for (let n = 0; n < 4; n += 1) {
    await expect(account.readLarge(() => Promise.reject(new Error("broken")))).rejects.toThrow("broken");
  }
});
