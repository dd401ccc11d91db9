import { eq } from "drizzle-orm";
import type { Hono } from "hono";
import { organizations as organizationTable } from "../../../drizzle/schema.ts";
import { NotFound } from "../../../shared/app_error.ts";
import { isUuid } from "../../../shared/channel_name.ts";
import { organizationDetailsSchema, organizationSchema } from "../../../shared/schemas/organization.ts";
import { component, json } from "../../description/operation.ts";
import type { Allowed } from "../../http/allow.ts";
import { defineResource } from "../../http/resource.ts";
import { announcing, tenantChannel } from "../announce.ts";
import { defineFeature, type FeatureDependencies } from "../features.ts";
import { defineHistoryRoutes } from "./history.ts";
import { organizationEvents, toOrganization, toOrganizationDetails } from "./organization.ts";
import {
  deleteOrganization,
  selectOrganizationRows,
  selectOrganizations,
  type OrganizationRow,
} from "./organization_store.ts";

const Organization = component("Organization", organizationSchema);

/** The organizations of a tenant and their history, as the gateway mounts them. */
export const organizations = defineFeature({
  prefix: "organization",
  tags: [{ name: "organizations", description: "The Okta orgs of a tenant, and the history of their results" }],
  routes: organizationRoutes,
});

function organizationRoutes(dependencies: FeatureDependencies): Hono<Allowed> {
  const resource = defineResource({ tag: "organizations", what: "organization" });
  resource.list("GET /organizations", "listOrganizations", {
    allow: "read",
    summary: "List organizations, newest first",
    description:
      "An organization is the origin of the `org_url` of scans and monitors. The first of them creates it, and it exists until " +
      "it is deleted.",
    list: {
      position: ({ stored }: OrganizationRow) => [stored.createdAt, stored.id],
      item: toOrganization,
      isKey: isUuid,
    },
    of: [Organization, "OrganizationPage"],
    select: ({ page, readOne }) => readOne((db) => selectOrganizations(db, page)),
  });

  resource.on("GET /organizations/:id", "getOrganization", {
    allow: "read",
    summary: "Read an organization",
    answers: { 200: json(component("OrganizationDetails", organizationDetailsSchema), "The organization now") },
    handle: async ({ id, readOne }) => {
      const one = { condition: eq(organizationTable.id, id), limit: 1 };
      const [row] = await readOne((db) => selectOrganizationRows(db, one));
      if (row === undefined) throw new NotFound("No such organization");
      return toOrganizationDetails(row);
    },
  });

  defineHistoryRoutes(resource);

  resource.on("DELETE /organizations/:id", "deleteOrganization", {
    allow: "manage",
    summary: "Delete an organization with its history",
    description:
      "Its scans and monitors stay. Their later findings begin a new history with a new id. A monitor sends only what changes: " +
      "a scan brings the other rules back. The deletion cannot be undone.",
    answers: { 204: { description: "Deleted" } },
    handle: async ({ principal, id, write }) => {
      await deleteOrganization(write, id);
      const { publishOrganizationDeleted } = organizationEvents(announcing(dependencies));
      await publishOrganizationDeleted(tenantChannel(principal.tenantId), { organization_id: id });
    },
  });

  return resource.routes;
}
