import { writeFile } from "node:fs/promises";
import type { FanOutFigures as Point } from "../fan_out.ts";
import { smallPlots } from "../svg.ts";
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

function growthPlot(series: Growth): string {
  return smallPlots(
    "CPU time of an event for a stream, µs, as one thing grows",
    Object.entries(series).map(([name, points]) => ({
      name,
      lines: [points.map(({ at, cpuMicroseconds }) => ({ at, value: cpuMicroseconds }))],
    })),
  );
}
