import { readFile } from "node:fs/promises";
import { eq } from "drizzle-orm";
import { afterAll, expect, test } from "vitest";
import { createPgDatabase } from "../../drizzle/databases/pg.ts";
import type { Database } from "../../drizzle/database.ts";
import { migrate } from "../../drizzle/migrate.ts";
import { runs, tenants } from "../../drizzle/schema.ts";
import { findApiKey } from "../../drizzle/across_tenants.ts";
import { everyTenant, isMigrated, ping, write } from "../../drizzle/transactions.ts";
import { runSql } from "../support/watched_database.ts";
import { asAdmin, startPostgres } from "../support/postgres.ts";
import { seedTenant } from "./seed.ts";

/** Its own server: roles belong to the whole of it. */
const server = await startPostgres("bare");
afterAll(() => server.stop());

async function run(...statements: readonly string[]): Promise<void> {
  await asAdmin(server.adminUrl, async (client) => {
    for (const statement of statements) await client.query(statement);
  });
}

function urlAs(role: string, database: string): string {
  const url = new URL(server.adminUrl);
  url.username = role;
  url.password = "pw";
  url.pathname = `/${database}`;
  return url.href;
}

async function withDatabase<Result>(url: string, work: (database: Database) => Promise<Result>): Promise<Result> {
  const database = createPgDatabase(url, { maxConnections: 1 });
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}

test("without the roles, an owner who may not create them gets what an administrator has to run", async () => {
  await run("create role plain login password 'pw'", "create database plain_db owner plain");
  const url = urlAs("plain", "plain_db");
  await expect(migrate(url)).rejects.toMatchObject({
    sqlState: "42501",
    message: expect.stringMatching(/CREATE ROLE scanstream_app NOLOGIN; .* GRANT scanstream_admin TO plain;/),
  });
  // Nothing remains.
  const tables = await withDatabase(url, (database) =>
    runSql(database, "select count(*)::int from pg_tables where schemaname = 'public'"),
  );
  expect(tables).toEqual([[0]]);
});

test("the backfill of docs/features.md reaches the rows of every tenant, and without its first line none", async () => {
  await run("create role keeper login createrole password 'pw'", "create database kept_db owner keeper");
  const url = urlAs("keeper", "kept_db");
  await migrate(url);
  const document = await readFile(new URL("../../docs/features.md", import.meta.url), "utf8");
  const [lift = "", ...rest] =
    /```sql backfill\n([^`]+)```/.exec(document)?.[1]?.split("--> statement-breakpoint") ?? [];
  await withDatabase(url, async (database) => {
    await seedTenant(database, "acme");
    await seedTenant(database, "globex");
    const apply = (statements: readonly string[]) => runSql(database, ...statements);
    const filled = () =>
      write(database, everyTenant, (db) =>
        db.select({ clientId: runs.clientId }).from(runs).where(eq(runs.clientId, "unknown")),
      );
    await apply(rest);
    expect(await filled()).toEqual([]);
    await apply([lift, ...rest]);
    expect(await filled()).toHaveLength(8);
  });
});

test("two databases of two owners, and each of them twice, all at once, where no role exists yet", async () => {
  await run(
    "create role one login createrole password 'pw'",
    "create role two login superuser password 'pw'",
    "create database one_db owner one",
    "create database two_db owner two",
  );
  const urls = [urlAs("one", "one_db"), urlAs("two", "two_db"), urlAs("one", "one_db"), urlAs("two", "two_db")];
  const outcomes = await Promise.allSettled(urls.map((url) => migrate(url)));
  // An owner who may create roles, but finds one that the other owner made, needs a grant: the only way to fail.
  for (const outcome of outcomes) {
    if (outcome.status === "rejected") expect(String(outcome.reason)).toContain("GRANT scanstream_app TO one");
  }
  await run("grant scanstream_app, scanstream_admin to one");
  for (const url of urls) {
    await migrate(url);
    await withDatabase(url, async (database) => {
      expect(await isMigrated(database)).toBe(true);
      const { id } = await seedTenant(database);
      expect(await write(database, { tenantId: id }, (db) => db.select().from(runs))).toHaveLength(4);
    });
  }
});

test("an owner who may not create roles, where an administrator has made and granted them", async () => {
  const url = urlAs("plain", "plain_db");
  await expect(migrate(url)).rejects.toMatchObject({
    sqlState: "42501",
    message: expect.stringContaining("GRANT scanstream_app TO plain"),
  });
  await run("grant scanstream_app, scanstream_admin to plain");
  await migrate(url);
  await withDatabase(url, async (database) => {
    const { id, hashes } = await seedTenant(database);
    expect(await write(database, { tenantId: id }, (db) => db.select().from(tenants))).toHaveLength(1);
    expect(await findApiKey(database, hashes[0] ?? "")).toMatchObject({ tenantId: id });
  });
});

test("a login role that is a member of the application role may serve, but not administer, nor read a table without taking that role on", async () => {
  await run("create role web login noinherit password 'pw' in role scanstream_app");
  await withDatabase(urlAs("web", "plain_db"), async (database) => {
    await ping(database);
    expect(await isMigrated(database)).toBe(true);
    expect(await findApiKey(database, "0".repeat(64))).toBeNull();
    for (const table of ["tenants", "memberships", "api_keys", "runs", "findings", "audit_events"]) {
      await expect(runSql(database, `select from ${table}`), table).rejects.toMatchObject({ sqlState: "42501" });
    }
    await expect(write(database, everyTenant, (db) => db.select().from(tenants))).rejects.toMatchObject({
      sqlState: "42501",
    });
  });
});

test("a database that has no place for every character is refused", async () => {
  await run("create database latin_db owner one encoding 'LATIN1' locale 'C' template template0");
  await expect(migrate(urlAs("one", "latin_db"))).rejects.toThrow("expected a database in UTF8, not LATIN1");
});

test.each(["bypassrls", "superuser"])("an application role with %s is refused", async (attribute) => {
  await run(`create database ${attribute}_db owner one`, `alter role scanstream_app ${attribute}`);
  await expect(migrate(urlAs("one", `${attribute}_db`))).rejects.toMatchObject({
    message: expect.stringContaining("ALTER ROLE scanstream_app NOSUPERUSER NOBYPASSRLS"),
  });
  await run(`alter role scanstream_app no${attribute}`);
  await migrate(urlAs("one", `${attribute}_db`));
});
