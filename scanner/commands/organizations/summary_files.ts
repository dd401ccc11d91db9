import { join } from "node:path";
import { printable, textWidth } from "../../../command_line/terminal.ts";
import { requireWritable, writeWhole, type NamedFile } from "../../../command_line/files.ts";
import { ruleStates } from "../../../shared/rule_result.ts";
import { toPrintableJson } from "../../../shared/text.ts";
import { markdownCell } from "../../reports/markdown_text.ts";
import type { OrganizationSummary, Summary } from "./summary.ts";

const fileNames = ["summary.json", "summary.md"] as const;

/** Throws `UsageError` where the summary could not be written after the scans. */
export function requireSummaryPlace(directory: NamedFile): Promise<void> {
  return requireWritable({ directory, fileNames });
}

/** A line for each file: that it was written, or why it could not be. */
export async function writeSummary(
  summary: Summary,
  directory: NamedFile,
): Promise<{ readonly files: readonly string[]; readonly problems: readonly string[] }> {
  const texts = { "summary.json": `${toPrintableJson(summary, 2)}\n`, "summary.md": summaryMarkdown(summary) } as const;
  const files: string[] = [];
  const problems: string[] = [];
  for (const name of fileNames) {
    const file = join(directory.file, name);
    const problem = await writeWhole({ ...directory, file }, texts[name]);
    if (problem === null) files.push(file);
    else problems.push(problem);
  }
  return { files, problems };
}

const countHeadings = ["rules failed", "need review", "passed", "N/A"];
const headings = ["organization", "status", ...countHeadings, "exit", ""];

export function summaryMarkdown(summary: Summary): string {
  const rows = [...summary.organizations.map(rowOf), totalsOf(summary)];
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  return [
    "# Okta IDaaS STIG: all organizations",
    "",
    line(headings),
    line(headings.map((heading) => (isNumber(heading) ? "---:" : "---"))),
    // A number is no text of others.
    ...rows.map((cells) => line(cells.map((cell) => (/^\d*$/.test(cell) ? cell : markdownCell(cell))))),
    "",
  ].join("\n");
}

/** For people, on stdout. */
export function summaryTable(summary: Summary): string {
  const rows = [[...headings], ...summary.organizations.map(rowOf), totalsOf(summary)].map((row) => row.map(printable));
  const widths = headings.map((_, at) => Math.max(...rows.map((row) => textWidth(row[at] ?? ""))));
  const lines = rows.map((row) =>
    row
      .map((cell, at) => {
        const blanks = " ".repeat((widths[at] ?? 0) - textWidth(cell));
        return isNumber(headings[at] ?? "") ? blanks + cell : cell + blanks;
      })
      .join("  ")
      .trimEnd(),
  );
  return `${lines.join("\n")}\n`;
}

function isNumber(heading: string): boolean {
  return [...countHeadings, "exit"].includes(heading);
}

function rowOf({ name, status, checks, exit_code: code, gate, error }: OrganizationSummary): readonly string[] {
  const counts = ruleStates.map((state) => checks?.[state].toString() ?? "");
  return [name, status.replace("_", " "), ...counts, code?.toString() ?? "", error?.message ?? gate ?? ""];
}

function totalsOf({ organizations, checks, exit_code: code }: Summary): readonly string[] {
  const isDone = ({ status }: OrganizationSummary) => status === "completed";
  const done = `${organizations.filter(isDone).length} of ${organizations.length}`;
  return ["all", done, ...ruleStates.map((state) => String(checks[state])), String(code), ""];
}
