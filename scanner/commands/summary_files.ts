import { join } from "node:path";
import { columnLines, wrapped } from "../../command_line/terminal.ts";
import { requireWritable, writeWhole, type NamedFile } from "../../command_line/files.ts";
import { ruleStates } from "../../shared/rule_result.ts";
import { toPrintableJson } from "../../shared/text.ts";
import { markdownCell, markdownText } from "../reports/markdown_text.ts";
import type { Summary } from "./summary.ts";

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

const countHeadings = ["failed", "manual", "passed", "N/A"];
const headings = ["organization", "status", ...countHeadings, "exit"];

export function summaryMarkdown(summary: Summary): string {
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  return [
    "# Okta IDaaS STIG: all organizations",
    "",
    line(headings),
    line(headings.map((_, at) => (isNumber(at) ? "---:" : "---"))),
    // A number is no text of others.
    ...rowsOf(summary).map((cells) => line(cells.map((cell) => (/^\d*$/.test(cell) ? cell : markdownCell(cell))))),
    "",
    ...notesOf(summary).map(([name, note]) => `- ${markdownText(name)}: ${markdownText(note)}`),
    "",
  ].join("\n");
}

/** Text for people, on stdout: a table of numbers, and below it why an organization has none. */
export function summaryTable(summary: Summary, width: number): string {
  const table = columnLines(
    [headings, ...rowsOf(summary)],
    headings.map((_, at) => (isNumber(at) ? "right" : "left")),
  );
  const failed = { organizations: summary.organizations.filter(({ error }) => error !== null) };
  const notes = notesOf(failed).flatMap(([name, note]) => wrapped(`${name}: ${note}`, 2, width));
  return `${[...table, ...(notes.length === 0 ? [] : ["", ...notes])].join("\n")}\n`;
}

function isNumber(at: number): boolean {
  return at >= headings.length - countHeadings.length - 1;
}

function rowsOf({ organizations, checks, exit_code: code }: Summary): readonly (readonly string[])[] {
  const counts = (of: Summary["checks"] | null) => ruleStates.map((state) => of?.[state].toString() ?? "");
  const done = organizations.filter(({ status }) => status === "completed").length;
  return [
    ...organizations.map((one) => [
      one.name,
      one.status.replace("_", " "),
      ...counts(one.checks),
      one.exit_code?.toString() ?? "",
    ]),
    ["all", `${done} of ${organizations.length}`, ...counts(checks), String(code)],
  ];
}

/** Names with why nothing was evaluated, or what the gates say. */
function notesOf({
  organizations,
}: Pick<Summary, "organizations">): readonly (readonly [name: string, note: string])[] {
  return organizations.flatMap(({ name, error, gate }) => {
    const note = error?.message ?? gate ?? "";
    return note === "" ? [] : [[name, note] as const];
  });
}
