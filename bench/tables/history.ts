import type { HistoryFigures } from "../history.ts";
import { machineText, readResult } from "./results.ts";

export async function historySection(): Promise<string> {
  const { figures, ...run } = await readResult<HistoryFigures>("history");
  const { organizations, changes, databaseMiB, requests } = figures;
  return [
    `${machineText(run)}. ${organizations} organizations, ${changes.toLocaleString("en-US")} changes, ${databaseMiB.toLocaleString("en-US")} MiB.`,
    [
      "| request | median, ms | p99, ms |",
      "|---|---|---|",
      ...Object.entries(requests).map(
        ([name, { p50Ms, p99Ms }]) => `| ${name} | ${p50Ms.toFixed(1)} | ${p99Ms.toFixed(1)} |`,
      ),
    ].join("\n"),
  ].join("\n\n");
}
