import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** One line of the table in `bench/faults.md`: everything in it was seen by a test. */
export interface FaultRow {
  readonly fault: string;
  /** Where the gateway ran that it was seen on. Default: Node, inside the process of the test. */
  readonly on?: string;
  readonly client: string;
  readonly soon: string;
  readonly recovers: string;
  readonly lost: string;
}

const page = join(import.meta.dirname, "../../bench/faults.md");
const begin = "<!-- faults: written by UPDATE_DOCS=1 npm run test:faults -->";
const end = "<!-- /faults -->";

/** Puts the row into the page when `UPDATE_DOCS=1`, in place of the one of the same fault and runtime. */
export function recordFault({ fault, on = "Node", client, soon, recovers, lost }: FaultRow, test: string): void {
  if (process.env["UPDATE_DOCS"] !== "1") return;
  const text = readFileSync(page, "utf8");
  const [from, to] = [text.indexOf(begin) + begin.length, text.indexOf(end)];
  const rows = text
    .slice(from, to)
    .split("\n")
    .filter(
      (line) => line.startsWith("| ") && !line.startsWith("| fault |") && !line.startsWith(`| ${fault} | ${on} |`),
    );
  rows.push(`| ${[fault, on, client, soon, recovers, lost, `\`${test}\``].join(" | ")} |`);
  const head =
    "| fault | on | what the client sees | how soon | what recovers | what is lost | test |\n|---|---|---|---|---|---|---|";
  writeFileSync(page, `${text.slice(0, from)}\n\n${head}\n${rows.toSorted().join("\n")}\n\n${text.slice(to)}`);
}

/** `2.3 s`: measured, so never more exact than it means something. */
export function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
