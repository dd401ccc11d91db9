import { expect, onTestFinished, test } from "vitest";
import { openTestPglite } from "../support/pglite.ts";
import { openPglite } from "./open_databases.ts";
import { describeQueries } from "./query_suite.ts";

describeQueries("PGlite", openPglite);

test("of two holders the one with two transactions waits for two of the other, not for two hundred", async () => {
  const database = await openTestPglite();
  onTestFinished(() => database.close());
  const order: string[] = [];
  const run = async (holder: string) => {
    await database.transact([{ sql: "select 1", params: [] }], holder);
    order.push(holder);
  };
  await Promise.all([...Array.from({ length: 200 }, () => run("a")), run("b"), run("b")]);
  expect(order.lastIndexOf("b")).toBeLessThan(6);
});
