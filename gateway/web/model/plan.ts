import { causesHeadline, closesText, joinChanges, rankCauses } from "../../../shared/causes.ts";
import { vulnIdOf } from "../../../shared/rule_names.ts";
import { decidingFindings } from "../../../shared/rule_result.ts";
import { shortFix } from "./check_catalog.ts";
import type { RuleRow } from "./rules.ts";
import type { DecisionIndex } from "./decisions/decision_index.ts";

export type Plan = ReturnType<typeof toPlan>;

/** From the failing findings that decide their rules. The order is that of the reports; a rule of CAT I that no change closes yet comes first. */
export function toPlan(rules: readonly RuleRow[], { waiverOf }: Pick<DecisionIndex, "waiverOf">) {
  const failing = rules.flatMap(({ state, findings }) => (state === "fail" ? decidingFindings(findings) : []));
  const ranked = rankCauses(
    failing.map((finding) => ({
      ...finding,
      vuln_id: vulnIdOf(finding.check),
      waived: waiverOf(finding) !== null,
    })),
  );
  const known = new Set(ranked.causes.flatMap(({ checks }) => checks));
  const unnamed = rules
    .filter(({ check, state, isWaived }) => state === "fail" && !isWaived && !known.has(check))
    .map(({ check, severity, findings }) => {
      // No run has named the object to change yet.
      return { id: check, number: null, closes: "", checks: [check], findings, isCatI: severity === "high" };
    });
  const named = ranked.causes.map((cause) => {
    const isCatI = cause.findings.some(({ severity }) => severity === "high");
    return { ...cause, closes: closesText(cause), isCatI };
  });
  const [first, last] = [unnamed.filter(({ isCatI }) => isCatI), unnamed.filter(({ isCatI }) => !isCatI)];
  return {
    headline: causesHeadline(ranked) || (unnamed.length === 0 ? "" : "What fails has to be fixed rule by rule"),
    /** In the words of the reports, each with the checks that it closes alone or with others. */
    changes: [...first, ...named, ...last].map(({ findings, ...one }) => ({
      ...one,
      /** The place, and what to change there. */
      change: joinChanges(findings.flatMap(({ to_pass }) => to_pass ?? [])) || shortFix(one.checks[0] ?? ""),
    })),
  };
}
