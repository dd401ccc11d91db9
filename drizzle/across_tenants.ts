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
    db.execute<{ key: string }>(sql`
      select json_build_object('id', id, 'tenantId', tenant_id, 'name', name, 'scopes', scopes, 'isValid', is_valid,
        'expiresAtMs', floor(extract(epoch from expires_at) * 1000)::bigint)::text as key
      from scanstream.find_api_key(${hash})`),
  );
  return rows[0] === undefined ? null : JSON.parse(rows[0].key);
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
