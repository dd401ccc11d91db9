import { lastDays, startOfDay, dayMs } from "../../shared/history/rule_history.ts";
import type { Span } from "../../shared/history/observation.ts";
import type { History, RuleHistory } from "../../shared/schemas/history.ts";
import { catalog } from "../catalog/catalog.ts";
import { controlsOf } from "../catalog/controls.ts";
import { mergeSpans } from "./history_input.ts";

/** How many days of history the view is made of. */
export const viewDays = 365;
const dailyDays = 30;

export type ControlView = ReturnType<typeof controlView>;

/** How much of the known time each control of NIST SP 800-53 was in PASS, FAIL and MANUAL; it claims no compliance. The history needs the last 365 days. */
export function controlView({ to, organizations }: History) {
  return {
    schema: "scanstream.controls/1" as const,
    organizations: organizations.map(({ org_url, rules }) => {
      const ids = [...new Set(rules.flatMap(controlIdsOf))].sort();
      const controls = ids.map((control) => {
        const own = rules.filter((rule) => controlIdsOf(rule).includes(control));
        return { control, ...measure(own, Date.parse(to)) };
      });
      return { org_url, controls };
    }),
  };
}

function controlIdsOf({ check }: RuleHistory): readonly string[] {
  const known = catalog.find(({ name }) => name === check);
  return known === undefined ? [] : controlsOf(known.rule).map(({ id }) => id);
}

function measure(rules: readonly RuleHistory[], now: number) {
  const intervals = rules.flatMap((rule) => rule.intervals).filter(({ status }) => status !== "UNKNOWN");
  const counted = intervals
    .filter(({ reason }) => reason !== "not_applicable")
    .map(({ from, to, status }) => ({ from: Date.parse(from), to: Date.parse(to), isPass: status === "PASS" }));
  const ends = intervals.map(({ to }) => to).sort();
  const known = mergeSpans(counted);
  const month = lastDays(dailyDays, now);
  return {
    /** V-numbers. */
    rules: rules.map(({ vuln_id, check }) => vuln_id ?? check).sort(),
    share_30_days: shareOf(counted, month),
    share_365_days: shareOf(counted, lastDays(viewDays, now)),
    /** The last 30 UTC days, today last; `known_seconds` is the time in which at least one of the rules was known. */
    daily: Array.from({ length: dailyDays }, (_, index) => {
      const from = startOfDay(month.from) + index * dayMs;
      const period = { from, to: Math.min(from + dayMs, now) };
      const day = new Date(from).toISOString().slice(0, 10);
      return { day, share: shareOf(counted, period), known_seconds: lengthIn(known, period) / 1000 };
    }),
    /** When a rule was last known; null: never. */
    newest_proof_at: ends.at(-1) ?? null,
  };
}

/** PASS seconds ÷ known seconds, without the time in which a rule was not applicable; null: nothing is known. */
function shareOf(spans: readonly (Span & { readonly isPass: boolean })[], period: Span): number | null {
  const known = lengthIn(spans, period);
  const passing = spans.filter(({ isPass }) => isPass);
  return known === 0 ? null : lengthIn(passing, period) / known;
}

function lengthIn(spans: readonly Span[], { from: start, to: end }: Span): number {
  return spans.reduce((sum, { from, to }) => sum + Math.max(0, Math.min(to, end) - Math.max(from, start)), 0);
}
