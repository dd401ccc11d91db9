import { lastDays, startOfDay, dayMs } from "../../shared/history/days.ts";
import type { Span } from "../../shared/history/observation.ts";
import type { History, RuleHistory } from "../../shared/schemas/history.ts";
import { catalog } from "../catalog/catalog.ts";
import { controlsOf } from "../catalog/controls.ts";
import { mergeSpans } from "./history_input.ts";

/** Shares of the verdicts by control of NIST SP 800-53. None of them says that a control is met. */

interface Measures {
  /** V-numbers. */
  readonly rules: readonly string[];
  /** PASS seconds of its rules ÷ their known seconds, without the time in which a rule was not applicable; null: nothing is known. */
  readonly share_30_days: number | null;
  readonly share_365_days: number | null;
  /** The last 30 UTC days, today last. */
  readonly daily: readonly {
    readonly day: string;
    readonly share: number | null;
    /** The time in which at least one of the rules was known. */
    readonly known_seconds: number;
  }[];
  /** When a rule was last known; null: never. */
  readonly newest_proof_at: string | null;
}

export interface ControlView {
  readonly schema: "scanstream.controls/1";
  readonly organizations: readonly {
    readonly org_url: string;
    readonly controls: readonly ({ readonly control: string } & Measures)[];
  }[];
}

/** How many days of history the view is made of. */
export const viewDays = 365;
const dailyDays = 30;

/** The history has to have the last 365 days. */
export function controlView({ to, organizations }: History): ControlView {
  return {
    schema: "scanstream.controls/1",
    organizations: organizations.map(({ org_url, rules }) => ({
      org_url,
      controls: [...new Set(rules.flatMap(controlIdsOf))].sort().map((control) => {
        const touching = rules.filter((rule) => controlIdsOf(rule).includes(control));
        return { control, ...measure(touching, Date.parse(to)) };
      }),
    })),
  };
}

function controlIdsOf({ check }: RuleHistory): readonly string[] {
  const known = catalog.find(({ name }) => name === check);
  return known === undefined ? [] : controlsOf(known.rule).map(({ id }) => id);
}

function measure(rules: readonly RuleHistory[], now: number): Measures {
  const intervals = rules.flatMap((rule) => rule.intervals).filter(({ status }) => status !== "UNKNOWN");
  const counted = intervals
    .filter(({ reason }) => reason !== "not_applicable")
    .map(({ from, to, status }) => ({ from: Date.parse(from), to: Date.parse(to), isPass: status === "PASS" }));
  const month = lastDays(dailyDays, now);
  const ends = intervals.map(({ to }) => to).sort();
  return {
    rules: rules.map(({ vuln_id, check }) => vuln_id ?? check).sort(),
    share_30_days: shareOf(counted, month),
    share_365_days: shareOf(counted, lastDays(viewDays, now)),
    daily: Array.from({ length: dailyDays }, (_, index) => {
      const from = startOfDay(month.from) + index * dayMs;
      const period = { from, to: Math.min(from + dayMs, now) };
      const known = mergeSpans(counted.flatMap((span) => within(span, period)));
      const day = new Date(from).toISOString().slice(0, 10);
      return { day, share: shareOf(counted, period), known_seconds: lengthOf(known) / 1000 };
    }),
    newest_proof_at: ends.at(-1) ?? null,
  };
}

function shareOf(spans: readonly (Span & { readonly isPass: boolean })[], period: Span): number | null {
  const known = lengthOf(spans.flatMap((span) => within(span, period)));
  const passed = lengthOf(spans.filter(({ isPass }) => isPass).flatMap((span) => within(span, period)));
  return known === 0 ? null : passed / known;
}

function within(span: Span, period: Span): readonly Span[] {
  const [from, to] = [Math.max(span.from, period.from), Math.min(span.to, period.to)];
  return from < to ? [{ from, to }] : [];
}

function lengthOf(spans: readonly Span[]): number {
  return spans.reduce((sum, { from, to }) => sum + to - from, 0);
}
