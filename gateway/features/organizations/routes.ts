import { Hono } from "hono";
import type { TenantDatabase } from "../../../drizzle/with_tenant.ts";
import { isUuid } from "../../../shared/channel_name.ts";
import { withPrincipal } from "../../auth/membership.ts";
import type { AllowedPrincipal } from "../../auth/principal.ts";
import { createAllow, type Allowed } from "../../http/allow.ts";
import type { Dependencies } from "../../http/dependencies.ts";
import { parsePageRequest, toPage, type List } from "../../http/paging.ts";
import { pathId } from "../../http/path_id.ts";
import { toOrganization, type ListedOrganization } from "./organization.ts";
import { deleteOrganization, selectOrganization, selectOrganizations } from "./organization_store.ts";

/** The organizations of a tenant and their history, as the gateway mounts them. */
export const organizations = { prefix: "organization", routes: organizationRoutes, eventStreams: {} };

function organizationRoutes(dependencies: Dependencies): Hono<Allowed> {
  const { database, nowMs } = dependencies;
  const allow = createAllow(dependencies);
  const routes = new Hono<Allowed>();
  const organizationList: List<ListedOrganization, unknown> = {
    name: "organizations",
    isKey: isUuid,
    position: ({ stored }) => ({ createdAt: stored.createdAt, key: stored.id }),
    item: (row) => toOrganization(row, nowMs()),
  };

  routes.get("/organizations", allow("read"), async (c) => {
    const principal = c.get("principal");
    const page = parsePageRequest(c.req.url, organizationList);
    const rows = await query(principal, (db) => selectOrganizations(db, page));
    return c.json(toPage(rows, page.limit, organizationList));
  });

  routes.get("/organizations/:id", allow("read"), async (c) => {
    const principal = c.get("principal");
    const id = pathId(c, "organization");
    return c.json(toOrganization(await query(principal, (db) => selectOrganization(db, id)), nowMs()));
  });

  routes.delete("/organizations/:id", allow("manage"), async (c) => {
    const principal = c.get("principal");
    const id = pathId(c, "organization");
    await query(principal, (db) => deleteOrganization(db, id));
    return c.body(null, 204);
  });

  return routes;

  function query<Result>(principal: AllowedPrincipal, work: (db: TenantDatabase) => Promise<Result>): Promise<Result> {
    return withPrincipal(database, principal, work);
  }
}
