import {
  organizationExposureSchema,
  organizationHistorySchema,
  organizationSchema,
} from "../../../shared/schemas/organization.ts";
import { pageOf } from "../../../shared/schemas/page.ts";
import { instant, text, uuid } from "../../../shared/schemas/primitives.ts";
import {
  component,
  emptyResponse,
  json,
  listAnswer,
  pageParameters,
  pathParameter,
  problem,
  refusals,
  toInlineSchema,
  type FeatureDescription,
} from "../../http/docs/feature_description.ts";

const Organization = component("Organization", organizationSchema);
const Exposure = component("Exposure", organizationExposureSchema);
const ExposurePage = component("ExposurePage", pageOf(Exposure));
const History = component("History", organizationHistorySchema);
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

const opened = { not_before: "2026-11-20T08:00:00.000Z", known_at: "2026-11-20T08:00:10.000Z" };
const actor = { id: "00u1", login: "admin@acme.example", name: "Ada Admin" };
const verdict = { check: "application_admin_console_mfa_required", vuln_id: "V-273193" };
const exposureExample = {
  ...verdict,
  opened,
  closed: { not_before: "2026-11-20T09:00:00.000Z", known_at: "2026-11-20T09:00:10.000Z", actor },
  actor,
  cause: "log",
  least_seconds: 3590,
  most_seconds: 3610,
};
const { check: _check, vuln_id: _vulnId, ...exposureOfRule } = exposureExample;
const historyExample = {
  schema: "scanstream.history/1",
  from: "2026-11-20T00:00:00.000Z",
  to: "2026-11-20T08:00:10.000Z",
  organizations: [
    {
      id: organizationExample.id,
      org_url: organizationExample.org_url,
      rules: [
        {
          ...verdict,
          intervals: [{ from: opened.not_before, to: opened.known_at, status: "PASS", reason: null }],
          exposures: [exposureOfRule],
          days: [{ day: "2026-11-20", status: "FAIL", known_seconds: 57_600 }],
          changes: [
            {
              number: 1,
              previous: null,
              org_url: organizationExample.org_url,
              check: verdict.check,
              status: "FAIL",
              reason: null,
              ...opened,
              cause: "log",
              actor,
              fingerprints: ["f1"],
              digest: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
            },
          ],
        },
      ],
    },
  ],
  next_cursor: null,
};

const parameters = [pathParameter("id", "The organization's id", uuid())];
const filter = (name: string, description: string, schema: Parameters<typeof toInlineSchema>[0]) => ({
  name,
  in: "query" as const,
  description,
  schema: toInlineSchema(schema),
});
const historyParameters = [
  ...pageParameters,
  filter("rule", "One rule: V-…, SV-…, OKTA-APP-… or the name of its check", text(1, 200)),
  filter("from", "From then on", instant),
  filter("to", "Until then; default: now", instant),
];
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
    "GET /api/v1/organizations/:id/history": {
      operationId: "getOrganizationHistory",
      tags: ["organizations"],
      summary: "Read the verdicts of an organization over time",
      description:
        "Rule by rule, whole rules on each page. Time in which nobody looked is UNKNOWN. A period is 30 days long unless `from` says it, at most 400. " +
        "`resolution=day` leaves intervals and changes empty.",
      parameters: [
        ...parameters,
        ...historyParameters,
        { name: "resolution", in: "query", schema: { type: "string", enum: ["day", "change"], default: "change" } },
      ],
      responses: {
        200: json(History, "One page", { example: historyExample }),
        ...refusals(400, 401, 403, 503),
        ...noSuchOrganization,
      },
    },
    "GET /api/v1/organizations/:id/exposures": {
      operationId: "listExposures",
      tags: ["organizations"],
      summary: "List the times in which rules failed, by rule, the newest first",
      description: "Of the last 400 days unless `from` says otherwise.",
      parameters: [
        ...parameters,
        ...historyParameters,
        { name: "open", in: "query", schema: { type: "string", enum: ["true", "false"] } },
      ],
      responses: { ...listAnswer(ExposurePage, exposureExample), ...noSuchOrganization },
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
