import { join } from "node:path";
import { requireWritable, writeWhole, type NamedFile } from "../../command_line/files.ts";
import { UsageError } from "../../shared/usage_error.ts";
import type { Format } from "./report_format.ts";

/** Place of a document that is written in some formats. */
interface Target<Known> {
  /** `scan` of `scan.html`. */
  readonly name: string;
  readonly formats: readonly Known[];
  /** Null: the one format goes to stdout. */
  readonly outputDir: NamedFile | null;
}

export interface WrittenFiles {
  readonly files: readonly string[];
  /** Why the others could not be written, a line for each. */
  readonly problems: readonly string[];
}

interface WriteTarget<Document, Options> extends Target<Format<Document, Options>> {
  readonly stdout: (text: string) => void;
  readonly fileWidth?: number;
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

/** Makes the directory. Throws `UsageError` where none of the documents, or not `file`, could be written. */
export async function requireTarget(
  { name, formats, outputDir: directory }: Target<Format<never, never>>,
  file: NamedFile | null = null,
): Promise<void> {
  await requireWritable({ directory, fileNames: formats.map((format) => fileNameOf(name, format)), file });
}

/** Writes the document in every format that can be written. Files have no colors, and lines of `fileWidth` characters. */
export async function writeFormats<Document, Options>(
  document: Document,
  options: Options,
  { name, formats, outputDir, stdout, fileWidth = 120 }: WriteTarget<Document, Options>,
): Promise<WrittenFiles> {
  const chosen = outputDir === null ? options : { ...options, color: false, width: fileWidth, isBrief: false };
  const files: string[] = [];
  const problems: string[] = [];
  for (const format of formats) {
    const text = textOf(() => format.render(document, chosen));
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

export function fileNameOf(name: string, { extension }: { readonly extension: string }): string {
  return `${name}.${extension}`;
}
