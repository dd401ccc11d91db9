import { organizationSchema } from "../../../shared/schemas/organization.ts";
import { pageOf } from "../../../shared/schemas/page.ts";
import { uuid } from "../../../shared/schemas/primitives.ts";
import {
  component,
  emptyResponse,
  json,
  listAnswer,
  pageParameters,
  pathParameter,
  problem,
  refusals,
  type FeatureDescription,
} from "../../http/docs/feature_description.ts";

const Organization = component("Organization", organizationSchema);
const OrganizationPage = component("OrganizationPage", pageOf(Organization));

const organizationExample = {
  id: "2f0f3d0e-4a5b-4d63-9f6c-0b7f1d3a9c55",
  org_url: "https://acme.okta.com",
  name: "acme.okta.com",
  pass: 21,
  fail: 4,
  manual: 2,
  not_applicable: 1,
  unknown: 1,
  cat1_open: 1,
  cat2_open: 3,
  cat3_open: 0,
  last_scan_id: "7c9e6679-7425-40de-944b-e07fc1f90ae7",
  last_scan_at: "2026-11-22T09:30:00.000Z",
  monitor_id: null,
  monitor_status: null,
  open_exposures: 4,
  trend: [
    { day: "2026-11-21", fail: null },
    { day: "2026-11-22", fail: 4 },
  ],
};

const parameters = [pathParameter("id", "The organization's id", uuid())];
const noSuchOrganization = { 404: problem("No such organization in this tenant") };

export const organizationsDescription: FeatureDescription = {
  tags: [{ name: "organizations", description: "The Okta orgs of a tenant, and the history of their verdicts" }],
  operations: {
    "GET /api/v1/organizations": {
      operationId: "listOrganizations",
      tags: ["organizations"],
      summary: "List organizations, newest first",
      description:
        "An organization is the origin of the `org_url` of scans and monitors. It is there from the first of them on, and goes when " +
        "it is deleted.",
      parameters: pageParameters,
      responses: listAnswer(OrganizationPage, organizationExample),
    },
    "GET /api/v1/organizations/:id": {
      operationId: "getOrganization",
      tags: ["organizations"],
      summary: "Read an organization",
      parameters,
      responses: {
        200: json(Organization, "The organization now", { example: organizationExample }),
        ...refusals(401, 403, 503),
        ...noSuchOrganization,
      },
    },
    "DELETE /api/v1/organizations/:id": {
      operationId: "deleteOrganization",
      tags: ["organizations"],
      summary: "Delete an organization with its history",
      description:
        "Its scans and monitors stay; what they find from now on begins another history, under another id. Nothing brings the history back.",
      parameters,
      responses: { 204: emptyResponse("Deleted"), ...refusals(401, 403, 503), ...noSuchOrganization },
    },
  },
  channels: [],
};
