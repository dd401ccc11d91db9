import { afterEach, beforeEach, expect, test } from "vitest";
import type { Database } from "../../drizzle/database.ts";
import { createPgDatabase } from "../../drizzle/databases/pg.ts";
import { openOnPostgres, type OpenPostgresDatabase } from "./open_databases.ts";

let opened: OpenPostgresDatabase;
let database: Database;

beforeEach(async () => {
  opened = await openOnPostgres((url) => createPgDatabase(url, { maxConnections: 1 }));
  ({ database } = opened);
});

afterEach(async () => {
  await opened.close();
});

async function run(sql: string, params: readonly unknown[] = []): Promise<readonly unknown[]> {
  const { rows } = await database.transact([
    { sql: "select set_config('app.tenant_id', '', true)", params: [] },
    { sql, params },
  ]);
  return rows.map(([first]) => first);
}

/** Every text that the one connection keeps, but for the question itself. */
async function keptTexts(): Promise<readonly unknown[]> {
  return run("select statement from pg_prepared_statements where statement not like '%pg_prepared%' order by 1");
}

test("a statement is parsed once a connection", async () => {
  for (let time = 0; time < 10; time += 1) expect(await run("select $1::int + 1", [time])).toEqual([time + 1]);
  expect(await keptTexts()).toEqual(["select $1::int + 1", "select set_config('app.tenant_id', '', true)"]);
  const parsed =
    "select generic_plans + custom_plans > 5 from pg_prepared_statements where statement like 'select $1::int%'";
  expect(await run(parsed)).toEqual([true]);
});

test("statements after a failed one return the right rows", async () => {
  for (let time = 0; time < 3; time += 1) {
    await expect(run("select 1 / $1::int", [0])).rejects.toMatchObject({ sqlState: "22012" });
    expect(await run("select 6 / $1::int", [2])).toEqual([3]);
    await expect(run("select no_such_column")).rejects.toMatchObject({ sqlState: "42703" });
  }
  expect(await run("select 1 / $1::int", [1])).toEqual([1]);
});

test("after a pooler has lost a name, statements run unnamed", async () => {
  await run("create table written (value int)");
  for (const value of [1, 2]) await run("insert into written values ($1)", [value]);
  await run("deallocate all");
  await run("insert into written values ($1)", [3]);
  expect(await run("select value from written order by value")).toEqual([1, 2, 3]);
  await run("deallocate all");
  expect(await run("select value from written order by value")).toEqual([1, 2, 3]);
  expect(await keptTexts()).toEqual([]);
});

test("a plan that a migration has outdated is made again, and kept", async () => {
  await run("create table changing (first int)");
  await run("insert into changing values (1)");
  const all = "select * from changing";
  const wide = async () => (await database.transact([{ sql: all, params: [] }])).rows;
  for (let time = 0; time < 3; time += 1) expect(await wide()).toEqual([[1]]);
  await run("alter table changing add column second int default 2");
  for (let time = 0; time < 3; time += 1) expect(await wide()).toEqual([[1, 2]]);
  expect(await keptTexts()).toContain(all);
});
