import { AppError } from "../../../shared/app_error.ts";
import type { Span } from "../../../shared/history/observation.ts";
import {
  dayMs,
  exposuresOf,
  lastDays,
  ruleHistoryOf,
  type RuleHistoryInput,
} from "../../../shared/history/rule_history.ts";
import { timelineOf } from "../../../shared/history/timeline.ts";
import { stigRuleNames } from "../../../shared/rule_names.ts";
import {
  organizationExposureSchema,
  organizationHistorySchema,
  type OrganizationExposure,
  type OrganizationHistory,
} from "../../../shared/schemas/organization.ts";
import { component, json } from "../../description/operation.ts";
import { checkParameter, choiceParameter, isText, timeParameter, toCursor } from "../../http/query.ts";
import type { Resource } from "../../http/resource.ts";
import { selectObservations } from "./organization_store.ts";

const historyQuery = {
  rule: checkParameter("One rule: V-…, SV-…, OKTA-APP-… or the name of its check"),
  from: timeParameter("From then on"),
  to: timeParameter("Until then; default: now"),
};

/** The history of an organization, which is computed from its observations when it is read. */
export function defineHistoryRoutes(organizations: Resource): void {
  organizations.on("GET /organizations/:id/history", "getOrganizationHistory", {
    allow: "read",
    summary: "Read the verdicts of an organization over time",
    description:
      "Rule by rule, whole rules on each page. Time without a completed scan or a monitor is UNKNOWN. The default period is 30 days; `from` " +
      "allows up to 400, and the `from` of the answer is later where more was observed than one answer holds. `resolution=day` leaves the intervals empty.",
    query: { ...historyQuery, resolution: choiceParameter(["day", "change"], { default: "change" }) },
    page: isText,
    answers: { 200: json(component("History", organizationHistorySchema), "One page") },
    handle: async ({ c, id, page: { limit, after }, parameters: { rule, resolution, ...times }, read }) => {
      const asked = toPeriod(times, defaultDays);
      const observed = await read((db) => selectObservations(db, id, asked));
      const { orgUrl, period } = observed;
      const checks = checksOf(observed, rule).filter((check) => after === null || check > after.key);
      const rules = checks.slice(0, limit).map((check) => {
        const history = ruleHistoryOf({ check, vulnId: toVulnId(check), ...observed });
        return resolution === "day" ? { ...history, intervals: [] } : history;
      });
      const last = checks.length > limit ? checks[limit - 1] : undefined;
      return {
        schema: "scanstream.history/1",
        from: new Date(period.from).toISOString(),
        to: new Date(period.to).toISOString(),
        organizations: [{ id, org_url: orgUrl, rules }],
        next_cursor: last === undefined ? null : toCursor(c.req.path, new Date(0), last),
      } satisfies OrganizationHistory;
    },
  });

  organizations.list("GET /organizations/:id/exposures", "listExposures", {
    allow: "read",
    summary: "List the times in which rules failed, by rule, the newest first",
    description: "The default period is 400 days.",
    query: { ...historyQuery, open: choiceParameter(["true", "false"]) },
    list: {
      position: ({ check, opened }: OrganizationExposure) => [new Date(opened.known_at), check],
      item: (exposure) => exposure,
      isKey: isText,
    },
    of: [component("Exposure", organizationExposureSchema), "ExposurePage"],
    select: async ({ id, page: { limit, after }, parameters: { rule, open, ...times }, read }) => {
      const observed = await read((db) => selectObservations(db, id, toPeriod(times, maxDays)));
      const isAsked = ({ closed }: OrganizationExposure) => open === null || String(closed === null) === open;
      const isNext = ({ check, opened }: OrganizationExposure) =>
        after === null ||
        check > after.key ||
        (check === after.key && Date.parse(opened.known_at) < after.createdAt.getTime());
      // A year of days and intervals for each rule would be computed for nothing.
      return checksOf(observed, rule)
        .flatMap((check) =>
          exposuresOf(timelineOf(check, observed.observations), observed.period)
            .toReversed()
            .map((exposure) => ({ check, vuln_id: toVulnId(check), ...exposure })),
        )
        .filter((exposure) => isAsked(exposure) && isNext(exposure))
        .slice(0, limit + 1);
    },
  });
}

/** The names of the rules that were observed, in their order; with `only` at most this one. */
function checksOf({ observations }: Pick<RuleHistoryInput, "observations">, only: string | null): readonly string[] {
  const checks = new Set(observations.flatMap(({ results }) => Object.keys(results)));
  return [...checks].filter((check) => only === null || check === only).sort();
}

function toVulnId(check: string): string | null {
  return stigRuleNames.find((names) => names.check === check)?.vuln_id ?? null;
}

const defaultDays = 30;
const maxDays = 400;

/** From `from` to `to`, which is now where it is missing or later. Throws `AppError("malformed")`. */
function toPeriod(given: { readonly from: Date | null; readonly to: Date | null }, days: number): Span {
  const now = Date.now();
  const to = Math.min(given.to?.getTime() ?? now, now);
  const from = given.from?.getTime() ?? lastDays(days, to).from;
  if (from <= to && to - from <= maxDays * dayMs) return { from, to };
  throw new AppError(
    "malformed",
    `The query's from is not valid: expected a time before to and before now, at most ${maxDays} days before to`,
  );
}
