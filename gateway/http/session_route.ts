import { sql } from "drizzle-orm";
import { Hono, type Context } from "hono";
import { describeRoute } from "hono-openapi";
import { openTo } from "./allow.ts";
import type { Database } from "../../drizzle/database.ts";
import { readOne } from "../../drizzle/transactions.ts";
import { sessionSchema, type Session } from "./session_schema.ts";
import type { Role } from "../../shared/schemas/team.ts";
import { notMember } from "../auth/membership.ts";
import type { RequestVariables } from "./request_log.ts";
import { tenantHeader, toPrincipal, type Identity, type Principal } from "../auth/principal.ts";
import { component, json, refusals, tenantParameter } from "../description/operation.ts";
import type { Dependencies } from "./dependencies.ts";

const getSession = describeRoute({
  operationId: "getSession",
  tags: ["session"],
  summary: "Read the caller's identity and tenants",
  description:
    "For any valid credential. A token for several tenants is answered here without the header " +
    "`X-Tenant-Id` too; everywhere else it has to name one.",
  parameters: [tenantParameter],
  responses: {
    200: json(component("Session", sessionSchema), "The caller"),
    ...refusals(401, 403, 503),
  },
});

/** Answers who the caller is, and where: also before one of several tenants is chosen. */
export function sessionRoute({ authenticator, database }: Dependencies): Hono<{ Variables: RequestVariables }> {
  const routes = new Hono<{ Variables: RequestVariables }>();
  routes.get("/", openTo("session"), getSession, async (c) => {
    const identity = await authenticator.identify(c.req.raw);
    const isOpen = identity.tenantIds.length > 1 && !c.req.raw.headers.has(tenantHeader);
    const principal = isOpen ? null : toPrincipal(identity, c.req.raw);
    if (principal !== null) c.set("principal", principal);
    return c.json(await readSession(database, identity, principal));
  });
  return routes;
}

/** The session of an allowed caller, for a route of a feature. Rejects as the session's own route does. */
export async function sessionOf(c: Context, principal: Pick<Principal, "tenantId">): Promise<Session> {
  const { authenticator, database } = c.get("dependencies") as Pick<Dependencies, "authenticator" | "database">;
  return readSession(database, await authenticator.identify(c.req.raw), principal);
}

/** Rejects with `PermissionDenied` for a caller who is a member of none of the tenants, or not of the chosen one. */
async function readSession(
  database: Database,
  identity: Identity,
  principal: Pick<Principal, "tenantId"> | null,
): Promise<Session> {
  const chosenId = principal?.tenantId ?? null;
  const found = await Promise.all(identity.tenantIds.map((id) => findTenant(database, id, identity)));
  const tenants = found.filter((tenant) => tenant !== null);
  const chosen = tenants.find(({ id }) => id === chosenId) ?? null;
  if (tenants.length === 0 || (chosenId !== null && chosen === null)) throw notMember();
  const { kind, id, name, scopes, expiresAtMs } = identity;
  const expiresAt = expiresAtMs === null ? null : new Date(expiresAtMs).toISOString();
  return { kind, id, name, scopes, expires_at: expiresAt, tenant: chosen, tenants };
}

type FoundTenant = Session["tenants"][number];

/** Null: a user who is not a member there. Row-level security leaves the one tenant. */
async function findTenant(database: Database, tenantId: string, { kind, id }: Identity): Promise<FoundTenant | null> {
  const { rows } = await readOne(database, { tenantId }, (db) =>
    db.execute<{ name: string; role: Role | null }>(sql`
      select name, role from tenants
      left join memberships on tenant_id = tenants.id and user_id = ${id}
      where tenants.id = ${tenantId}::uuid`),
  );
  const [row] = rows;
  if (row === undefined || (kind === "user" && row.role === null)) return null;
  return { id: tenantId, name: row.name, role: kind === "user" ? row.role : null };
}
