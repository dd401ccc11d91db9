import { Hono, type Context } from "hono";
import * as v from "valibot";
import type { TenantDatabase } from "../../../drizzle/with_tenant.ts";
import { isUuid } from "../../../shared/channel_name.ts";
import { withPrincipal } from "../../auth/membership.ts";
import type { AllowedPrincipal } from "../../auth/principal.ts";
import { createAllow, type Allowed } from "../../http/allow.ts";
import type { Dependencies } from "../../http/dependencies.ts";
import { parsePageRequest, toCursor, toPage, type List } from "../../http/paging.ts";
import { pathId } from "../../http/path_id.ts";
import { choiceParameter, queryParameter } from "../../http/query_parameter.ts";
import { checkParameter } from "../check_parameter.ts";
import { organizationAnnouncerOf } from "./announce_updates.ts";
import { readExposures, readHistory } from "./history.ts";
import type { OrganizationExposure, OrganizationHistory } from "../../../shared/schemas/organization.ts";
import { lastDays, dayMs } from "../../../shared/history/days.ts";
import type { Span } from "../../../shared/history/source.ts";
import { AppError } from "../../../shared/app_error.ts";
import { instant } from "../../../shared/schemas/primitives.ts";
import { toOrganization, type ListedOrganization } from "./organization.ts";
import { deleteOrganization, selectOrganization, selectOrganizations } from "./organization_store.ts";

/** The organizations of a tenant and their history, as the gateway mounts them. */
export const organizations = { prefix: "organization", routes: organizationRoutes, eventStreams: {} };

const isCheckName = (key: string) => key.length <= 200 && !key.includes("\0");
const ruleList = { name: "organization_history", isKey: isCheckName };
const exposureList: List<OrganizationExposure, OrganizationExposure> = {
  name: "exposures",
  isKey: isCheckName,
  position: ({ check, opened }) => ({ createdAt: new Date(opened.known_at), key: check }),
  item: (exposure) => exposure,
};

function organizationRoutes(dependencies: Dependencies): Hono<Allowed> {
  const { database, nowMs } = dependencies;
  const allow = createAllow(dependencies);
  const routes = new Hono<Allowed>();
  const announcer = organizationAnnouncerOf(dependencies);
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

  routes.get("/organizations/:id/history", allow("read"), async (c) => {
    const principal = c.get("principal");
    const organizationId = pathId(c, "organization");
    const { limit, after } = parsePageRequest(c.req.url, ruleList);
    const period = periodParameters(c, nowMs(), defaultHistoryDays);
    const resolution = choiceParameter(c, "resolution", ["day", "change"]) ?? "change";
    const asked = {
      organizationId,
      period,
      check: checkParameter(c, "rule"),
      from: after?.key ?? null,
      isOpenOnly: false,
      withChanges: resolution === "change",
      limit,
    };
    const { orgUrl, rules, next } = await query(principal, (db) => readHistory(db, asked));
    const answer: OrganizationHistory = {
      schema: "scanstream.history/1",
      from: new Date(period.from).toISOString(),
      to: new Date(period.to).toISOString(),
      organizations: [{ id: organizationId, org_url: orgUrl, rules }],
      next_cursor: next === null ? null : toCursor(ruleList, { createdAt: new Date(0), key: next }),
    };
    return c.json(answer);
  });

  routes.get("/organizations/:id/exposures", allow("read"), async (c) => {
    const principal = c.get("principal");
    const organizationId = pathId(c, "organization");
    const { limit, after } = parsePageRequest(c.req.url, exposureList);
    const period = periodParameters(c, nowMs(), maxDays);
    const open = choiceParameter(c, "open", ["true", "false"]);
    const rows = await query(principal, (db) =>
      readExposures(db, {
        organizationId,
        period,
        check: checkParameter(c, "rule"),
        from: after?.key ?? null,
        before: after?.createdAt ?? null,
        isOpen: open === null ? null : open === "true",
        limit,
      }),
    );
    return c.json(toPage(rows, limit, exposureList));
  });

  routes.delete("/organizations/:id", allow("manage"), async (c) => {
    const principal = c.get("principal");
    const id = pathId(c, "organization");
    await query(principal, (db) => deleteOrganization(db, id));
    await announcer.deleted(principal.tenantId, id);
    return c.body(null, 204);
  });

  return routes;

  function query<Result>(principal: AllowedPrincipal, work: (db: TenantDatabase) => Promise<Result>): Promise<Result> {
    return withPrincipal(database, principal, work);
  }
}

const defaultHistoryDays = 30;
const maxDays = 400;

/** From `from` to `to`, which is now where it is missing or later. Throws `AppError("malformed")`. */
function periodParameters(c: Context, now: number, defaultDays: number): Span {
  const time = (name: string) =>
    queryParameter(c, name, {
      expected: "one time like 2026-11-22T09:30:00Z",
      parse: (value) => (v.is(instant, value) ? Date.parse(value) : undefined),
    });
  const to = Math.min(time("to") ?? now, now);
  const from = time("from") ?? lastDays(defaultDays, to).from;
  if (from <= to && to - from <= maxDays * dayMs) return { from, to };
  throw new AppError(
    "malformed",
    `The query's from is not valid: expected a time before to and before now, at most ${maxDays} days before to`,
  );
}
