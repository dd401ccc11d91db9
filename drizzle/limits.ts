import { type SQL, sql } from "drizzle-orm";
import type { PgTable } from "drizzle-orm/pg-core";
import { AppError } from "../shared/app_error.ts";
import { apiKeys, decisions, isUnfinishedScan, memberships, organizations, runs } from "./schema.ts";
import type { TenantDatabase } from "./transactions.ts";

interface Limit {
  readonly table: PgTable;
  /** The rows that count, written out as the index has it; default: all of the tenant. */
  readonly which?: SQL;
  readonly most: number;
  readonly what: string;
  readonly hint: string;
}

/** How much a tenant stores at most. */
const limits = {
  apiKeys: [
    { table: apiKeys, which: sql`revoked_at is null`, most: 1000, what: "API keys", hint: "Revoke one first." },
    { table: apiKeys, most: 20_000, what: "API keys, including revoked ones,", hint: "Ask the operator." },
  ],
  decisions: [
    { table: decisions, which: sql`ended_at is null`, most: 10_000, what: "decisions", hint: "End one first." },
    { table: decisions, most: 100_000, what: "decisions, including ended ones,", hint: "Ask the operator." },
  ],
  memberships: [{ table: memberships, most: 10_000, what: "members", hint: "Remove one first." }],
  monitors: [{ table: runs, which: sql`kind = 'monitor'`, most: 1000, what: "monitors", hint: "Delete one first." }],
  organizations: [{ table: organizations, most: 2000, what: "organizations", hint: "Delete one first." }],
  scans: [
    {
      table: runs,
      which: isUnfinishedScan,
      most: 2000,
      what: "scans that have not ended",
      hint: "Wait until one ends, or end one.",
    },
  ],
} satisfies Readonly<Record<string, readonly Limit[]>>;

type Limited = keyof typeof limits;

/**
 * Called after an insert, in its transaction: rejects with `AppError("conflict")` when the tenant now has more rows than it may.
 * Transactions that add to a tenant end here one after the other, so that two at once do not both find the last place.
 */
export async function requireRoom(db: TenantDatabase, tenantId: string, ...names: readonly Limited[]): Promise<void> {
  const wanted = names.flatMap((name): readonly Limit[] => limits[name]);
  const counts = wanted.map(
    ({ table, which = sql`true`, most }) => sql`(select count(*)::integer from (
      select from ${table} where tenant_id = ${tenantId}::uuid and ${which} limit ${most + 1}::integer) as stored)`,
  );
  // A statement of its own, sent without waiting for the lock: it sees what was committed until the lock was had.
  const [, { rows }] = await Promise.all([
    lockTenant(db, tenantId),
    db.execute<{ counts: string }>(sql`select json_build_array(${sql.join(counts, sql`, `)})::text as counts`),
  ]);
  const stored: readonly number[] = JSON.parse(rows[0]?.counts ?? "[]");
  const reached = wanted.find(({ most }, index) => (stored[index] ?? 0) > most);
  if (reached === undefined) return;
  throw new AppError("conflict", `Limit of ${reached.most} ${reached.what} of one tenant reached. ${reached.hint}`);
}

/** Locks the tenant until the transaction ends; others that lock it wait. */
export async function lockTenant(db: TenantDatabase, tenantId: string): Promise<void> {
  await db.execute(sql`select pg_advisory_xact_lock(hashtextextended(${tenantId}, 0))`);
}
