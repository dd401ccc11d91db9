import { useEffect, useState } from "preact/hooks";
import type { Api } from "../model/api.ts";
import { formatTime } from "../model/format.ts";
import { outcomeText } from "../../../shared/outcome_text.ts";
import { ruleStates } from "../../../shared/report.ts";
import { countDone } from "../model/scan_model.ts";
import { isEnded, toCounts, type Scan } from "../scan_wire.ts";
import { stateTones } from "./basics.tsx";

const maxBars = 16;
/** Few bars are drawn as wide as if there were this many. */
const minSlots = 8;
const width = 320;
const height = 92;
const barGap = 4;
const historyLimit = 200;

interface TrendProps {
  /** May hold scans of other organizations, and a scan more than once: the last one counts. */
  readonly scans: readonly Scan[];
  /** Older scans are not read yet. */
  readonly isLoading: boolean;
  readonly current: Scan;
}

/** The last scans of the current one's organization: one stacked bar for each, the oldest first. */
export function Trend({ scans, isLoading, current }: TrendProps) {
  const bars = toBars(scans, current);
  const text = isLoading ? "Loading older scans…" : toSummary(bars.filter(({ status }) => isEnded(status)));
  const slots = Math.max(minSlots, bars.length);
  const slot = width / slots;
  const empty = slots - bars.length;
  const most = Math.max(1, ...bars.map((scan) => countDone(toCounts(scan))));
  return (
    <section class="card trend" aria-labelledby="trend-title">
      <h2 id="trend-title">Trend</h2>
      <div class="trend-chart">
        <svg viewBox={`0 0 ${width} ${height}`} role="img" aria-label={text}>
          <line class="trend-base" x1={0} x2={width} y1={height - 5} y2={height - 5} />
          {Array.from({ length: empty }, (_slot, index) => (
            <rect
              key={index}
              class="filled tone-none"
              x={index * slot + barGap / 2}
              y={height - 10}
              width={slot - barGap}
              height={3}
              rx={1.5}
            />
          ))}
          {bars.map((scan, index) => (
            <Bar
              key={scan.id}
              scan={scan}
              x={(empty + index) * slot + barGap / 2}
              barWidth={slot - barGap}
              heightOfOne={(height - 12) / most}
              isCurrent={scan.id === current.id}
              // Under a bar that stands alone it would be a stray dot.
              isMarked={scan.id === current.id && bars.length > 1}
            />
          ))}
        </svg>
      </div>
      <p class="note">{text}</p>
    </section>
  );
}

function Bar(props: {
  readonly scan: Scan;
  readonly x: number;
  readonly barWidth: number;
  readonly heightOfOne: number;
  readonly isCurrent: boolean;
  readonly isMarked: boolean;
}) {
  const { scan, x, barWidth, isCurrent } = props;
  const time = scan.createdAtMs === null ? "" : `${formatTime(scan.createdAtMs)}: `;
  const counts = toCounts(scan);
  let y = height - 6;
  return (
    <g class={isCurrent ? "trend-bar trend-current" : "trend-bar"}>
      <title>{`${time}${outcomeText((state) => counts[state])}`}</title>
      {ruleStates.map((state) => {
        const size = counts[state] * props.heightOfOne;
        y -= size;
        return (
          <rect
            key={state}
            class={`filled ${stateTones[state]}`}
            x={x}
            y={y}
            width={barWidth}
            height={Math.max(0, size - 1)}
            rx={1.5}
          />
        );
      })}
      {props.isMarked && <circle fill="currentcolor" cx={x + barWidth / 2} cy={height - 1.6} r={1.6} />}
    </g>
  );
}

/** A scan that was broken off says nothing about the organization, unless it is the current one. */
function toBars(scans: readonly Scan[], current: Scan): readonly Scan[] {
  const known = new Map(scans.map((scan) => [scan.id, scan]));
  known.set(current.id, current);
  return [...known.values()]
    .filter((scan) => {
      const { id, orgUrl, status } = scan;
      const isComparable = orgUrl !== null && orgUrl === current.orgUrl && status === "completed";
      return countDone(toCounts(scan)) > 0 && (id === current.id || isComparable);
    })
    .sort((a, b) => (a.createdAtMs ?? 0) - (b.createdAtMs ?? 0))
    .slice(-maxBars);
}

function toSummary(bars: readonly Scan[]): string {
  const first = bars[0];
  const last = bars.at(-1);
  if (first === undefined || last === undefined || bars.length < 2) {
    return "The trend appears when a second scan of this organization has ended.";
  }
  const change = last.fail - first.fail;
  const words = change === 0 ? "unchanged" : change < 0 ? `${-change} fewer` : `${change} more`;
  return `Failed rules over ${bars.length} scans: ${first.fail} → ${last.fail}, ${words}`;
}

/** Scans from before the ones that the list knows; none where they could not be read. Null: not read yet. */
export function useHistory(api: Api): readonly Scan[] | null {
  const [history, setHistory] = useState<readonly Scan[] | null>(null);
  useEffect(() => {
    const closing = new AbortController();
    // Without it, the trend is drawn of what the list knows.
    api.listScans({ limit: historyLimit, cursor: null, signal: closing.signal }).then(
      ({ items }) => setHistory(items),
      () => {
        if (!closing.signal.aborted) setHistory([]);
      },
    );
    return () => closing.abort();
  }, [api]);
  return history;
}
