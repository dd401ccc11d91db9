import { randomUUID } from "node:crypto";
import { sql } from "drizzle-orm";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createPgDatabase } from "../../drizzle/databases/pg.ts";
import type { Database } from "../../drizzle/database.ts";
import { tenants } from "../../drizzle/schema.ts";
import { everyTenant, write } from "../../drizzle/transactions.ts";
import { createTestDatabase } from "../support/postgres.ts";
import { suitePostgres } from "../support/suite_postgres.ts";

let database: Database;
let close: () => Promise<void>;
beforeAll(async () => {
  const postgres = await suitePostgres();
  const { ownerUrl, drop } = await createTestDatabase(postgres.adminUrl);
  database = createPgDatabase(ownerUrl, { maxConnections: 4 });
  close = async () => {
    await database.close();
    await drop();
    await postgres.stop();
  };
});
afterAll(() => close());

/** Rows of one tenant, `count` of them from `first`; the bound, and what takes one away. */
const kinds = {
  "API keys": {
    most: 1000,
    insert: (tenant: string, first: number, count: number) =>
      sql`insert into api_keys (tenant_id, name, prefix, hash, scopes)
        select ${tenant}::uuid, 'ci', 'ss_1234', encode(sha256((${tenant} || n)::bytea), 'hex'), '{read}'
        from generate_series(${first}::int, ${first + count - 1}::int) as n`,
    free: (tenant: string) =>
      sql`update api_keys set revoked_at = now() where id = (select id from api_keys where tenant_id = ${tenant}::uuid and revoked_at is null limit 1)`,
  },
  members: {
    most: 10_000,
    insert: (tenant: string, first: number, count: number) =>
      sql`insert into memberships (tenant_id, user_id)
        select ${tenant}::uuid, scanstream.register_user(${tenant} || n) from generate_series(${first}::int, ${first + count - 1}::int) as n`,
    free: (tenant: string) =>
      sql`delete from memberships where user_id = (select user_id from memberships where tenant_id = ${tenant}::uuid limit 1)`,
  },
  decisions: {
    most: 10_000,
    insert: (tenant: string, first: number, count: number) =>
      sql`insert into decisions (tenant_id, kind, "check", resource, reason, author_kind, author_id, author_name)
        select ${tenant}::uuid, 'waiver', 'a_check', 'r' || n, 'because', 'user', 'ada', 'Ada' from generate_series(${first}::int, ${first + count - 1}::int) as n`,
    free: (tenant: string) =>
      sql`update decisions set ended_at = now(), ended_reason = 'withdrawn' where id = (select id from decisions where tenant_id = ${tenant}::uuid and ended_at is null limit 1)`,
  },
  monitors: {
    most: 1000,
    insert: (tenant: string, _first: number, count: number) =>
      sql`insert into monitors (id, tenant_id, org_url, interval_seconds)
        select gen_random_uuid(), ${tenant}::uuid, 'https://acme.okta.com', 10 from generate_series(1, ${count}::int)`,
    free: (tenant: string) =>
      sql`delete from monitors where id = (select id from monitors where tenant_id = ${tenant}::uuid limit 1)`,
  },
  "scans that have not ended": {
    most: 2000,
    insert: (tenant: string, _first: number, count: number) =>
      sql`insert into scans (tenant_id) select ${tenant}::uuid from generate_series(1, ${count}::int)`,
    free: (tenant: string) =>
      sql`update scans set status = 'failed', ended_at = now() where id = (select id from scans where tenant_id = ${tenant}::uuid and status = 'pending' limit 1)`,
  },
} as const;

test.each(Object.entries(kinds))(
  "%s: as many as the bound says, of two at once the last place goes to one, and a place that is free is free",
  async (what, { most, insert, free }) => {
    const [tenant, other] = [randomUUID(), randomUUID()];
    const add = (id: string, first: number, count: number) =>
      write(database, { tenantId: id }, (db) => db.execute(insert(id, first, count)));
    await write(database, everyTenant, (db) =>
      db.insert(tenants).values([
        { id: tenant, name: "acme" },
        { id: other, name: "globex" },
      ]),
    );
    await add(tenant, 1, most - 1);
    const both = await Promise.allSettled([add(tenant, most, 1), add(tenant, most + 1, 1)]);
    expect(both.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
    await expect(add(tenant, most + 2, 1)).rejects.toMatchObject({
      code: "conflict",
      message: expect.stringContaining(`Limit of ${most} ${what} of one tenant reached.`) as string,
    });
    await add(other, 1, 1);
    await write(database, everyTenant, (db) => db.execute(free(tenant)));
    await add(tenant, most + 3, 1);
  },
);

test("one statement cannot jump over, and an operator may store more", async () => {
  const tenant = randomUUID();
  await write(database, everyTenant, (db) => db.insert(tenants).values({ id: tenant, name: "acme" }));
  const add = (count: number) =>
    write(database, { tenantId: tenant }, (db) => db.execute(kinds.monitors.insert(tenant, 1, count)));
  await expect(add(1001)).rejects.toMatchObject({ code: "conflict" });
  await add(1000);
  await expect(add(1)).rejects.toMatchObject({ code: "conflict" });
  await write(database, everyTenant, (db) => db.execute(kinds.monitors.insert(tenant, 1, 1)));
});
