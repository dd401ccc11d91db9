import { sql } from "drizzle-orm";
import { Hono } from "hono";
import type { Database } from "../../drizzle/database.ts";
import { withTenant } from "../../drizzle/with_tenant.ts";
import { PermissionDenied } from "../../shared/app_error.ts";
import { toPrincipal, type Identity } from "../auth/identity.ts";
import type { Dependencies } from "./dependencies.ts";

/** Who the caller is, and where: also before one of several tenants is chosen. */
export function sessionRoute({ authenticator, database }: Pick<Dependencies, "authenticator" | "database">): Hono {
  const routes = new Hono();
  routes.get("/", async (c) => {
    const identity = await authenticator.identify(c.req.raw);
    const isOpen = identity.tenantIds.length > 1 && !c.req.raw.headers.has("x-tenant-id");
    const chosenId = isOpen ? null : toPrincipal(identity, c.req.raw).tenantId;
    const found = await Promise.all(identity.tenantIds.map((id) => findTenant(database, id, identity)));
    const tenants = found.filter((tenant) => tenant !== null);
    const chosen = tenants.find(({ id }) => id === chosenId) ?? null;
    if (tenants.length === 0 || (chosenId !== null && chosen === null)) {
      throw new PermissionDenied("The token's subject is not a member of its tenant");
    }
    const { kind, id, name, expiresAtMs } = identity;
    return c.json({
      kind,
      id,
      name: name ?? chosen?.key_name ?? null,
      expires_at: expiresAtMs === null ? null : new Date(expiresAtMs).toISOString(),
      tenant: chosen === null ? null : { id: chosen.id, name: chosen.name },
      tenants: tenants.map((tenant) => ({ id: tenant.id, name: tenant.name })),
    });
  });
  return routes;
}

interface FoundTenant {
  readonly id: string;
  readonly name: string;
  readonly key_name: string | null;
}

/** Null: they have no authority there. Row-level security leaves the one tenant. */
async function findTenant(database: Database, tenantId: string, { kind, id }: Identity): Promise<FoundTenant | null> {
  const [row] = await withTenant(database, tenantId, (tx) =>
    tx.execute<{ name: string; key_name: string | null }>(
      kind === "user"
        ? sql`select name, null as key_name from tenants
            where id = ${tenantId}::uuid and exists (select from memberships where tenant_id = tenants.id and user_id = ${id})`
        : sql`select tenants.name, api_keys.name as key_name from tenants, api_keys
            where tenants.id = ${tenantId}::uuid and api_keys.id = ${id}::uuid and revoked_at is null`,
    ),
  );
  return row === undefined ? null : { id: tenantId, ...row };
}
