import { sql } from "drizzle-orm";
import { PermissionDenied } from "../../shared/app_error.ts";
import { badKey } from "./api_keys.ts";
import { literal } from "../../drizzle/transact.ts";
import type { Database } from "../../drizzle/database.ts";
import { DatabaseError } from "../../drizzle/database_error.ts";
import { read, readOne, write, type Caller, type Query, type TenantDatabase } from "../../drizzle/transactions.ts";
import { isUuid } from "../../shared/channel_name.ts";
import type { Scope } from "../../shared/schemas/team.ts";
import { keyMay, permissions, rolesOf, type Permission } from "./permissions.ts";
import type { AllowedPrincipal, Principal } from "./principal.ts";

/**
 * The ways to query as one principal, see `transactions.ts`. Each transaction begins with the check that the authority holds:
 * the user's membership with a role that has the permission, or the API key being valid with its scope. So the check costs no
 * round trip, is of the same moment as the rest, and is made also for work that sends no query.
 */
export interface Access {
  readonly readOne: <Result>(query: (db: TenantDatabase) => Query<Result>) => Promise<Result>;
  readonly read: <Result>(work: (db: TenantDatabase) => Promise<Result>) => Promise<Result>;
  readonly write: <Result>(work: (db: TenantDatabase) => Promise<Result>) => Promise<Result>;
}

/**
 * The ways reject with `PermissionDenied` for a user who is not a member, and for a role or scopes without the permission, with
 * `AppError("not_authenticated")` for a key that was revoked or has expired, and as those of `transactions.ts` do.
 */
export function accessOf(database: Database, principal: AllowedPrincipal): Access {
  return {
    readOne: (query) => explained((caller) => readOne(database, caller, query)),
    read: (work) => explained((caller) => read(database, caller, work)),
    write: (work) => explained((caller) => write(database, caller, work)),
  };

  async function explained<Result>(transact: (caller: Caller) => Promise<Result>): Promise<Result> {
    try {
      return await transact(callerOf(principal));
    } catch (error) {
      if (error instanceof DatabaseError && error.sqlState === lacksAuthority) explain(principal, error.reason);
      throw error;
    }
  }
}

/** Rejects as `accessOf` does for a principal whose authority does not hold; one query. */
export async function requireAuthority(database: Database, principal: AllowedPrincipal): Promise<void> {
  await accessOf(database, principal).readOne((db) => db.execute(sql`select 1`));
}

/** Throws why the authority does not hold; `held` is the role or the scopes that the caller has now. */
function explain({ kind, permission }: AllowedPrincipal, held: string): void {
  if (kind === "api_key") {
    if (held === "") throw badKey("revoked_key");
    requireScope(permission, held.split(",") as readonly Scope[]);
  } else {
    if (held === "") throw notMember();
    throw new PermissionDenied(`This needs the role ${rolesOf(permission).join(" or ")}: the caller's is ${held}`);
  }
}

/** Throws `PermissionDenied` that names the scopes which the key needs. */
export function requireScope(permission: Permission, scopes: readonly Scope[]): void {
  if (keyMay(permission, scopes)) return;
  const needed: readonly Scope[] = permissions[permission].scopes;
  if (needed.length === 0) {
    throw new PermissionDenied(
      `An API key cannot do this: a member with the role ${rolesOf(permission).join(" or ")} can`,
    );
  }
  const named = `${needed.length === 1 ? "scope" : "scopes"} ${needed.join(" and ")}`;
  throw new PermissionDenied(`This needs an API key with the ${named}: this one has ${scopes.join(" and ")}`);
}

export function notMember(): PermissionDenied {
  return new PermissionDenied("The token's subject is not a member of its tenant", { loginProblem: "not_a_member" });
}

const isValidKey = "revoked_at is null and (expires_at is null or expires_at > now())";

/** The part of a principal that authority is given to; the rest belongs to one token. */
export type AuthoritySubject = Pick<Principal, "kind" | "id">;

/**
 * Returns the subjects of open streams, the same objects, that are still members (`user`), or valid and with the scope to read (`api_key`).
 * One query for a whole tenant; their `exp` is the caller's to watch. Rejects when the database does not answer.
 */
export type AuthorityCheck = (
  tenantId: string,
  subjects: readonly AuthoritySubject[],
) => Promise<ReadonlySet<AuthoritySubject>>;

export function createAuthorityCheck(database: Database): AuthorityCheck {
  return async (tenantId, subjects) => {
    const userIds = subjects.filter(({ kind }) => kind === "user").map(({ id }) => id);
    const keyIds = subjects.filter(({ kind, id }) => kind === "api_key" && isUuid(id)).map(({ id }) => id);
    const { rows } = await readOne(database, { tenantId }, (db) =>
      db.execute<{ kind: string; id: string }>(sql`
        select 'user' as kind, user_id as id from memberships
        where tenant_id = ${tenantId}::uuid and user_id = any (${sql.param(userIds)}::text[])
        union all
        select 'api_key', id::text from api_keys
        where tenant_id = ${tenantId}::uuid and id = any (${sql.param(keyIds)}::uuid[])
          and ${sql.raw(isValidKey)} and scopes @> ${sql.param(permissions.read.scopes)}::text[]`),
    );
    const allowed = new Set(rows.map(({ kind, id }) => `${kind}:${id}`));
    return new Set(subjects.filter(({ kind, id }) => allowed.has(`${kind}:${id}`)));
  };
}

/** The SQLSTATE that `require_authority` of the database raises, and nothing else. Its message is what the caller holds, with commas. */
const lacksAuthority = "SS403";

function callerOf({ kind, tenantId, id, permission }: AllowedPrincipal): Caller {
  const needed = kind === "user" ? rolesOf(permission) : permissions[permission].scopes;
  // Roles and scopes are words of ours.
  const values = [tenantId, kind, id, `{${needed.join(",")}}`].map(literal);
  return { tenantId, actor: `${kind}:${id}`, authority: `select scanstream.require_authority(${values.join(", ")})` };
}
