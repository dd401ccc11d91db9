import { expect, onTestFinished, test } from "vitest";
import { createPooledDatabase } from "../../drizzle/databases/pooled_database.ts";
import { write, noTenant } from "../../drizzle/transactions.ts";
import { openTestPglite } from "../support/pglite.ts";
import { openPglite } from "./open_databases.ts";
import { describeQueries } from "./query_suite.ts";

describeQueries("PGlite", openPglite);

test("of transactions that run or wait a tenant has its share, and another one finds its own", async () => {
  const silent = { maxConnections: 1, connect: () => new Promise<never>(() => {}), end: async () => {} };
  const database = createPooledDatabase(silent, { connectTimeoutMs: 60_000 });
  const run = (holder: string) => write(database, { ...noTenant, holder }, async () => {});
  // They are not answered, and fail when the time is over.
  for (let n = 0; n < 8000; n += 1) run("attacker").catch(() => undefined);
  await expect(run("attacker")).rejects.toMatchObject({ code: "too_many", retryAfterSeconds: expect.any(Number) });
  const other = run("victim").then(() => "answered", String);
  await expect(Promise.race([other, Promise.resolve("waits")])).resolves.toBe("waits");
});

test("of two holders the one with two transactions waits for two of the other, not for two hundred", async () => {
  const database = await openTestPglite();
  onTestFinished(() => database.close());
  const order: string[] = [];
  const run = async (holder: string) => {
    await write(database, { ...noTenant, holder }, (db) => db.execute("select 1"));
    order.push(holder);
  };
  await Promise.all([...Array.from({ length: 200 }, () => run("a")), run("b"), run("b")]);
  expect(order.lastIndexOf("b")).toBeLessThan(6);
});
