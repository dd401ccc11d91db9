import { randomUUID } from "node:crypto";
import { and, eq, sql } from "drizzle-orm";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Database } from "../../drizzle/database.ts";
import { DatabaseError } from "../../drizzle/database_error.ts";
import { apiKeys, memberships, runs, tenants } from "../../drizzle/schema.ts";
import { everyTenant, read, readOne, write, type TenantDatabase } from "../../drizzle/transactions.ts";
import { pause } from "../../shared/abortable.ts";
import { runSql } from "../support/watched_database.ts";
import type { OpenDatabase } from "./open_databases.ts";
import { type SeededTenant, seedTenant } from "./seed.ts";

/** Behavior of every driver: values, transactions and errors. */
export function describeQueries(driver: string, open: () => Promise<OpenDatabase>): void {
  describe(`queries over ${driver}`, () => {
    let opened: OpenDatabase;
    let database: Database;
    let acme: SeededTenant;

    beforeAll(async () => {
      opened = await open();
      database = opened.database;
      acme = await seedTenant(database);
    });
    afterAll(() => opened?.close());
    const aScan = () => ({ tenantId: acme.id, kind: "scan" }) as const;

    test("values come back as they were written", async () => {
      const orgUrl = "quotes ' \" back\\slash {a,b} $1 \n\t π 🙂 NULL";
      const startedAt = new Date("2026-02-03T04:05:06.789Z");
      const given = { orgUrl, clientId: null, startedAt, checksTotal: 2_147_483_647, cancelRequested: true };
      const [written] = await write(database, { tenantId: acme.id }, (db) =>
        db
          .insert(runs)
          .values({ ...aScan(), ...given })
          .returning(),
      );
      const [read] = await write(database, { tenantId: acme.id }, (db) =>
        db
          .select()
          .from(runs)
          .where(and(eq(runs.id, written?.id ?? ""), eq(runs.startedAt, startedAt))),
      );
      expect(read).toEqual(written);
      expect(read).toMatchObject(given);
      expect(read?.createdAt).toBeInstanceOf(Date);
      expect(Math.abs(Date.now() - (read?.createdAt.getTime() ?? 0))).toBeLessThan(1_800_000);
    });

    test("a transaction is stored as a whole or not at all", async () => {
      const insert = (name: string) => `insert into tenants (name) values ('${name}')`;
      const asOwner = (...statements: readonly string[]) =>
        runSql(database, "set local role scanstream_admin", ...statements);
      const names = async () => {
        const rows = await write(database, everyTenant, (db) => db.select({ name: tenants.name }).from(tenants));
        return rows.map(({ name }) => name).filter((name) => name.startsWith("all-"));
      };

      await expect(asOwner(insert("all-1"), "select 1 / 0")).rejects.toBeInstanceOf(DatabaseError);
      await expect(asOwner(insert("all-2"), "bogus", insert("all-3"))).rejects.toBeInstanceOf(DatabaseError);
      const thrown = write(database, everyTenant, async (db) => {
        await db.execute(insert("all-4"));
        throw new RangeError("mine");
      });
      await expect(thrown).rejects.toThrow(new RangeError("mine"));
      expect(await names()).toEqual([]);
      await asOwner(insert("all-5"), insert("all-6"));
      expect((await names()).sort()).toEqual(["all-5", "all-6"]);
    });

    test("a transaction in which a statement failed is an error, although its work went on", async () => {
      const swallowed = write(database, everyTenant, async (db) => {
        await db.execute("insert into tenants (name) values ('swallowed')");
        await db.execute("select 1 / 0").catch(() => undefined);
      });
      await expect(swallowed).rejects.toThrow("Cannot commit");
      const { rows } = await readOne(database, everyTenant, (db) =>
        db.execute("select from tenants where name = 'swallowed'"),
      );
      expect(rows).toEqual([]);
    });

    test("read has the application's role, sees one state while others store, and cannot write", async () => {
      const state = "select current_user as role, current_setting('transaction_isolation') as state";
      const { rows } = await read(database, { tenantId: acme.id }, (db) => db.execute(state));
      expect(rows).toEqual([{ role: "scanstream_app", state: "repeatable read" }]);
      const written = read(database, { tenantId: acme.id }, (db) => db.insert(runs).values(aScan()));
      await expect(written).rejects.toMatchObject({ sqlState: "25006" });
    });

    test("without the authority no statement runs, and its error is the one that is thrown", async () => {
      const caller = { tenantId: acme.id, authority: "select 1 / 0" };
      const insert = sql`insert into runs (tenant_id, kind, org_url) values (${acme.id}::uuid, 'scan', 'unauthorized')`;
      const divisionByZero = { sqlState: "22012" };
      await expect(write(database, caller, (db) => db.execute(insert))).rejects.toMatchObject(divisionByZero);
      await expect(write(database, caller, async () => "no query")).rejects.toMatchObject(divisionByZero);
      await expect(readOne(database, caller, (db) => db.execute(insert))).rejects.toMatchObject(divisionByZero);
      await expect(write(database, caller, async () => Promise.reject(new RangeError("mine")))).rejects.toMatchObject(
        divisionByZero,
      );
      const found = await readOne(database, { tenantId: acme.id }, (db) =>
        db.select().from(runs).where(eq(runs.orgUrl, "unauthorized")),
      );
      expect(found).toEqual([]);
    });

    test("role and tenant end with the transaction, also when it fails, also when it set them for the session", async () => {
      const globex = randomUUID();
      const session = async () => {
        const rows = await runSql(
          database,
          "select current_user = session_user, coalesce(current_setting('app.tenant_id', true), '')",
        );
        return rows[0];
      };
      await write(database, { tenantId: acme.id }, (db) => db.select().from(runs));
      expect(await session()).toEqual([true, ""]);

      await expect(write(database, { tenantId: acme.id }, (db) => db.execute("select 1 / 0"))).rejects.toThrow();
      expect(await session()).toEqual([true, ""]);

      await write(database, { tenantId: acme.id }, (db) =>
        db.execute(
          `select set_config('app.tenant_id', '${globex}', false), set_config('search_path', 'pg_catalog', false)`,
        ),
      );
      const rows = await write(database, { tenantId: acme.id }, (db) =>
        db.select({ tenantId: runs.tenantId }).from(runs),
      );
      expect(new Set(rows.map(({ tenantId }) => tenantId))).toEqual(new Set([acme.id]));
      await runSql(
        database,
        "select set_config('app.tenant_id', '', false)",
        "select set_config('search_path', 'public', false)",
      );
    });

    test("a query after the end of its transaction is refused", async () => {
      const { promise, resolve } = Promise.withResolvers<TenantDatabase>();
      await write(database, { tenantId: acme.id }, async (db) => resolve(db));
      const late = (await promise).select().from(runs);
      await expect(late).rejects.toMatchObject({ cause: { sqlState: "25000" } });
      const insert = (db: TenantDatabase) => db.execute("insert into tenants (name) values ('late')");
      let outcomes: Promise<readonly { readonly status: string }[]> = Promise.resolve([]);
      const failed = write(database, everyTenant, async (db) => {
        const fail = async () => db.execute("bogus");
        const both = [fail(), fail().catch(() => insert(db))];
        // Also while the rollback is on its way.
        outcomes = Promise.allSettled([...both, pause(0, []).then(() => insert(db))]);
        await Promise.all(both);
      });
      await expect(failed).rejects.toMatchObject({ sqlState: "42601" });
      expect((await outcomes).map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
    });

    test("a refused statement is reported without a value in the message", async () => {
      const secret = "do-not-log-me";
      const key = { tenantId: acme.id, name: secret, prefix: "p", hash: acme.hashes[0] ?? "" };
      const refused: readonly (readonly [sqlState: string, work: (db: TenantDatabase) => Promise<unknown>])[] = [
        ["23505", async (db) => db.insert(apiKeys).values(key)],
        ["23514", async (db) => db.insert(runs).values({ ...aScan(), clientId: secret, endedAt: new Date() })],
        ["22P02", async (db) => db.execute(sql`select ${secret}::uuid`)],
        ["22021", async (db) => db.execute(sql`select ${`${secret}\0`}::text`)],
      ];
      for (const [sqlState, work] of refused) {
        const error: unknown = await write(database, everyTenant, work).catch((reason: unknown) => reason);
        expect(error).toMatchObject({ name: "DatabaseError", sqlState });
        expect(String(error)).not.toContain(secret);
        expect(error).not.toHaveProperty("cause", expect.anything());
      }
      const ofDeleted = { tenantId: randomUUID(), userId: secret };
      const late = write(database, everyTenant, async (db) => db.insert(memberships).values(ofDeleted));
      await expect(late).rejects.toThrow(/^The tenant was deleted$/);
    });
  });
}
