import { countOf } from "../../../../shared/outcome_text.ts";
import type { HistoryDay } from "../../../../shared/schemas/history.ts";
import { formatDay, formatSince } from "../../model/format.ts";
import type { RuleRow, TrendDay } from "../../model/rules.ts";

/** `since 05:02, Alex Admin`, `since 05:02 or before`, `passing since Mar 3 (271 days, 12 unknown)`. */
export function sinceText({ state, since }: Pick<RuleRow, "state" | "since">, now: number): string {
  if (since === null) return "";
  const { atMs, isFirst = false, actor, days } = since;
  if (days !== null && state === "pass") {
    const total = days.known + days.unknown;
    const unknown = days.unknown === 0 ? "" : `, ${days.unknown} unknown`;
    return `passing since ${formatDay(atMs, now, "UTC")} (${total} ${total === 1 ? "day" : "days"}${unknown})`;
  }
  const time = `${formatSince(atMs, now)}${isFirst ? " or before" : ""}`;
  return `${state === "pass" ? "passing " : ""}since ${time}${actor === null ? "" : `, ${actor}`}`;
}

interface Bar {
  readonly tone: string;
  readonly days: number;
  /** 0 to 10. */
  readonly height: number;
}

function Bars(props: { readonly class: string; readonly label: string; readonly bars: readonly Bar[] }) {
  const { label, bars } = props;
  const total = bars.reduce((sum, { days }) => sum + days, 0);
  let x = 0;
  return (
    <svg class={props.class} viewBox={`0 0 ${Math.max(1, total)} 10`} preserveAspectRatio="none" role="img">
      <title>{label}</title>
      {bars.map(({ tone, days, height }) => {
        x += days;
        return <rect key={x} class={`bar-${tone}`} x={x - days} y={10 - height} width={days} height={height} />;
      })}
    </svg>
  );
}

/** The days of a rule, alike ones as one piece; what is not known is a gap. */
export function Days({ days }: { readonly days: readonly HistoryDay[] }) {
  const pieces: { readonly tone: string; days: number; readonly height: number }[] = [];
  for (const { status } of days) {
    const last = pieces.at(-1);
    if (last?.tone === status) last.days += 1;
    else pieces.push({ tone: status, days: 1, height: status === "FAIL" ? 10 : status === "UNKNOWN" ? 1 : 3 });
  }
  const count = (wanted: HistoryDay["status"]) => days.filter(({ status }) => status === wanted).length;
  const label = `${days.length} days: ${count("FAIL")} failing, ${count("UNKNOWN")} unknown`;
  return <Bars class="days" label={label} bars={pieces} />;
}

/** A bar a day, as high as rules failed; a line for a day without a scan or a monitor. */
export function Trend({ days }: { readonly days: readonly TrendDay[] }) {
  const most = Math.max(1, ...days.map(({ fail }) => fail ?? 0));
  const known = days.flatMap(({ fail }) => fail ?? []);
  const label =
    known.length === 0
      ? `No scan or monitor in ${days.length} days`
      : `Failed rules in ${days.length} days: ${known[0]} to ${known.at(-1)}; ${countOf(known.length, "day")} known`;
  const bars = days.map(({ fail }) => ({
    tone: fail === null ? "UNKNOWN" : fail === 0 ? "PASS" : "FAIL",
    days: 1,
    height: fail === null ? 0.5 : Math.max(1, (fail / most) * 10),
  }));
  return <Bars class="trend" label={label} bars={bars} />;
}
