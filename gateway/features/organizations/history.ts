import type { TenantDatabase } from "../../../drizzle/transactions.ts";
import { ruleHistoryOf } from "../../../shared/history/rule_history.ts";
import { stigRuleNames } from "../../../shared/rule_names.ts";
import type { OrganizationExposure } from "../../../shared/schemas/organization.ts";
import type { RuleHistory } from "../../../shared/schemas/history.ts";
import { selectRules, type RuleQuery } from "./history_store.ts";

export interface HistoryPage {
  readonly orgUrl: string;
  readonly rules: readonly RuleHistory[];
  /** The rule that the next page begins with. */
  readonly next: string | null;
}

/** Without the changes, the intervals are empty, too: what a calendar shows. Rejects with `NotFound`. */
export async function readHistory(db: TenantDatabase, query: RuleQuery): Promise<HistoryPage> {
  const { orgUrl, rules, next } = await selectRules(db, query);
  const { period, withChanges } = query;
  const histories = rules.map((rule) => {
    const history = ruleHistoryOf({ ...rule, vulnId: vulnIdOf(rule.check), period });
    return withChanges ? history : { ...history, intervals: [] };
  });
  return { orgUrl, rules: histories, next };
}

function vulnIdOf(check: string): string | null {
  return stigRuleNames.find((names) => names.check === check)?.vuln_id ?? null;
}

export interface ExposureQuery extends Omit<RuleQuery, "isOpenOnly" | "withChanges"> {
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
    const page = await readHistory(db, { ...query, from, isOpenOnly: query.isOpen === true, withChanges: false });
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
