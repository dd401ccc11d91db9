import { writeFile } from "node:fs/promises";
import type { FanOutFigures as Point } from "../fan_out.ts";
import { frame } from "../svg.ts";
import { imagePath, machineText, readResult } from "./results.ts";

export type FanOut = Readonly<Record<string, Readonly<Record<string, Point>>>>;

/** Also draws the plot. */
export async function fanOutSection(): Promise<string> {
  const result = await readResult<FanOut>("fan_out");
  const [first = {}] = Object.values(result.figures);
  await writeFile(
    imagePath("performance_fan_out"),
    barPlot("CPU time of one event for one stream, µs (1,000 streams)", first),
  );
  const tables = Object.entries(result.figures).map(([title, servers]) => fanOutTable(title, servers));
  return [`${machineText(result)}.`, ...tables].join("\n\n");
}

function fanOutTable(title: string, servers: Readonly<Record<string, Point>>): string {
  const nchan = servers["nchan"];
  const raw = servers["raw C"];
  const ratio = (ours: number, theirs: number | undefined) => (theirs === undefined ? "–" : (ours / theirs).toFixed(2));
  const rows = Object.entries(servers).map(
    ([name, point]) =>
      `| ${name} | ${(point.eventsPerSecond / 1000).toFixed(0)} k/s | ${ratio(point.eventsPerSecond, nchan?.eventsPerSecond)} | ` +
      `${ratio(point.eventsPerSecond, raw?.eventsPerSecond)} | ${point.cpuMicroseconds.toFixed(2)} µs | ` +
      `${nchan === undefined ? "–" : ratio(nchan.cpuMicroseconds, point.cpuMicroseconds)} | ${point.p50Ms.toFixed(1)} ms | ${point.p99Ms.toFixed(1)} ms |`,
  );
  return [
    `| ${title} | events | ÷ nchan | ÷ raw C | CPU for each | nchan's CPU ÷ its | p50 | p99 |`,
    "|---|---|---|---|---|---|---|---|",
    ...rows,
  ].join("\n");
}

function barPlot(title: string, servers: Readonly<Record<string, Point>>): string {
  const entries = Object.entries(servers);
  const most = Math.max(...entries.map(([, { cpuMicroseconds }]) => cpuMicroseconds));
  const bars = entries.map(([name, { cpuMicroseconds }], index) => {
    const y = 44 + index * 30;
    const width = (cpuMicroseconds / most) * 380;
    const color = name.startsWith("gateway") ? "#2463eb" : "#9aa3b2";
    return (
      `<text x="196" y="${y + 15}" text-anchor="end">${name}</text>` +
      `<rect x="206" y="${y}" width="${width.toFixed(0)}" height="20" fill="${color}"/>` +
      `<text x="${(214 + width).toFixed(0)}" y="${y + 15}">${cpuMicroseconds.toFixed(2)}</text>`
    );
  });
  return frame(660, 60 + entries.length * 30, `<text x="16" y="24" font-weight="600">${title}</text>${bars.join("")}`);
}
