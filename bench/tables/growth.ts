import { writeFile } from "node:fs/promises";
import type { FanOutFigures as Point } from "../fan_out.ts";
import { frame } from "../svg.ts";
import { imagePath, readResult } from "./results.ts";

type Growth = Readonly<Record<string, readonly (Point & { readonly at: number })[]>>;

/** Also draws the plot. */
export async function growthSection(): Promise<string> {
  const { figures } = await readResult<Growth>("growth");
  await writeFile(imagePath("performance_growth"), growthPlot(figures));
  return growthTable(figures);
}

function growthTable(series: Growth): string {
  const rows = Object.entries(series).map(
    ([name, points]) =>
      `| ${name} | ${points.map(({ at, cpuMicroseconds }) => `${at}: ${cpuMicroseconds.toFixed(2)}`).join(" · ")} |`,
  );
  return ["| grows | CPU for an event of a stream, µs |", "|---|---|", ...rows].join("\n");
}

/** Four small plots, each with a logarithmic scale to the right: what is linear in the work is level here. */
function growthPlot(series: Growth): string {
  const plots = Object.entries(series).map(([name, points], index) => {
    const left = 50 + (index % 2) * 330;
    const top = 50 + Math.floor(index / 2) * 190;
    const most = Math.max(...points.map(({ cpuMicroseconds }) => cpuMicroseconds));
    const [low, high] = [points[0]?.at ?? 1, points.at(-1)?.at ?? 1].map(Math.log10);
    const place = ({ at, cpuMicroseconds }: Point & { readonly at: number }) => ({
      x: left + ((Math.log10(at) - (low ?? 0)) / ((high ?? 1) - (low ?? 0))) * 240,
      y: top + 120 - (cpuMicroseconds / most) * 110,
    });
    const line = points.map((point) => `${place(point).x.toFixed(0)},${place(point).y.toFixed(0)}`).join(" ");
    const marks = points.map((point) => {
      const { x, y } = place(point);
      return (
        `<circle cx="${x.toFixed(0)}" cy="${y.toFixed(0)}" r="3.5" fill="#2463eb"/>` +
        `<text x="${x.toFixed(0)}" y="${(y - 8).toFixed(0)}" text-anchor="middle" font-size="10">${point.cpuMicroseconds.toFixed(2)}</text>` +
        `<text x="${x.toFixed(0)}" y="${top + 136}" text-anchor="middle" font-size="10">${point.at.toLocaleString("en-US")}</text>`
      );
    });
    return (
      `<text x="${left}" y="${top - 14}" font-weight="600">${name}</text>` +
      `<line x1="${left - 12}" y1="${top + 120}" x2="${left + 256}" y2="${top + 120}" stroke="#9aa3b2"/>` +
      `<polyline points="${line}" fill="none" stroke="#2463eb" stroke-width="2"/>${marks.join("")}`
    );
  });
  return frame(
    680,
    430,
    `<text x="16" y="22" font-weight="600">CPU time of an event for a stream, µs, as one thing grows</text>${plots.join("")}`,
  );
}
