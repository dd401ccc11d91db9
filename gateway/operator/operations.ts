import { asc, desc, eq } from "drizzle-orm";
import * as v from "valibot";
import type { Database } from "../../drizzle/database.ts";
import { DatabaseError } from "../../drizzle/database_error.ts";
import { audit, columnsOf, type AuditLine } from "../../drizzle/audit.ts";
import { apiKeys, auditEvents, memberships, tenants } from "../../drizzle/schema.ts";
import { everyTenant, write, type Caller, type TenantDatabase } from "../../drizzle/transactions.ts";
import { AppError, NotFound } from "../../shared/app_error.ts";
import { instant, uuid } from "../../shared/schemas/primitives.ts";
import { roleSchema, scopeSchema } from "../../shared/schemas/team.ts";
import { deleteInBatches } from "../features/stored_rows.ts";
import { insertApiKey, revokeApiKey, shownApiKey, toApiKey, type ApiKeyRow } from "../features/team/api_key_store.ts";
import { selectShownEvents, toAuditEvent } from "../features/team/audit_store.ts";
import { deleteMember, putMember, shownMember, toMember, type TeamActor } from "../features/team/member_store.ts";
import { defaultScopes, line } from "../features/team/team_schemas.ts";
import { deleteTenantStep, renameTenant } from "../features/tenant/tenant_store.ts";
import type { DevelopmentKey } from "./local_state.ts";

export interface AdminContext {
  readonly database: Database;
  /** Absent while an issuer is configured: its tokens are made there. */
  readonly developmentKey?: () => Promise<DevelopmentKey>;
  /** Default `tenant_id`. */
  readonly tenantClaim?: string;
}

interface Call extends AdminContext {
  readonly args: AdminArguments;
  /** An argument, parsed. Throws `AppError("invalid")`. */
  readonly given: <Name extends ArgumentName>(name: Name) => ParsedArgument<Name>;
  /** A transaction that sees every tenant. */
  readonly inAll: <Result>(work: (db: TenantDatabase) => Promise<Result>) => Promise<Result>;
  /** As `inAll`, about the tenant that `--tenant` names. Rejects with `NotFound`. */
  readonly inTenant: <Result>(work: (db: TenantDatabase, tenant: Operator) => Promise<Result>) => Promise<Result>;
}

export type AdminOperation = keyof typeof operations;

/**
 * Runs one administrative operation over all tenants; the result is JSON. Rejects with `AppError`: `invalid` for a bad
 * argument, `not_found`, `conflict`, `permission_denied`, `unavailable`.
 */
export async function executeAdmin(
  context: AdminContext,
  operation: AdminOperation,
  args: AdminArguments,
): Promise<unknown> {
  const given: Call["given"] = (name) => parseArgument(args, name);
  const inAll: Call["inAll"] = (work) => write(context.database, everyTenant, work);
  const inTenant: Call["inTenant"] = (work) =>
    inAll(async (db) => work(db, operatorOf((await requireTenant(db, given("tenant"))).id)));
  try {
    return await operations[operation]({ ...context, args, given, inAll, inTenant });
  } catch (error) {
    if (!(error instanceof DatabaseError) || error.sqlState !== roleDenied) throw error;
    throw new AppError(
      "permission_denied",
      "Cannot administrate: the role of DATABASE_URL is not the database's owner",
    );
  }
}

const roleDenied = "42501";

const operations = {
  async "tenant.create"({ given, inAll }: Call) {
    const values = { name: given("name") };
    return inAll(async (db) => {
      const rows = await db.insert(tenants).values(values).returning();
      const lines = rows.map((row): AuditLine => {
        return { tenantId: row.id, action: "tenant.created", targetId: row.id, detail: columnsOf(tenants, row) };
      });
      await audit(db, lines);
      return { id: rows[0]?.id, ...values };
    });
  },

  async "tenant.list"({ inAll }: Call) {
    return inAll((db) => selectTenants(db).orderBy(asc(tenants.createdAt), asc(tenants.id)));
  },

  async "tenant.rename"({ given, database, inAll }: Call) {
    const { id } = await inAll((db) => requireTenant(db, given("tenant")));
    const name = given("name");
    await write(database, operatorOf(id), (db) => renameTenant(db, name));
    return { id, name };
  },

  async "tenant.delete"({ args, given, database, inAll }: Call) {
    const { id, name } = await inAll((db) => requireTenant(db, given("tenant")));
    if (name !== args["confirm"]) {
      throw new AppError("invalid", `--confirm is not valid: expected the tenant's name, ${JSON.stringify(name)}`);
    }
    await deleteInBatches(() => write(database, operatorOf(id), (db) => deleteTenantStep(db, name)));
    return { id, name, deleted: true };
  },

  /** Makes the subject a member with the role. Doing it again changes the role, where one is named. */
  async "user.create"({ given, inTenant }: Call) {
    const wanted = { sub: given("sub"), role: given("role") };
    return inTenant(async (db, operator) => {
      const { sub, role } = (await putMember(db, operator, wanted)).member;
      return { tenant_id: operator.tenantId, sub, role };
    });
  },

  async "user.list"({ inTenant }: Call) {
    return inTenant(async (db, { tenantId }) => {
      const members = db.select(shownMember).from(memberships).where(eq(memberships.tenantId, tenantId));
      return (await members.orderBy(asc(memberships.createdAt), asc(memberships.userId))).map(toMember);
    });
  },

  /** Ends a membership; the member's streams close within the recheck interval. */
  async "user.remove"({ given, inAll }: Call) {
    const tenantId = given("tenant");
    const sub = given("sub");
    await inAll((db) => deleteMember(db, operatorOf(tenantId), sub)).catch((error: unknown) => {
      if (!(error instanceof NotFound)) throw error;
      throw new NotFound(`Cannot remove a user: ${JSON.stringify(sub)} is not a member of tenant ${tenantId}`);
    });
    return { tenant_id: tenantId, sub, removed: true };
  },

  async "api-key.create"({ given, inTenant }: Call) {
    const named = { name: given("name"), scopes: given("scopes") };
    const expiresAt = given("expiresAt");
    const key = { ...named, expires_at: expiresAt === undefined ? null : new Date(expiresAt).toISOString() };
    return inTenant(async (db, operator) => {
      const { id, prefix, api_key } = await insertApiKey(db, operator, key);
      return { id, tenant_id: operator.tenantId, prefix, ...key, api_key };
    });
  },

  async "api-key.list"({ inTenant }: Call) {
    return inTenant(async (db, { tenantId }) => {
      const keys = db.select(shownApiKey).from(apiKeys).where(eq(apiKeys.tenantId, tenantId));
      return (await keys.orderBy(asc(apiKeys.createdAt), asc(apiKeys.id))).map(toTenantApiKey);
    });
  },

  /** Ends a key; the first time counts. */
  async "api-key.revoke"({ given, database, inAll }: Call) {
    const id = given("id");
    const select = () => inAll((db) => db.select(shownApiKey).from(apiKeys).where(eq(apiKeys.id, id)));
    const [key] = await select();
    if (key === undefined) throw new NotFound(`Cannot revoke the API key: no key has the id ${id}`);
    const operator = operatorOf(key.tenantId);
    await write(database, operator, (db) => revokeApiKey(db, operator, id));
    const [revoked = key] = await select();
    return toTenantApiKey(revoked);
  },

  /** The audit trail, newest first. */
  async "audit.list"({ given, inTenant }: Call) {
    const limit = given("limit");
    return inTenant(async (db, { tenantId }) => {
      const events = selectShownEvents(db).where(eq(auditEvents.tenantId, tenantId));
      const newest = events.orderBy(desc(auditEvents.createdAt), desc(auditEvents.number));
      return (await newest.limit(limit)).map(toAuditEvent);
    });
  },

  /** A JWT that this gateway accepts while no issuer is configured. */
  async "token.create"({ given, developmentKey, tenantClaim = "tenant_id", inAll }: Call) {
    if (developmentKey === undefined) {
      throw new AppError("conflict", "Cannot make a token: AUTH_JWKS… is set, so tokens come from its issuer");
    }
    const claims = { tenantClaim, sub: given("sub"), ttlSeconds: given("ttl") };
    const { id: tenantId } = await inAll((db) => requireTenant(db, given("tenant")));
    return (await developmentKey()).sign({ ...claims, tenantId });
  },
};

/** The flags of the command line, still text. */
export type AdminArguments = Readonly<Record<string, unknown>>;

const maxTtlSeconds = 31_536_000;
const maxLimit = 10_000;
const scopeList = v.pipe(
  v.optional(v.string(), defaultScopes.join()),
  v.transform((list) => [...new Set(list.split(",").map((scope) => scope.trim()))]),
  v.array(scopeSchema),
);

/** Each with its name in a refusal, and what is expected. */
const schemas = {
  tenant: [uuid(), "--tenant", "a lower-case UUID"],
  id: [uuid(), "the API key's id", "a lower-case UUID"],
  name: [v.pipe(v.string(), v.trim(), line(200)), "--name", "1 to 200 characters without control characters"],
  sub: [line(255), "--sub", "1 to 255 characters without control characters"],
  role: [v.optional(roleSchema), "--role", roleSchema.options.join(", ")],
  scopes: [scopeList, "--scopes", `a comma list of ${scopeSchema.options.join(", ")}`],
  ttl: [integer(3600, maxTtlSeconds), "--ttl", `an integer of seconds from 1 to ${maxTtlSeconds}`],
  limit: [integer(50, maxLimit), "--limit", `an integer from 1 to ${maxLimit}`],
  expiresAt: [v.optional(instant), "--expires-at", "a future time such as 2027-01-31T00:00:00Z"],
} as const;

export type ArgumentName = keyof typeof schemas;
export type ParsedArgument<Name extends ArgumentName> = v.InferOutput<(typeof schemas)[Name][0]>;

/** Throws `AppError("invalid")`, which names the flag. */
export function parseArgument<Name extends ArgumentName>(args: AdminArguments, name: Name): ParsedArgument<Name> {
  const [schema, flag, expected] = schemas[name];
  const parsed = v.safeParse(schema, args[name]);
  if (!parsed.success) throw new AppError("invalid", `${flag} is not valid: expected ${expected}`);
  if (name === "expiresAt" && Date.parse(String(parsed.output)) <= Date.now()) {
    throw new AppError("invalid", `${flag} is in the past: expected ${expected}`);
  }
  return parsed.output;
}

function integer(byDefault: number, most: number) {
  return v.pipe(v.optional(v.string(), `${byDefault}`), v.digits(), v.toNumber(), v.minValue(1), v.maxValue(most));
}

/** An embedded database without a tenant gets one, and a key that is shown this once; null where there is a tenant. */
export async function createFirstKey(context: AdminContext): Promise<string | null> {
  const tenants = (await executeAdmin(context, "tenant.list", {})) as readonly unknown[];
  if (tenants.length > 0) return null;
  const made = await executeAdmin(context, "tenant.create", { name: "First tenant" });
  const key = { tenant: (made as { readonly id: string }).id, name: "first key", scopes: "read,publish,admin" };
  return ((await executeAdmin(context, "api-key.create", key)) as { readonly api_key: string }).api_key;
}

/** Rejects with `NotFound`. */
export async function requireTenant(db: TenantDatabase, id: string) {
  const [tenant] = await selectTenants(db).where(eq(tenants.id, id));
  if (tenant !== undefined) return tenant;
  throw new NotFound(`Cannot find the tenant: no tenant has the id ${id}. Run \`scanstream admin tenant list\``);
}

function selectTenants(db: TenantDatabase) {
  return db.select({ id: tenants.id, name: tenants.name }).from(tenants);
}

type Operator = ReturnType<typeof operatorOf>;

/** Runs with the rights of the application, bound to one tenant. */
function operatorOf(tenantId: string) {
  return { kind: "operator", tenantId, actor: "operator:" } as const satisfies Caller & TeamActor;
}

/** A key's id says nothing of its tenant. */
function toTenantApiKey(row: ApiKeyRow) {
  const { id, ...fields } = toApiKey(row);
  return { id, tenant_id: row.tenantId, ...fields };
}
