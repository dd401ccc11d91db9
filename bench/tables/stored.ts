import type { RequestGrowth, StoredGrowth } from "../stored_growth.ts";
import { machineText, readResult } from "./results.ts";

type Series = readonly (readonly [string, StoredGrowth])[];

/** A part that was never measured is left out. */
export async function storedSection(): Promise<string> {
  const parts = ["stored_scans", "stored_others"].map((name) =>
    readResult<Readonly<Record<string, StoredGrowth>>>(name).catch(() => null),
  );
  const results = (await Promise.all(parts)).filter((part) => part !== null);
  const [first] = results;
  if (first === undefined) throw new Error("Cannot write what is stored: npm run bench -- stored");
  const series = results.flatMap(({ figures }) => Object.entries(figures));
  return `${machineText(first)}.\n\n${tables(series)}`;
}

/** For each series the three requests whose median grew most. */
function tables(series: Series): string {
  const rows = series.flatMap(([name, { sizes, requests }]) =>
    Object.entries(requests)
      .toSorted(([, a], [, b]) => added(b) - added(a))
      .slice(0, 3)
      .map(
        ([request, { buffers, p50Ms, mostMs }], index) =>
          `| ${index === 0 ? `**${name}**: ${list(sizes)}` : ""} | ${request} | ${list(buffers)} | ${ends(p50Ms)} | ${ends(mostMs)} |`,
      ),
  );
  return ["| grows | request | pages read | median, ms | slowest, ms |", "|---|---|---|---|---|", ...rows].join("\n");
}

function added({ p50Ms }: RequestGrowth): number {
  return (p50Ms.at(-1) ?? 0) - (p50Ms[0] ?? 0);
}

function list(values: readonly number[]): string {
  return values.map((value) => value.toLocaleString("en-US")).join(" · ");
}

function ends(values: readonly number[]): string {
  return `${(values[0] ?? 0).toFixed(1)} → ${(values.at(-1) ?? 0).toFixed(1)}`;
}
