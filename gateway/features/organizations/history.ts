import type { TenantDatabase } from "../../../drizzle/transactions.ts";
import { ruleHistoryOf } from "../../../shared/history/rule_history.ts";
import type { Span } from "../../../shared/history/observation.ts";
import { stigRuleNames } from "../../../shared/rule_names.ts";
import type { History } from "../../../shared/schemas/history.ts";
import type { OrganizationExposure } from "../../../shared/schemas/organization.ts";
import { selectObservations } from "./organization_store.ts";

export interface HistoryQuery {
  readonly id: string;
  readonly period: Span;
  /** Null: every rule. */
  readonly check: string | null;
  /** The rules after this one, by name; null: from the first. */
  readonly after: string | null;
  readonly limit: number;
  /** Without the intervals: what a calendar shows. */
  readonly isByDay: boolean;
}

/** Rejects with `NotFound`. */
export async function readHistory(
  db: TenantDatabase,
  query: HistoryQuery,
): Promise<History & { readonly last: string | null }> {
  const { id, check: only, after, limit, isByDay } = query;
  const { orgUrl, observations, cutAt } = await selectObservations(db, id, query.period.to);
  const period = { ...query.period, from: Math.max(query.period.from, Math.min(cutAt ?? 0, query.period.to)) };
  const checks = [...new Set(observations.flatMap(({ results }) => Object.keys(results)))]
    .filter((check) => (only === null || check === only) && (after === null || check > after))
    .sort();
  const rules = checks.slice(0, limit).map((check) => {
    const history = ruleHistoryOf({ check, vulnId: vulnIdOf(check), observations, period });
    return isByDay ? { ...history, intervals: [] } : history;
  });
  return {
    schema: "scanstream.history/1",
    from: new Date(period.from).toISOString(),
    to: new Date(period.to).toISOString(),
    organizations: [{ id, org_url: orgUrl, rules }],
    // The last rule of this page; null: there are no more.
    last: checks.length > limit ? (checks[limit - 1] ?? null) : null,
  };
}

export interface ExposureQuery extends Pick<HistoryQuery, "id" | "period" | "check"> {
  /** True: open exposures only. False: closed ones only. Null: both. */
  readonly isOpen: boolean | null;
}

/** Exposures by rule, the newest of each rule first. Rejects with `NotFound`. */
export async function readExposures(
  db: TenantDatabase,
  { isOpen, ...query }: ExposureQuery,
): Promise<readonly OrganizationExposure[]> {
  const { organizations } = await readHistory(db, { ...query, after: null, limit: Infinity, isByDay: true });
  return organizations
    .flatMap(({ rules }) => rules)
    .flatMap(({ check, vuln_id, exposures }) =>
      exposures.toReversed().map((exposure) => ({ check, vuln_id, ...exposure })),
    )
    .filter(({ closed }) => isOpen === null || (closed === null) === isOpen);
}

function vulnIdOf(check: string): string | null {
  return stigRuleNames.find((names) => names.check === check)?.vuln_id ?? null;
}
