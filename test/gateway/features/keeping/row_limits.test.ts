import { randomUUID } from "node:crypto";
import { sql, type SQL } from "drizzle-orm";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Database } from "../../../../drizzle/database.ts";
import { createPgDatabase } from "../../../../drizzle/databases/pg.ts";
import { tenants } from "../../../../drizzle/schema.ts";
import { everyTenant, write, type TenantDatabase } from "../../../../drizzle/transactions.ts";
import type { AllowedPrincipal } from "../../../../gateway/auth/principal.ts";
import { insertDecision } from "../../../../gateway/features/decisions/decision_store.ts";
import { putMonitor } from "../../../../gateway/features/monitors/monitor_store.ts";
import { insertScan, putScan } from "../../../../gateway/features/scans/scan_store.ts";
import { insertApiKey, storeApiKey } from "../../../../gateway/features/team/api_key_store.ts";
import { putMember } from "../../../../gateway/features/team/member_store.ts";
import { openOnPostgres, type OpenPostgresDatabase } from "../../../drizzle/open_databases.ts";

let opened: OpenPostgresDatabase;
let database: Database;
beforeAll(async () => {
  opened = await openOnPostgres((url) => createPgDatabase(url, { maxConnections: 4 }));
  database = opened.database;
});
afterAll(() => opened?.close());

interface Kind {
  readonly most: number;
  /** Rows of the tenant, for each `n` of `series`. */
  readonly fill: (tenant: string, series: SQL) => SQL;
  readonly add: (db: TenantDatabase, principal: AllowedPrincipal) => Promise<unknown>;
  /** Frees a place. */
  readonly free: (tenant: string) => SQL;
}

const orgUrl = () => `https://${randomUUID()}.okta.com`;
const key = { name: "ci", scopes: ["read"], expires_at: null } as const;

const kinds: Readonly<Record<string, Kind>> = {
  "API keys": {
    most: 1000,
    fill: (tenant, series) =>
      sql`insert into api_keys (tenant_id, name, prefix, hash)
        select ${tenant}::uuid, 'ci', 'ss_1234', encode(sha256((${tenant} || n)::bytea), 'hex') from ${series}`,
    add: (db, principal) => insertApiKey(db, principal, key),
    free: (tenant) =>
      sql`update api_keys set revoked_at = now() where id = (select id from api_keys where tenant_id = ${tenant}::uuid and revoked_at is null limit 1)`,
  },
  members: {
    most: 10_000,
    fill: (tenant, series) =>
      sql`with person as (insert into users (sub) select ${tenant} || n from ${series} returning sub)
        insert into memberships (tenant_id, user_id) select ${tenant}::uuid, sub from person`,
    add: (db, principal) => putMember(db, principal, { sub: randomUUID() }),
    free: (tenant) =>
      sql`delete from memberships where user_id = (select user_id from memberships where tenant_id = ${tenant}::uuid limit 1)`,
  },
  decisions: {
    most: 10_000,
    fill: (tenant, series) =>
      sql`insert into decisions (tenant_id, kind, "check", resource, reason, author_kind, author_id, author_name)
        select ${tenant}::uuid, 'waiver', 'a_check', 'r' || n, 'because', 'user', 'ada', 'Ada' from ${series}`,
    add: (db, principal) =>
      insertDecision(db, principal, {
        kind: "waiver",
        check: "a_check",
        resource: randomUUID(),
        reason: "because",
        expires: "2099-01-31",
      }),
    free: (tenant) =>
      sql`update decisions set ended_at = now(), ended_reason = 'withdrawn' where id = (select id from decisions where tenant_id = ${tenant}::uuid and ended_at is null limit 1)`,
  },
  monitors: {
    most: 1000,
    fill: (tenant, series) =>
      sql`insert into monitors (id, tenant_id, org_url, interval_seconds)
        select gen_random_uuid(), ${tenant}::uuid, 'https://acme.okta.com', 10 from ${series}`,
    add: (db, principal) =>
      putMonitor(db, principal, { monitorId: randomUUID(), monitor: { org_url: orgUrl(), interval_seconds: 10 } }),
    free: (tenant) =>
      sql`delete from monitors where id = (select id from monitors where tenant_id = ${tenant}::uuid limit 1)`,
  },
  organizations: {
    most: 2000,
    fill: (tenant, series) =>
      sql`insert into organizations (tenant_id, org_url) select ${tenant}::uuid, 'https://' || n || '.okta.com' from ${series}`,
    add: (db, principal) => insertScan(db, principal, { org_url: orgUrl() }),
    free: (tenant) =>
      sql`delete from organizations where id = (select id from organizations where tenant_id = ${tenant}::uuid limit 1)`,
  },
  "scans that have not ended": {
    most: 2000,
    fill: (tenant, series) => sql`insert into scans (tenant_id) select ${tenant}::uuid from ${series}`,
    add: (db, principal) => putScan(db, principal, { scanId: randomUUID(), scan: {} }),
    free: (tenant) =>
      sql`update scans set status = 'failed', ended_at = now() where id = (select id from scans where tenant_id = ${tenant}::uuid and status = 'pending' limit 1)`,
  },
};

test.each(Object.entries(kinds))(
  "%s: as many as the limit says, of two at once the last place goes to one, and a place that is free is free",
  async (what, { most, fill, add, free }) => {
    const [acme, globex] = await Promise.all([tenantWith(fill, most - 1), tenantWith(fill, most - 1)]);
    const addTo = (tenantId: string) => write(database, { tenantId }, (db) => add(db, principalOf(tenantId)));
    const both = await Promise.allSettled([addTo(acme), addTo(acme)]);
    expect(both.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
    await expect(addTo(acme)).rejects.toMatchObject({
      code: "conflict",
      message: expect.stringContaining(`Limit of ${most} ${what} of one tenant reached.`) as string,
    });
    await addTo(globex);
    await write(database, everyTenant, (db) => db.execute(free(acme)));
    await addTo(acme);
  },
);

test("an operator may store more, and what is there already is no new row", async () => {
  const { fill } = kinds["scans that have not ended"] as Kind;
  const tenantId = await tenantWith(fill, 1999);
  const principal = principalOf(tenantId);
  const scanId = randomUUID();
  const put = () => write(database, { tenantId }, (db) => putScan(db, principal, { scanId, scan: {} }));
  expect((await put()).isNew).toBe(true);
  expect((await put()).isNew).toBe(false);
  await write(database, everyTenant, (db) => db.execute((kinds["API keys"] as Kind).fill(tenantId, series(1000))));
  await write(database, everyTenant, (db) => storeApiKey(db, { tenantId }, key));
});

async function tenantWith(fill: Kind["fill"], count: number): Promise<string> {
  const tenantId = randomUUID();
  await write(database, everyTenant, async (db) => {
    await db.insert(tenants).values({ id: tenantId, name: "acme" });
    await db.execute(fill(tenantId, series(count)));
  });
  return tenantId;
}

function series(count: number): SQL {
  return sql`generate_series(1, ${count}::integer) as n`;
}

function principalOf(tenantId: string): AllowedPrincipal {
  return { kind: "user", tenantId, id: "ada", expiresAtMs: null, onlyStream: null, permission: "manage" };
}
