import { element, setText, svg } from "./dom.ts";
import { formatTime } from "./format.ts";
import { isEnded, type Scan } from "./scan_wire.ts";

export interface TrendView {
  readonly element: HTMLElement;
  /** `scans` are those of one org, in any order. */
  update(scans: readonly Scan[], currentId: string): void;
}

const maxBars = 16;
/** Few bars are drawn as wide as if there were so many. */
const minSlots = 8;
const width = 320;
const height = 92;
const barGap = 4;

/** How the org fared over its last scans: one stacked bar for each, the oldest first. */
export function createTrendView(): TrendView {
  const summary = element("p", { class: "trend-summary" });
  const figure = element("div", { class: "trend-chart" });
  let drawn = "";
  return {
    element: element("section", { class: "card trend", attributes: { "aria-labelledby": "trend-title" } }, [
      element("h2", { text: "Trend", attributes: { id: "trend-title" } }),
      figure,
      summary,
    ]),
    update(scans, currentId) {
      const bars = scans
        .filter((scan) => isShown(scan, currentId))
        .sort((a, b) => (a.createdAtMs ?? 0) - (b.createdAtMs ?? 0))
        .slice(-maxBars);
      const key = JSON.stringify([
        currentId,
        bars.map(({ id, status, pass, fail, manual }) => [id, status, pass, fail, manual]),
      ]);
      if (key === drawn) return;
      drawn = key;
      const text = toSummary(bars.filter(({ status }) => isEnded(status)));
      setText(summary, text);
      figure.replaceChildren(draw(bars, currentId, text));
    },
  };
}

/** A scan that was broken off says nothing about the org, unless it is the one that is looked at. */
function isShown(scan: Scan, currentId: string): boolean {
  const isCounted = scan.pass + scan.fail + scan.manual > 0;
  return isCounted && (scan.id === currentId || (isEnded(scan.status) && scan.status === "completed"));
}

function toSummary(bars: readonly Scan[]): string {
  const first = bars[0];
  const last = bars.at(-1);
  if (first === undefined || last === undefined || bars.length < 2) {
    return "The trend appears when a second scan of this organization has ended.";
  }
  const change = last.fail - first.fail;
  const words = change === 0 ? "unchanged" : change < 0 ? `${-change} fewer` : `${change} more`;
  return `Failing checks over ${bars.length} scans: ${first.fail} → ${last.fail}, ${words}`;
}

function draw(bars: readonly Scan[], currentId: string, text: string): SVGSVGElement {
  const slots = Math.max(minSlots, bars.length);
  const slot = width / slots;
  const most = Math.max(1, ...bars.map(({ pass, fail, manual }) => pass + fail + manual));
  const groups = bars.map((scan, index) => {
    const x = (slots - bars.length + index) * slot + barGap / 2;
    let y = height - 6;
    const parts = (["fail", "manual", "pass"] as const).map((name) => {
      const size = (scan[name] / most) * (height - 12);
      y -= size;
      return svg("rect", {
        class: `trend-${name}`,
        attributes: { x, y, width: slot - barGap, height: Math.max(0, size - 1), rx: 1.5 },
      });
    });
    const title = `${scan.createdAtMs === null ? "" : `${formatTime(scan.createdAtMs)}: `}${scan.fail} fail, ${scan.manual} manual, ${scan.pass} pass`;
    const marker = svg("circle", {
      class: "trend-marker",
      attributes: { cx: x + (slot - barGap) / 2, cy: height - 1.6, r: 1.6 },
    });
    // Under a bar that stands alone it would be a stray dot.
    const isMarked = scan.id === currentId && bars.length > 1;
    return svg("g", { class: scan.id === currentId ? "trend-bar trend-current" : "trend-bar" }, [
      svg("title", { text: title }),
      ...parts,
      isMarked ? marker : null,
    ]);
  });
  return svg("svg", { attributes: { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": text } }, [
    svg("line", { class: "trend-base", attributes: { x1: 0, x2: width, y1: height - 5, y2: height - 5 } }),
    ...Array.from({ length: slots - bars.length }, (_slot, index) =>
      svg("rect", {
        class: "trend-empty",
        attributes: { x: index * slot + barGap / 2, y: height - 10, width: slot - barGap, height: 3, rx: 1.5 },
      }),
    ),
    ...groups,
  ]);
}
