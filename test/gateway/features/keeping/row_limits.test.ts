import { randomUUID } from "node:crypto";
import { sql, type SQL } from "drizzle-orm";
import { afterAll, expect, test } from "vitest";
import { tenants } from "../../../../drizzle/schema.ts";
import { everyTenant, write, type TenantDatabase } from "../../../../drizzle/transactions.ts";
import type { AllowedPrincipal } from "../../../../gateway/auth/principal.ts";
import { insertDecision } from "../../../../gateway/features/decisions/decision_store.ts";
import { putMonitor } from "../../../../gateway/features/runs/monitors.ts";
import { putScan } from "../../../../gateway/features/runs/scans.ts";
import { insertApiKey } from "../../../../gateway/features/team/api_key_store.ts";
import { putMember } from "../../../../gateway/features/team/member_store.ts";
import { openTestDatabase } from "../../../support/test_gateway.ts";

const database = await openTestDatabase();
afterAll(() => database.close());

const orgUrl = () => `https://${randomUUID()}.okta.com`;
const monitor = () => ({ org_url: orgUrl(), interval_seconds: 10 });
const decision = { kind: "waiver", check: "a_check", reason: "because", expires: "2099-01-31" } as const;

type Fill = (tenant: string) => SQL;
type Add = (db: TenantDatabase, principal: AllowedPrincipal) => Promise<unknown>;

/** Statements that leave one place each; rows with the `n` 0 do not count. */
const kinds: readonly (readonly [what: string, most: number, fill: Fill, add: Add])[] = [
  [
    "API keys",
    1000,
    (tenant) => sql`insert into api_keys (tenant_id, name, prefix, hash, revoked_at)
      select ${tenant}::uuid, 'ci', 'ss_1234', encode(sha256((${tenant} || n)::bytea), 'hex'), case n when 0 then now() end
      from generate_series(0, 999) as n`,
    (db, principal) => insertApiKey(db, principal, { name: "ci", scopes: ["read"], expires_at: null }),
  ],
  [
    "members",
    10_000,
    (tenant) => sql`insert into memberships (tenant_id, user_id)
      select ${tenant}::uuid, ${tenant} || n from generate_series(1, 9999) as n`,
    (db, principal) => putMember(db, principal, { sub: randomUUID() }),
  ],
  [
    "decisions",
    10_000,
    (tenant) => sql`
      insert into decisions (tenant_id, kind, "check", resource, reason, author_kind, author_id, author_name, ended_at, ended_reason)
      select ${tenant}::uuid, 'waiver', 'a_check', 'r' || n, 'because', 'user', 'ada', 'Ada', case n when 0 then now() end,
        case n when 0 then 'withdrawn' end
      from generate_series(0, 9999) as n`,
    (db, principal) => insertDecision(db, principal, { ...decision, resource: randomUUID() }),
  ],
  [
    "monitors",
    1000,
    (tenant) => sql`insert into runs (tenant_id, kind, org_url, origin, interval_seconds, started_at)
      select ${tenant}::uuid, 'monitor', 'https://acme.okta.com', 'https://acme.okta.com', 10, now() from generate_series(1, 999)`,
    (db, principal) => putMonitor(db, principal, randomUUID(), monitor()),
  ],
  [
    "organizations",
    2000,
    (tenant) => sql`insert into organizations (tenant_id, org_url)
      select ${tenant}::uuid, 'https://' || n || '.okta.com' from generate_series(1, 1999) as n`,
    (db, principal) => putScan(db, principal, { org_url: orgUrl() }),
  ],
  [
    "scans that have not ended",
    2000,
    (tenant) => sql`insert into runs (tenant_id, kind, status, ended_at)
      select ${tenant}::uuid, 'scan', case n when 0 then 'failed' else 'pending' end, case n when 0 then now() end
      from generate_series(0, 1999) as n`,
    (db, principal) => putScan(db, principal, {}, randomUUID()),
  ],
];

test.each(kinds)("%s: at most %i, and of two at once the last place goes to one", async (what, most, fill, add) => {
  const tenantId = randomUUID();
  await write(database, everyTenant, async (db) => {
    await db.insert(tenants).values({ id: tenantId, name: "acme" });
    await db.execute(fill(tenantId));
  });
  const common = { expiresAtMs: null, onlyStream: null, permission: "manage" } as const;
  const addOne = () => write(database, { tenantId }, (db) => add(db, { kind: "user", tenantId, id: "ada", ...common }));
  const both = await Promise.allSettled([addOne(), addOne()]);
  expect(both.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
  const message = expect.stringContaining(`Limit of ${most} ${what} of one tenant reached.`) as string;
  await expect(addOne()).rejects.toMatchObject({ code: "conflict", message });
});
