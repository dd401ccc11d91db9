import { frame } from "../bench/svg.ts";
import { pointsOf, type LifeFigures } from "./held.ts";

const lines = [
  { name: "rssMiB", label: "resident", color: "#2463eb", legendAt: 50 },
  { name: "heapTotalMiB", label: "V8's heap, garbage included", color: "#9aa3b2", legendAt: 140 },
  { name: "liveMiB", label: "heap after a collection", color: "#16a34a", legendAt: 350 },
] as const;
const plot = { left: 50, top: 64, width: 600, height: 220 } as const;
const stepMiB = 100;

/** The memory of both processes, one after the other: the second begins where the first was stopped. */
export function memoryPlot(lives: readonly LifeFigures[]): string {
  const spans = lives.map(({ samples }) => samples.at(-1)?.atSeconds ?? 0);
  const seconds = spans.reduce((sum, span) => sum + span, 0);
  const most = Math.max(...lives.flatMap(({ samples }) => samples.map(({ rssMiB }) => rssMiB)));
  const top = Math.ceil(most / stepMiB) * stepMiB;
  const x = (at: number) => plot.left + (at / seconds) * plot.width;
  const y = (mib: number) => plot.top + plot.height - (mib / top) * plot.height;
  let from = 0;
  const drawn = lives.map(({ samples }, index) => {
    const beganAt = from;
    from += spans[index] ?? 0;
    return lines.map(({ name, color }) => {
      const points = pointsOf(samples, name).map(
        ({ atSeconds, value }) => `${x(beganAt + atSeconds).toFixed(1)},${y(value).toFixed(1)}`,
      );
      return `<polyline points="${points.join(" ")}" fill="none" stroke="${color}" stroke-width="1.5"/>`;
    });
  });
  return frame(
    680,
    330,
    '<text x="16" y="22" font-weight="600">Memory of the gateway\'s process under the soak, MiB over minutes</text>' +
      [...legend(), ...gridOf(top, y), ...minuteMarks(seconds, x), restartMark(x(spans[0] ?? 0)), ...drawn.flat()].join(
        "",
      ),
  );
}

function legend(): readonly string[] {
  return lines.map(
    ({ label, color, legendAt }) =>
      `<rect x="${legendAt}" y="40" width="12" height="4" fill="${color}"/>` +
      `<text x="${legendAt + 18}" y="46" font-size="12">${label}</text>`,
  );
}

function gridOf(top: number, y: (mib: number) => number): readonly string[] {
  return Array.from({ length: top / stepMiB + 1 }, (_, step) => {
    const at = y(step * stepMiB).toFixed(0);
    return (
      `<line x1="${plot.left}" y1="${at}" x2="${plot.left + plot.width}" y2="${at}" stroke="#e5e7eb"/>` +
      `<text x="${plot.left - 8}" y="${Number(at) + 4}" text-anchor="end" font-size="11">${step * stepMiB}</text>`
    );
  });
}

/** Around ten of them, at whole minutes. */
function minuteMarks(seconds: number, x: (at: number) => number): readonly string[] {
  const everyMinutes = Math.max(1, Math.round(seconds / 600));
  return Array.from({ length: Math.floor(seconds / 60 / everyMinutes) + 1 }, (_, index) => {
    const minute = index * everyMinutes;
    const at = x(minute * 60).toFixed(0);
    return `<text x="${at}" y="${plot.top + plot.height + 18}" text-anchor="middle" font-size="11">${minute}</text>`;
  });
}

function restartMark(at: number): string {
  const bottom = plot.top + plot.height;
  return (
    `<line x1="${at.toFixed(0)}" y1="${plot.top}" x2="${at.toFixed(0)}" y2="${bottom}" stroke="#6b7280" stroke-dasharray="4 3"/>` +
    `<text x="${at.toFixed(0)}" y="${bottom + 36}" text-anchor="middle" font-size="11">SIGTERM, and a new process</text>`
  );
}
