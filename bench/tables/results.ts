import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";

/** One file of `bench/results`. */
export interface Result<Figures> {
  readonly at: string;
  readonly node: string;
  readonly machine: Readonly<Record<"cpu" | "cores" | "memoryGiB" | "kernel", string | number>>;
  readonly figures: Figures;
}

const folder = join(import.meta.dirname, "../results");

export function hasResult(name: string): boolean {
  return existsSync(join(folder, `${name}.json`));
}

export async function readResult<Figures>(name: string): Promise<Result<Figures>> {
  return JSON.parse(await readFile(join(folder, `${name}.json`), "utf8")) as Result<Figures>;
}

export function machineText({ machine, node, at }: Omit<Result<unknown>, "figures">): string {
  const { cores, cpu, memoryGiB, kernel } = machine;
  return `${cores} cores (${cpu}), ${memoryGiB} GiB, Linux ${kernel}, Node ${node}, ${at.slice(0, 10)}`;
}

export function loadText(loads: readonly [number, number]): string {
  return `load ${loads.map((value) => value.toFixed(1)).join(" before, ")} at the end`;
}

/** For named values, without a head. */
export function figureTable(rows: readonly (readonly [string, string])[]): string {
  return ["| | |", "|---|---|", ...rows.map(([name, value]) => `| ${name} | ${value} |`)].join("\n");
}
