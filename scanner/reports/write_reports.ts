import { join } from "node:path";
import type { Report } from "../../shared/report.ts";
import { writeWhole } from "../../command_line/files.ts";
import type { RenderOptions, ReportFormat } from "./report_format.ts";

export interface ReportTarget {
  readonly formats: readonly ReportFormat[];
  /** An existing directory; null: the one format goes to stdout. */
  readonly outputDir: string | null;
  readonly stdout: (text: string) => void;
}

export interface WrittenReports {
  readonly files: readonly string[];
  /** Why the others could not be written, a line for each. */
  readonly problems: readonly string[];
}

/** Writes the report in every format that can be written; what a format itself throws is thrown after that. */
export async function writeReports(
  report: Report,
  target: ReportTarget,
  options: RenderOptions,
): Promise<WrittenReports> {
  const { formats, outputDir, stdout } = target;
  const files: string[] = [];
  const problems: string[] = [];
  const bugs: unknown[] = [];
  for (const format of formats) {
    try {
      if (outputDir === null) {
        stdout(format.render(report, options));
        continue;
      }
      const path = join(outputDir, reportFileName(format));
      // A file is for later and for others: without the colours and width of this terminal.
      const text = format.render(report, { ...options, color: false, width: 120, isBrief: false });
      const problem = await writeWhole({ option: "--output", path }, text);
      if (problem === null) files.push(path);
      else problems.push(problem);
    } catch (error) {
      bugs.push(error);
    }
  }
  if (bugs.length > 0) throw bugs[0];
  return { files, problems };
}

/** What a report is called in `--output`. */
export function reportFileName(format: Pick<ReportFormat, "extension">): string {
  return `scan.${format.extension}`;
}
