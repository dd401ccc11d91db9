import type { Hono } from "hono";
import { AppError } from "../../../shared/app_error.ts";
import { lastDays, dayMs } from "../../../shared/history/rule_history.ts";
import type { Span } from "../../../shared/history/observation.ts";
import {
  organizationDetailsSchema,
  organizationExposureSchema,
  organizationHistorySchema,
  organizationSchema,
  type OrganizationExposure,
  type OrganizationHistory,
} from "../../../shared/schemas/organization.ts";
import { isUuid } from "../../../shared/channel_name.ts";
import { component, json } from "../../description/operation.ts";
import type { Allowed } from "../../http/allow.ts";
import { defineFeature, type FeatureDependencies } from "../features.ts";
import { isText, listOf, ofResource, toCursor } from "../../http/paging.ts";
import { choiceParameter, timeParameter } from "../../http/query_parameter.ts";
import { defineResource } from "../../http/resource.ts";
import { checkParameter } from "../check_parameter.ts";
import { announcing, tenantChannel } from "../announce.ts";
import { organizationEvents } from "./announce_updates.ts";
import { readExposures, readHistory } from "./history.ts";
import { toOrganization, toOrganizationDetails } from "./organization.ts";
import {
  deleteOrganization,
  organizationById,
  requireOrganization,
  selectOrganizations,
  type OrganizationRow,
} from "./organization_store.ts";

const ruleList = { name: "organization_history", isKey: isText };
const exposureList = listOf(
  "exposures",
  ({ check, opened }: OrganizationExposure) => [new Date(opened.known_at), check],
  (exposure) => exposure,
);

const historyQuery = {
  rule: checkParameter("One rule: V-…, SV-…, OKTA-APP-… or the name of its check"),
  from: timeParameter("From then on"),
  to: timeParameter("Until then; default: now"),
};
const Organization = component("Organization", organizationSchema);

/** The organizations of a tenant and their history, as the gateway mounts them. */
export const organizations = defineFeature({
  prefix: "organization",
  tags: [{ name: "organizations", description: "The Okta orgs of a tenant, and the history of their results" }],
  routes: organizationRoutes,
});

function organizationRoutes(dependencies: FeatureDependencies): Hono<Allowed> {
  const { nowMs } = dependencies;
  const resource = defineResource({ tag: "organizations", what: "organization" });
  const organizationList = listOf(
    "organizations",
    ({ stored }: OrganizationRow) => [stored.createdAt, stored.id],
    (row) => toOrganization(row, nowMs()),
    { isKey: isUuid },
  );

  resource.list("GET /organizations", {
    allow: "read",
    operationId: "listOrganizations",
    summary: "List organizations, newest first",
    description:
      "An organization is the origin of the `org_url` of scans and monitors. The first of them creates it, and it exists until " +
      "it is deleted.",
    list: organizationList,
    of: [Organization, "OrganizationPage"],
    select: ({ page, readOne }) => readOne((db) => selectOrganizations(db, page)),
  });

  resource.on("GET /organizations/:id", {
    allow: "read",
    operationId: "getOrganization",
    summary: "Read an organization",
    answers: { 200: json(component("OrganizationDetails", organizationDetailsSchema), "The organization now") },
    handle: async ({ id, readOne }) =>
      toOrganizationDetails(requireOrganization(await readOne((db) => organizationById(db, id))), nowMs()),
  });

  resource.on("GET /organizations/:id/history", {
    allow: "read",
    operationId: "getOrganizationHistory",
    summary: "Read the verdicts of an organization over time",
    description:
      "Rule by rule, whole rules on each page. Time without a completed scan or a monitor is UNKNOWN. The default period is 30 days; `from` " +
      "allows up to 400, and the `from` of the answer is later where more was observed than one answer holds. `resolution=day` leaves the intervals empty.",
    query: { ...historyQuery, resolution: choiceParameter(["day", "change"], { default: "change" }) },
    page: ruleList,
    answers: { 200: json(component("History", organizationHistorySchema), "One page") },
    handle: async ({ id, page: { limit, after }, parameters: { rule, resolution, ...times }, read }) => {
      const period = toPeriod(times, nowMs(), defaultDays);
      const asked = { id, period, check: rule, after: after?.key ?? null, limit, isByDay: resolution === "day" };
      const { last, ...history } = await read((db) => readHistory(db, asked));
      const next = last === null ? null : toCursor(ofResource(ruleList, id), { createdAt: new Date(0), key: last });
      return { ...history, next_cursor: next } satisfies OrganizationHistory;
    },
  });

  resource.list("GET /organizations/:id/exposures", {
    allow: "read",
    operationId: "listExposures",
    summary: "List the times in which rules failed, by rule, the newest first",
    description: "The default period is 400 days.",
    query: { ...historyQuery, open: choiceParameter(["true", "false"]) },
    list: exposureList,
    of: [component("Exposure", organizationExposureSchema), "ExposurePage"],
    select: async ({ id, page: { limit, after }, parameters: { rule, open, ...times }, read }) => {
      const isOpen = open === null ? null : open === "true";
      const asked = { id, period: toPeriod(times, nowMs(), maxDays), check: rule, isOpen };
      const exposures = await read((db) => readExposures(db, asked));
      const isNext = ({ check, opened }: OrganizationExposure) =>
        after === null ||
        check > after.key ||
        (check === after.key && Date.parse(opened.known_at) < after.createdAt.getTime());
      return exposures.filter(isNext).slice(0, limit + 1);
    },
  });

  resource.on("DELETE /organizations/:id", {
    allow: "manage",
    operationId: "deleteOrganization",
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

const defaultDays = 30;
const maxDays = 400;

/** From `from` to `to`, which is now where it is missing or later. Throws `AppError("malformed")`. */
function toPeriod(given: { readonly from: Date | null; readonly to: Date | null }, now: number, days: number): Span {
  const to = Math.min(given.to?.getTime() ?? now, now);
  const from = given.from?.getTime() ?? lastDays(days, to).from;
  if (from <= to && to - from <= maxDays * dayMs) return { from, to };
  throw new AppError(
    "malformed",
    `The query's from is not valid: expected a time before to and before now, at most ${maxDays} days before to`,
  );
}
