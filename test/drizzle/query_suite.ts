import { and, eq, sql } from "drizzle-orm";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { AppError } from "../../shared/app_error.ts";
import type { Database } from "../../drizzle/database.ts";
import { constraintViolation, DatabaseError } from "../../drizzle/database_error.ts";
import { apiKeys, memberships, scans, tenants } from "../../drizzle/schema.ts";
import { expireStaleScans, findApiKey } from "../../drizzle/across_tenants.ts";
import { asOwner, isMigrated, ping, withTenant } from "../../drizzle/with_tenant.ts";
import type { OpenDatabase } from "./open_databases.ts";
import { type SeededTenant, seedTenant } from "./seed.ts";

/** What every driver has in common: values, transactions, errors, and the queries across tenants. */
export function describeQueries(driver: string, open: () => Promise<OpenDatabase>): void {
  describe(`queries over ${driver}`, () => {
    let opened: OpenDatabase;
    let database: Database;
    let acme: SeededTenant;
    let globex: SeededTenant;

    beforeAll(async () => {
      opened = await open();
      database = opened.database;
      acme = await seedTenant(database);
      globex = await seedTenant(database, "globex");
    });
    afterAll(() => opened?.close());

    test("ping and isMigrated succeed", async () => {
      await ping(database);
      expect(await isMigrated(database)).toBe(true);
    });

    test("values come back as they were written", async () => {
      const orgUrl = "quotes ' \" back\\slash {a,b} $1 \n\t π 🙂 NULL";
      const startedAt = new Date("2026-02-03T04:05:06.789Z");
      const [written] = await withTenant(database, acme.id, (db) =>
        db
          .insert(scans)
          .values({
            tenantId: acme.id,
            orgUrl,
            clientId: null,
            startedAt,
            checksTotal: 2_147_483_647,
            cancelRequested: true,
          })
          .returning(),
      );
      const [read] = await withTenant(database, acme.id, (db) =>
        db
          .select()
          .from(scans)
          .where(and(eq(scans.id, written?.id ?? ""), eq(scans.startedAt, startedAt))),
      );
      expect(read).toEqual(written);
      expect(read).toMatchObject({
        orgUrl,
        clientId: null,
        startedAt,
        checksTotal: 2_147_483_647,
        cancelRequested: true,
      });
      expect(read?.createdAt).toBeInstanceOf(Date);
      expect(Math.abs(Date.now() - (read?.createdAt.getTime() ?? 0))).toBeLessThan(1_800_000);
    });

    test("raw SQL gives objects; parameters may be of any kind that Postgres has a text form of", async () => {
      const [row] = await withTenant(database, acme.id, (db) =>
        db.execute(sql`select ${true}::bool as yes, ${7}::int as seven, ${12345678901234567890n}::numeric as big,
          ${new Date(0)}::timestamptz = 'epoch' as epoch, ${sql.param(["a", 'b"\\,{}', null])}::text[] as list,
          ${sql.param({ a: ["1"] })}::jsonb ->> 'a' as json, ${sql.param(new Uint8Array([0, 255]))}::bytea = '\\x00ff' as bytes,
          ${null}::text as nothing, 'two words' as "two words", count(*) as n from scans where false`),
      );
      expect(row).toEqual({
        yes: true,
        seven: 7,
        big: "12345678901234567890",
        epoch: true,
        list: `{a,"b\\"\\\\,{}",NULL}`,
        json: '["1"]',
        bytes: true,
        nothing: null,
        "two words": "two words",
        n: "0",
      });
    });

    test("a parameter without a text form is a TypeError, and the connection lives on", async () => {
      const circular: { self?: unknown } = {};
      circular.self = circular;
      for (const value of [circular, () => 1, Symbol("s")]) {
        await expect(database.transact([{ sql: "select $1", params: [value] }])).rejects.toThrow(TypeError);
      }
      await ping(database);
    });

    test("statements of one transaction stand or fall together", async () => {
      const insert = (name: string) => ({ sql: "insert into tenants (name) values ($1)", params: [name] });
      const admin = { sql: "select set_config('role', 'scanstream_admin', true)", params: [] };
      const names = async () => {
        const rows = await asOwner(database, (db) => db.select({ name: tenants.name }).from(tenants));
        return rows.map(({ name }) => name).filter((name) => name.startsWith("all-"));
      };

      await expect(database.transact([admin, insert("all-1"), insert("")])).rejects.toBeInstanceOf(DatabaseError);
      expect(await names()).toEqual([]);
      await expect(
        database.transact([admin, insert("all-2"), { sql: "bogus", params: [] }, insert("all-3")]),
      ).rejects.toBeInstanceOf(DatabaseError);
      expect(await names()).toEqual([]);
      await database.transact([admin, insert("all-4"), insert("all-5")]);
      expect((await names()).sort()).toEqual(["all-4", "all-5"]);
    });

    test("the rows are the last statement's, also when it has none", async () => {
      const one = { sql: "select 1 as one", params: [] };
      const none = { sql: "set local application_name = 'x'", params: [] };
      expect(await database.transact([one, { sql: "select 2 as two, null::int as three", params: [] }])).toEqual({
        columns: ["two", "three"],
        rows: [[2, null]],
      });
      expect((await database.transact([one, none])).rows).toEqual([]);
      expect((await database.transact([one, { sql: "select 1 as one where false", params: [] }])).rows).toEqual([]);
    });

    test("a violated constraint is reported by kind and name, without a value in the message", async () => {
      const secret = "do-not-log-me";
      const refused = async (work: Promise<unknown>) => {
        const error: unknown = await work.catch((reason: unknown) => reason);
        expect(error).toBeInstanceOf(DatabaseError);
        expect(String(error)).not.toContain(secret);
        expect(error).not.toHaveProperty("cause", expect.anything());
        return constraintViolation(error);
      };
      const [hash = ""] = acme.hashes;
      const key = { tenantId: acme.id, name: secret, prefix: "p", hash };
      expect(await refused(asOwner(database, (db) => db.insert(apiKeys).values(key)))).toEqual({
        kind: "unique",
        constraint: "api_keys_hash",
      });
      expect(
        await refused(asOwner(database, (db) => db.insert(memberships).values({ tenantId: acme.id, userId: secret }))),
      ).toMatchObject({ kind: "foreign_key" });
      expect(await refused(asOwner(database, (db) => db.insert(apiKeys).values({ ...key, hash: secret })))).toEqual({
        kind: "check",
        constraint: "api_keys_hash_is_sha256_hex",
      });
      expect(
        await refused(asOwner(database, (db) => db.execute(sql`insert into tenants (name) values (${null})`))),
      ).toEqual({ kind: "not_null", constraint: null });
      expect(await refused(withTenant(database, acme.id, (db) => db.execute(sql`select ${secret}::uuid`)))).toBeNull();
      expect(
        await refused(withTenant(database, acme.id, (db) => db.execute(sql`select ${`${secret}\0`}::text`))),
      ).toBeNull();
    });

    test("findApiKey notes the use once a minute, of that key only", async () => {
      const [hash = "", other = ""] = globex.hashes;
      const lastUse = async (ofHash: string) => {
        const [key] = await asOwner(database, (db) => db.select().from(apiKeys).where(eq(apiKeys.hash, ofHash)));
        return key?.lastUsedAt ?? null;
      };
      expect(await lastUse(hash)).toBeNull();
      await Promise.all(Array.from({ length: 5 }, () => findApiKey(database, hash)));
      const first = await lastUse(hash);
      expect(first).not.toBeNull();
      await findApiKey(database, hash);
      expect(await lastUse(hash)).toEqual(first);
      await asOwner(database, (db) =>
        db
          .update(apiKeys)
          .set({ lastUsedAt: new Date(Date.now() - 61_000) })
          .where(eq(apiKeys.hash, hash)),
      );
      await findApiKey(database, hash);
      expect((await lastUse(hash))?.getTime()).toBeGreaterThanOrEqual(first?.getTime() ?? Infinity);
      expect(await lastUse(other)).toBeNull();
    });

    test("expireStaleScans never goes below a minute", async () => {
      await expireStaleScans(database, 1);
      await asOwner(database, (db) =>
        db.insert(scans).values({ tenantId: acme.id, updatedAt: new Date(Date.now() - 55_000) }),
      );
      for (const minutes of [0.99, 0, -1, NaN, Infinity, 1_000_001]) {
        await expect(expireStaleScans(database, minutes)).rejects.toThrow(RangeError);
      }
      expect(await expireStaleScans(database, 1)).toEqual([]);
      const asApplication = { sql: "select set_config('role', 'scanstream_app', true)", params: [] };
      const { rows } = await database.transact([
        asApplication,
        { sql: "select scanstream.expire_stale_scans(0)", params: [] },
      ]);
      expect(rows).toEqual([]);
    });

    test("a closed database is unavailable, and closing it again is fine", async () => {
      const other = await open();
      await other.database.close();
      await other.database.close();
      await expect(ping(other.database)).rejects.toMatchObject({ code: "unavailable" });
      await expect(ping(other.database)).rejects.toBeInstanceOf(AppError);
      await other.close();
    });
  });
}
