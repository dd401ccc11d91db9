import type { TenantDatabase } from "../../../drizzle/with_tenant.ts";
import { ruleHistoryOf } from "../../../shared/history/rule_history.ts";
import { stigRuleNames } from "../../../shared/rule_names.ts";
import type { OrganizationExposure } from "../../../shared/schemas/organization.ts";
import type { RuleHistory } from "../../../shared/schemas/history.ts";
import { selectRules, type RuleQuery, type StoredRule } from "./history_store.ts";
import type { Span } from "../../../shared/history/source.ts";

export type Resolution = "day" | "change";

export interface HistoryPage {
  readonly orgUrl: string;
  readonly rules: readonly RuleHistory[];
  /** The rule that the next page begins with. */
  readonly next: string | null;
}

/** By day, what a calendar shows: without intervals and changes. Rejects with `NotFound`. */
export async function readHistory(db: TenantDatabase, query: RuleQuery, resolution: Resolution): Promise<HistoryPage> {
  const { orgUrl, rules, next } = await selectRules(db, query);
  return { orgUrl, rules: rules.map((rule) => toHistory(rule, query.period, resolution)), next };
}

function toHistory(rule: StoredRule, period: Span, resolution: Resolution): RuleHistory {
  const history = ruleHistoryOf({ ...rule, vulnId: vulnIdOf(rule.check), period });
  return resolution === "day" ? { ...history, intervals: [], changes: [] } : history;
}

function vulnIdOf(check: string): string | null {
  return stigRuleNames.find((names) => names.check === check)?.vuln_id ?? null;
}

export interface ExposureQuery extends Omit<RuleQuery, "isOpenOnly"> {
  /** True: open exposures only. False: closed ones only. Null: both. */
  readonly isOpen: boolean | null;
  /** For the first rule, only exposures that were opened before this time; null: all exposures. */
  readonly before: Date | null;
}

/** By rule, and of each rule the newest first; one beyond the limit. Rejects with `NotFound`. */
export async function readExposures(
  db: TenantDatabase,
  query: ExposureQuery,
): Promise<readonly OrganizationExposure[]> {
  const exposures: OrganizationExposure[] = [];
  let from = query.from;
  do {
    const page = await readHistory(db, { ...query, from, isOpenOnly: query.isOpen === true }, "change");
    for (const { check, vuln_id, exposures: own } of page.rules) {
      const isFirst = check === query.from;
      for (const exposure of own.toReversed()) {
        if (query.isOpen !== null && (exposure.closed === null) !== query.isOpen) continue;
        if (isFirst && query.before !== null && Date.parse(exposure.opened.known_at) >= query.before.getTime())
          continue;
        exposures.push({ check, vuln_id, ...exposure });
      }
    }
    from = page.next;
  } while (from !== null && exposures.length <= query.limit);
  return exposures.slice(0, query.limit + 1);
}
