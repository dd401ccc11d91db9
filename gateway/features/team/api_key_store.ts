import { eq, getTableColumns, sql } from "drizzle-orm";
import { apiKeys } from "../../../drizzle/schema.ts";
import { audit, type AuditLine } from "../../../drizzle/audit.ts";
import { requireRoom } from "../../../drizzle/limits.ts";
import type { TenantDatabase } from "../../../drizzle/transactions.ts";
import { AppError, NotFound } from "../../../shared/app_error.ts";
import { apiKeySchema, type ApiKey, type CreatedApiKey } from "../../../shared/schemas/team.ts";
import type { NewApiKey } from "./team_schemas.ts";
import { createApiKey } from "../../auth/api_keys.ts";
import { toFields } from "../stored_rows.ts";
import type { TeamActor } from "./member_store.ts";
import { newestFirst, type PageRequest } from "../../http/query.ts";

/** The API keys of the transaction's tenant. */

export type ApiKeyRow = Omit<typeof apiKeys.$inferSelect, "hash">;

/** Never the hash, which the application's role cannot read either. */
const { hash: _secret, ...notSecret } = getTableColumns(apiKeys);
export const shownApiKey = notSecret;

export function toApiKey(row: ApiKeyRow): ApiKey {
  return toFields(apiKeySchema, { table: apiKeys, row });
}

/** Newest first, one row beyond the limit; revoked ones too. */
export function selectApiKeys(db: TenantDatabase, page: PageRequest) {
  return newestFirst(db.select(shownApiKey).from(apiKeys).$dynamic(), page, { by: [apiKeys.createdAt, apiKeys.id] });
}

export async function insertApiKey(
  db: TenantDatabase,
  { kind, tenantId }: TeamActor,
  { name, scopes, expires_at: expiresAt }: NewApiKey,
): Promise<CreatedApiKey> {
  const { apiKey, prefix, hash } = await createApiKey();
  // Drizzle's insert would name every column, and the application's role may not write them all.
  const { rows } = await db.execute<{ id: string; created_at: string }>(sql`
    insert into api_keys (tenant_id, name, prefix, hash, scopes, expires_at)
    values (${tenantId}::uuid, ${name}, ${prefix}, ${hash}, ${sql.param(scopes)}::text[], ${expiresAt}::timestamptz)
    returning id, created_at`);
  const [created] = rows;
  if (created === undefined) throw new Error("Cannot create an API key: the insert returned no row");
  if (kind !== "operator") await requireRoom(db, tenantId, "apiKeys");
  const shown = {
    id: created.id,
    name,
    prefix,
    scopes,
    expires_at: expiresAt === null ? null : new Date(expiresAt).toISOString(),
    created_at: new Date(created.created_at).toISOString(),
  };
  const detail = { ...shown, revoked_at: null };
  await audit(db, [{ tenantId, action: "api_key.created", targetId: created.id, detail }]);
  return { ...shown, api_key: apiKey };
}

/** Cannot be undone; the first time counts. Its streams end with the next recheck. Rejects with `NotFound`, and with `AppError("conflict")` for the caller's own key. */
export async function revokeApiKey(db: TenantDatabase, actor: TeamActor, id: string): Promise<void> {
  if (actor.kind === "api_key" && actor.id === id) {
    throw new AppError("conflict", "A key cannot revoke itself: use another key, or ask an admin");
  }
  const { rows } = await db.execute<{ at: string }>(
    sql`select scanstream.revoke_api_key(${id}::uuid)::timestamptz(3) as at`,
  );
  const lines = rows.map(({ at }): AuditLine => {
    const detail = { revoked_at: { from: null, to: new Date(at) } };
    return { tenantId: actor.tenantId, action: "api_key.revoked", targetId: id, detail };
  });
  await audit(db, lines);
  if (rows.length > 0) return;
  const known = await db.select({ id: apiKeys.id }).from(apiKeys).where(eq(apiKeys.id, id));
  if (known.length === 0) throw new NotFound("No such API key");
}
