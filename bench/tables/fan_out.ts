import type { FanOutFigures as Point } from "../fan_out.ts";
import { machineText, readResult } from "./results.ts";

export type FanOut = Readonly<Record<string, Readonly<Record<string, Point>>>>;

export async function fanOutSection(): Promise<string> {
  const result = await readResult<FanOut>("fan_out");
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
