import { and, asc, eq, isNull, sql } from "drizzle-orm";
import type { Database } from "../../drizzle/database.ts";
import { DatabaseError } from "../../drizzle/database_error.ts";
import { audit, auditRows } from "../../drizzle/audit.ts";
import { apiKeys, auditEvents, memberships, tenants } from "../../drizzle/schema.ts";
import { everyTenant, write } from "../../drizzle/transactions.ts";
import { AppError, NotFound } from "../../shared/app_error.ts";
import { type ApiKey, type AuditEvent, type Member, type Role } from "../../shared/schemas/team.ts";
import { revocation, shownApiKey, storeApiKey, toApiKey, type ApiKeyRow } from "../features/team/api_key_store.ts";
import { newestFirst, selectShownEvents, toAuditEvent } from "../features/team/audit_store.ts";
import { removeMember, shownMember, storeMember, toMember } from "../features/team/member_store.ts";
import {
  parseExpiresAt,
  parseLimit,
  parseName,
  parseRole,
  parseScopes,
  parseSub,
  parseTenantId,
  parseTtlSeconds,
  parseUuid,
  type AdminArguments,
} from "./arguments.ts";
import { mapForeignKeyToNotFound, requireTenant, withKnownTenant } from "./known_tenant.ts";
import type { DevelopmentKey } from "./local_state.ts";
import { deleteTenantAs, exportHeader, exportPage, renameTenantAs } from "./tenant_operations.ts";

export type AdminOperation =
  | "tenant.create"
  | "tenant.list"
  | "tenant.rename"
  | "tenant.delete"
  | "tenant.export-header"
  | "tenant.export-page"
  | "user.create"
  | "user.list"
  | "user.remove"
  | "api-key.create"
  | "api-key.list"
  | "api-key.revoke"
  | "audit.list"
  | "token.create";

export interface AdminContext {
  readonly database: Database;
  /** Null while an issuer is configured: its tokens are made there. */
  readonly developmentKey: (() => Promise<DevelopmentKey>) | null;
  readonly tenantClaim: string;
  readonly nowMs: () => number;
}

interface Tenant {
  readonly id: string;
  readonly name: string;
}

interface TenantApiKey extends ApiKey {
  readonly tenant_id: string;
}

/**
 * Runs one administrative operation over all tenants; the result is JSON. Rejects with `AppError`: `invalid` for a bad
 * argument, `not_found`, `conflict`, `permission_denied`, `unavailable`.
 */
export async function executeAdmin(
  context: AdminContext,
  operation: AdminOperation,
  args: AdminArguments,
): Promise<unknown> {
  try {
    return await operations[operation](context, args);
  } catch (error) {
    if (error instanceof DatabaseError && error.sqlState === roleDenied) {
      throw new AppError(
        "permission_denied",
        "Cannot administrate: the role of DATABASE_URL is not the database's owner",
      );
    }
    throw error;
  }
}

const roleDenied = "42501";

async function createTenant({ database }: AdminContext, args: AdminArguments): Promise<Tenant> {
  const name = parseName(args);
  return write(database, everyTenant, async (db) => {
    const [row] = await db.insert(tenants).values({ name }).returning();
    if (row === undefined) throw new Error("Cannot create a tenant: the insert returned no row");
    const { id } = row;
    await auditRows(db, "tenant.created", tenants, [{ ...row, tenantId: id }]);
    return { id, name };
  });
}

async function listTenants({ database }: AdminContext): Promise<readonly Tenant[]> {
  return write(database, everyTenant, (db) =>
    db.select({ id: tenants.id, name: tenants.name }).from(tenants).orderBy(asc(tenants.createdAt), asc(tenants.id)),
  );
}

/** Makes the subject a member with the role. Doing it again changes the role, where one is named. */
async function createUser(
  { database }: AdminContext,
  args: AdminArguments,
): Promise<{ readonly tenant_id: string; readonly sub: string; readonly role: Role }> {
  const tenantId = parseTenantId(args);
  const sub = parseSub(args);
  const role = parseRole(args);
  const { member } = await mapForeignKeyToNotFound(tenantId, () =>
    write(database, everyTenant, (db) => storeMember(db, { tenantId }, { sub, role: role ?? undefined })),
  );
  return { tenant_id: tenantId, sub, role: member.role };
}

async function listUsers({ database }: AdminContext, args: AdminArguments): Promise<readonly Member[]> {
  const tenantId = parseTenantId(args);
  const rows = await write(database, everyTenant, (db) =>
    db
      .select(shownMember)
      .from(memberships)
      .where(eq(memberships.tenantId, tenantId))
      .orderBy(asc(memberships.createdAt), asc(memberships.userId)),
  );
  if (rows.length === 0) await requireTenant(database, tenantId);
  return rows.map(toMember);
}

/** Ends a membership; the member's streams close within the recheck interval. */
async function removeUser(
  { database }: AdminContext,
  args: AdminArguments,
): Promise<{ readonly tenant_id: string; readonly sub: string; readonly removed: true }> {
  const tenantId = parseTenantId(args);
  const sub = parseSub(args);
  try {
    await write(database, everyTenant, (db) => removeMember(db, { tenantId }, sub));
  } catch (error) {
    if (!(error instanceof NotFound)) throw error;
    throw new NotFound(`Cannot remove a user: ${JSON.stringify(sub)} is not a member of tenant ${tenantId}`);
  }
  return { tenant_id: tenantId, sub, removed: true };
}

async function createTenantApiKey(
  { database, nowMs }: AdminContext,
  args: AdminArguments,
): Promise<Omit<TenantApiKey, "created_at" | "last_used_at" | "revoked_at"> & { readonly api_key: string }> {
  const tenantId = parseTenantId(args);
  const name = parseName(args);
  const scopes = parseScopes(args);
  const expiresAt = parseExpiresAt(args, nowMs());
  const key = { name, scopes: [...scopes], expires_at: expiresAt?.toISOString() ?? null };
  const created = await mapForeignKeyToNotFound(tenantId, () =>
    write(database, everyTenant, (db) => storeApiKey(db, { tenantId }, key)),
  );
  const { id, prefix, api_key: apiKey } = created;
  return { id, tenant_id: tenantId, prefix, ...key, api_key: apiKey };
}

async function listApiKeys({ database }: AdminContext, args: AdminArguments): Promise<readonly TenantApiKey[]> {
  const tenantId = parseTenantId(args);
  const rows = await write(database, everyTenant, (db) =>
    db
      .select(shownApiKey)
      .from(apiKeys)
      .where(eq(apiKeys.tenantId, tenantId))
      .orderBy(asc(apiKeys.createdAt), asc(apiKeys.id)),
  );
  if (rows.length === 0) await requireTenant(database, tenantId);
  return rows.map(toTenantApiKey);
}

/** Ends a key; the first time counts. */
async function revokeApiKey({ database }: AdminContext, args: AdminArguments): Promise<TenantApiKey> {
  const id = parseUuid(args["id"], "the API key's id");
  const [row] = await write(database, everyTenant, async (db) => {
    const isKey = eq(apiKeys.id, id);
    const revoked = await db
      .update(apiKeys)
      .set({ revokedAt: sql`now()` })
      .where(and(isKey, isNull(apiKeys.revokedAt)))
      .returning(shownApiKey);
    await audit(db, revoked.map(revocation));
    return revoked.length > 0 ? revoked : db.select(shownApiKey).from(apiKeys).where(isKey);
  });
  if (row === undefined) throw new NotFound(`Cannot revoke the API key: no key has the id ${id}`);
  return toTenantApiKey(row);
}

const defaultAuditLimit = 50;

/** The audit trail, newest first. */
async function listAuditEvents({ database }: AdminContext, args: AdminArguments): Promise<readonly AuditEvent[]> {
  const tenantId = parseTenantId(args);
  const limit = parseLimit(args, defaultAuditLimit);
  const rows = await write(database, everyTenant, (db) =>
    selectShownEvents(db)
      .where(eq(auditEvents.tenantId, tenantId))
      .orderBy(...newestFirst)
      .limit(limit),
  );
  if (rows.length === 0) await requireTenant(database, tenantId);
  return rows.map(toAuditEvent);
}

/** A JWT that this gateway accepts while no issuer is configured. */
async function createToken(
  { database, developmentKey, tenantClaim, nowMs }: AdminContext,
  args: AdminArguments,
): Promise<{ readonly access_token: string; readonly expires_at: string }> {
  if (developmentKey === null) {
    throw new AppError("conflict", "Cannot make a token: AUTH_JWKS… is set, so tokens come from its issuer");
  }
  const tenantId = parseTenantId(args);
  const sub = parseSub(args);
  const issuedAtSeconds = Math.floor(nowMs() / 1000);
  const expiresAtSeconds = issuedAtSeconds + parseTtlSeconds(args);
  await requireTenant(database, tenantId);
  const key = await developmentKey();
  const accessToken = await key.sign({ tenantClaim, tenantId, sub, issuedAtSeconds, expiresAtSeconds });
  return { access_token: accessToken, expires_at: new Date(expiresAtSeconds * 1000).toISOString() };
}

const operations: Readonly<Record<AdminOperation, (context: AdminContext, args: AdminArguments) => Promise<unknown>>> =
  {
    "tenant.create": createTenant,
    "tenant.list": listTenants,
    "tenant.rename": ({ database }, args) =>
      withKnownTenant(args, (tenantId) => renameTenantAs(database, tenantId, parseName(args))),
    "tenant.delete": ({ database }, args) =>
      withKnownTenant(args, (tenantId) => deleteTenantAs(database, tenantId, args["confirm"])),
    "tenant.export-header": ({ database, nowMs }, args) =>
      withKnownTenant(args, (tenantId) => exportHeader(database, tenantId, nowMs())),
    "tenant.export-page": ({ database }, args) =>
      exportPage(database, parseTenantId(args), { table: args["table"], after: args["after"] }),
    "user.create": createUser,
    "user.list": listUsers,
    "user.remove": removeUser,
    "api-key.create": createTenantApiKey,
    "api-key.list": listApiKeys,
    "api-key.revoke": revokeApiKey,
    "audit.list": listAuditEvents,
    "token.create": createToken,
  };

/** A key's id says nothing of its tenant. */
function toTenantApiKey(row: ApiKeyRow): TenantApiKey {
  const { id, ...fields } = toApiKey(row);
  return { id, tenant_id: row.tenantId, ...fields };
}
