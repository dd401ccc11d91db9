import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Report } from "../shared/report.ts";
import type { RenderOptions, ReportFormat } from "./reports/report_format.ts";

export interface ReportTarget {
  readonly formats: readonly ReportFormat[];
  /** null: the one format goes to stdout. */
  readonly outputDir: string | null;
  readonly stdout: (text: string) => void;
}

/** Writes the report in every format; resolves with the files written. */
export async function writeReports(
  report: Report,
  target: ReportTarget,
  options: RenderOptions,
): Promise<readonly string[]> {
  const { formats, outputDir, stdout } = target;
  if (outputDir === null) {
    for (const format of formats) stdout(format.render(report, options));
    return [];
  }
  await mkdir(outputDir, { recursive: true });
  const files: string[] = [];
  for (const format of formats) {
    const file = join(outputDir, `scan.${format.extension}`);
    // A file is for later and for others: without the colours and width of this terminal.
    await writeFile(file, format.render(report, { ...options, color: false, width: 120 }));
    files.push(file);
  }
  return files;
}
