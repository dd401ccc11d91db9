import { causesHeadline, closesText, rankableFailures, rankCauses } from "../../shared/causes.ts";
import type { Report } from "../../shared/report.ts";

export type ChangeList = ReturnType<typeof changeLines>;

/** The first changes of a report in order, the number that is `left`, and the headline above them; empty without changes. */
export function changeLines({ checks, causes }: Pick<Report, "checks" | "causes">, most = Infinity) {
  const known = new Map(causes.map(({ id, change }) => [id, change]));
  const failures = rankableFailures(checks).map((failure) => {
    const { cause } = failure;
    return cause === null || known.has(cause) ? failure : { ...failure, cause: null };
  });
  const ranked = rankCauses(failures);
  return {
    headline: causesHeadline(ranked),
    left: Math.max(0, ranked.causes.length - most),
    changes: ranked.causes.slice(0, most).map((cause) => {
      const { number, id } = cause;
      const vulnIds = checks.filter(({ check }) => cause.checks.includes(check)).map((check) => check.vuln_id);
      // `closes 1 rule now, 6 more together with change 3`, and the V-numbers of the rules that it closes findings of.
      return { number, id, change: known.get(id) ?? "", closes: closesText(cause), vulnIds };
    }),
  };
}
