import { sql } from "drizzle-orm";
import type { Scope } from "../shared/schemas/team.ts";
import type { Database } from "./database.ts";
import type { Due } from "./feature_tables.ts";
import { noTenant, readOne } from "./transactions.ts";

/** Queries without a known tenant, or across all of them: each is a function of the database with its owner's rights. */

export interface FoundApiKey {
  /** False: it was revoked or has expired. */
  readonly isValid: boolean;
  readonly id: string;
  readonly tenantId: string;
  readonly name: string;
  readonly scopes: readonly Scope[];
  /** Null: it does not expire. */
  readonly expiresAtMs: number | null;
}

/**
 * The key with exactly this SHA-256 (lower-case hex), or null. One round trip. Whose key it
 * is, only the answer says: until then `holder` waits for the database in turns with others.
 */
export async function findApiKey(database: Database, hash: string, holder = hash): Promise<FoundApiKey | null> {
  const { rows } = await readOne(database, { ...noTenant, holder }, (db) =>
    db.execute<{
      id: string;
      tenant_id: string;
      name: string;
      scopes: string;
      expires_at_ms: string | null;
      is_valid: boolean;
    }>(sql`
      select id, tenant_id, name, array_to_json(scopes)::text as scopes,
        floor(extract(epoch from expires_at) * 1000)::bigint as expires_at_ms, is_valid
      from scanstream.find_api_key(${hash})`),
  );
  const [row] = rows;
  if (row === undefined) return null;
  const expiresAtMs = row.expires_at_ms === null ? null : Number(row.expires_at_ms);
  return {
    id: row.id,
    tenantId: row.tenant_id,
    name: row.name,
    scopes: JSON.parse(row.scopes),
    expiresAtMs,
    isValid: row.is_valid,
  };
}

/** The tenant of the row that has been due for longest by this index, and for so long; null: none is. */
export async function findDueTenant(database: Database, due: Due, afterSeconds: number): Promise<string | null> {
  const { rows } = await readOne(database, noTenant, (db) =>
    db.execute<{ id: string | null }>(
      sql`select scanstream.find_due_tenant(${due}, ${afterSeconds}::double precision) as id`,
    ),
  );
  return rows[0]?.id ?? null;
}
