import { join } from "node:path";
import type { Report } from "../../shared/report.ts";
import { writeWhole, type NamedFile } from "../../command_line/files.ts";
import { UsageError } from "../../shared/usage_error.ts";
import type { Format, RenderOptions, ReportFormat } from "./report_format.ts";

export interface Target<Known> {
  readonly formats: readonly Known[];
  /** An existing directory; null: the one format goes to stdout. */
  readonly outputDir: NamedFile | null;
  readonly stdout: (text: string) => void;
}

export interface WrittenFiles {
  readonly files: readonly string[];
  /** Why the others could not be written, a line for each. */
  readonly problems: readonly string[];
}

export function writeReports(
  report: Report,
  target: Target<ReportFormat>,
  options: RenderOptions,
): Promise<WrittenFiles> {
  // A file is for later and for others: without the colours and width of this terminal.
  const ofFile = { ...options, color: false, width: 120, isBrief: false };
  return writeFormats(report, { ...target, name: "scan" }, { onStdout: options, ofFile });
}

/** The formats of these names. Throws `UsageError` where there are several and no directory. */
export function chooseFormats<Known extends { readonly name: string }>(
  known: readonly Known[],
  names: readonly string[],
  directory: NamedFile | null,
): readonly Known[] {
  const formats = names.flatMap((name) => known.find((format) => format.name === name) ?? []);
  if (formats.length < 2 || directory !== null) return formats;
  throw new UsageError([`--format ${JSON.stringify(names.join(","))}: several formats need --output DIR`]);
}

/** Writes the document in every format that can be written. */
export async function writeFormats<Document, Options>(
  document: Document,
  { formats, outputDir, stdout, name }: Target<Format<Document, Options>> & { readonly name: string },
  { onStdout, ofFile }: { readonly onStdout: Options; readonly ofFile: Options },
): Promise<WrittenFiles> {
  const files: string[] = [];
  const problems: string[] = [];
  for (const format of formats) {
    const text = textOf(() => format.render(document, outputDir === null ? onStdout : ofFile));
    if (text === null) {
      problems.push(`Cannot write ${format.name}: its text would be longer than 512 MiB; choose fewer rules (--check)`);
    } else if (outputDir === null) {
      stdout(text);
    } else {
      const path = join(outputDir.file, fileNameOf(name, format));
      const problem = await writeWhole({ ...outputDir, file: path }, text);
      if (problem === null) files.push(path);
      else problems.push(problem);
    }
  }
  return { files, problems };
}

/** Null for a text that is longer than the engine's longest: OSCAL has some kilobytes for each of a hundred thousand findings. */
function textOf(render: () => string): string | null {
  try {
    return render();
  } catch (error) {
    if (error instanceof RangeError && error.message === "Invalid string length") return null;
    throw error;
  }
}

/** Returns the name of a report in `--output`. */
export function reportFileName(format: Pick<ReportFormat, "extension">): string {
  return fileNameOf("scan", format);
}

export function fileNameOf(name: string, { extension }: { readonly extension: string }): string {
  return `${name}.${extension}`;
}
