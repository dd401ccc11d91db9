import { sql } from "drizzle-orm";
import { Hono } from "hono";
import { anyCredential } from "../auth/access.ts";
import type { Database } from "../../drizzle/database.ts";
import { withTenant } from "../../drizzle/with_tenant.ts";
import type { Role } from "../../shared/schemas/team.ts";
import { PermissionDenied } from "../../shared/app_error.ts";
import { tenantHeader, toPrincipal, type Identity } from "../auth/identity.ts";
import type { Dependencies } from "./dependencies.ts";

/** Who the caller is, and where: also before one of several tenants is chosen. */
export function sessionRoute({ authenticator, database }: Pick<Dependencies, "authenticator" | "database">): Hono {
  const routes = new Hono();
  routes.get("/", anyCredential, async (c) => {
    const identity = await authenticator.identify(c.req.raw);
    const isOpen = identity.tenantIds.length > 1 && !c.req.raw.headers.has(tenantHeader);
    const chosenId = isOpen ? null : toPrincipal(identity, c.req.raw).tenantId;
    const found = await Promise.all(identity.tenantIds.map((id) => findTenant(database, id, identity)));
    const tenants = found.filter((tenant) => tenant !== null);
    const chosen = tenants.find(({ id }) => id === chosenId) ?? null;
    if (tenants.length === 0 || (chosenId !== null && chosen === null)) {
      throw new PermissionDenied("The token's subject is not a member of its tenant");
    }
    const { kind, id, name, scopes, expiresAtMs } = identity;
    return c.json({
      kind,
      id,
      name,
      scopes,
      expires_at: expiresAtMs === null ? null : new Date(expiresAtMs).toISOString(),
      tenant: chosen,
      tenants,
    });
  });
  return routes;
}

interface FoundTenant {
  readonly id: string;
  readonly name: string;
  /** Null: the caller is an API key. */
  readonly role: Role | null;
}

/** Null: a user who is no member there. Row-level security leaves the one tenant. */
async function findTenant(database: Database, tenantId: string, { kind, id }: Identity): Promise<FoundTenant | null> {
  const [row] = await withTenant(database, tenantId, (db) =>
    db.execute<{ name: string; role: Role | null }>(sql`
      select name, role from tenants
      left join memberships on tenant_id = tenants.id and user_id = ${id}
      where tenants.id = ${tenantId}::uuid`),
  );
  if (row === undefined || (kind === "user" && row.role === null)) return null;
  return { id: tenantId, name: row.name, role: kind === "user" ? row.role : null };
}
