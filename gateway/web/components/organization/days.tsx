import type { HistoryDay } from "../../../../shared/schemas/history.ts";
import { formatSince } from "../../model/format.ts";
import type { RuleRow } from "../../model/rules.ts";

/** `since 05:02, Alex Admin`, `passing since Mar 3 (271 days, 12 unknown)`. */
export function sinceText({ state, since }: Pick<RuleRow, "state" | "since">, now: number): string {
  if (since === null) return "";
  const { atMs, actor, days } = since;
  if (days !== null && state === "pass") {
    const total = days.known + days.unknown;
    const unknown = days.unknown === 0 ? "" : `, ${days.unknown} unknown`;
    // The days are of UTC: their noon is on the same date in most zones.
    const from = formatSince(atMs + 43_200_000, now + 2 * 86_400_000);
    return `passing since ${from} (${total} ${total === 1 ? "day" : "days"}${unknown})`;
  }
  return `${state === "pass" ? "passing " : ""}since ${formatSince(atMs, now)}${actor === null ? "" : `, ${actor}`}`;
}

/** The days of a rule, alike ones as one piece; what is not known is a gap. */
export function Days({ days }: { readonly days: readonly HistoryDay[] }) {
  const pieces: { readonly status: string; readonly from: number; count: number }[] = [];
  for (const [index, { status }] of days.entries()) {
    const last = pieces.at(-1);
    if (last?.status === status) last.count += 1;
    else pieces.push({ status, from: index, count: 1 });
  }
  const failing = days.filter(({ status }) => status === "FAIL").length;
  const unknown = days.filter(({ status }) => status === "UNKNOWN").length;
  const label = `${days.length} days: ${failing} failing, ${unknown} unknown`;
  return (
    <svg
      class="days"
      viewBox={`0 0 ${Math.max(1, days.length)} 10`}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      <title>{label}</title>
      {pieces.map(({ status, from, count }) => {
        const height = status === "FAIL" ? 10 : status === "UNKNOWN" ? 1 : 3;
        return <rect key={from} class={`day-${status}`} x={from} y={10 - height} width={count} height={height} />;
      })}
    </svg>
  );
}
