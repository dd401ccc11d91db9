import { countOf } from "../../shared/outcome_text.ts";
import type { Cause, Report } from "../../shared/report.ts";
import { stateOf } from "../../shared/rule_result.ts";

/** `4 changes close 14 of 17 rules`; empty where there is no cause. A rule whose failing findings are all waived does not count. */
export function causesLine({ checks, causes }: Report): string {
  if (causes.length === 0) return "";
  const failing = checks
    .filter((check) => stateOf(check) === "fail")
    .map(({ findings }) => findings.filter(({ status, waived, advisory }) => status === "FAIL" && !waived && !advisory))
    .filter((findings) => findings.length > 0);
  const closed = failing.filter((findings) => findings.every(({ cause }) => cause !== null)).length;
  return `${causes.length === 1 ? "1 change closes" : `${causes.length} changes close`} ${closed} of ${countOf(failing.length, "rule")}`;
}

/** What a cause closes, in words: `3 rules, 5 findings`. */
export function closedText({ checks, findings }: Cause): string {
  return `${countOf(checks.length, "rule")}, ${countOf(findings, "finding")}`;
}
