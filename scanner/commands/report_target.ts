import type { CommandIo } from "../../command_line/command_io.ts";
import { requireWritable, standardStream, type NamedFile } from "../../command_line/files.ts";
import { UsageError } from "../../shared/usage_error.ts";
import { reportFormats } from "../reports/formats.ts";
import type { ReportFormat } from "../reports/report_format.ts";
import { chooseFormats, reportFileName } from "../reports/write_reports.ts";
import type { Settings } from "../settings/read_settings.ts";
import { readSigner, type Signer } from "../signing/keys.ts";

/** How and where a report is written. */
export interface ReportTarget {
  readonly formats: readonly ReportFormat[];
  /** A directory for `scan.<extension>`; null: the one format goes to stdout. */
  readonly outputDir: NamedFile | null;
  readonly signer: Signer | null;
}

/** Throws `UsageError` naming everything that is wrong, also where nothing could be written there. */
export async function readReportTarget(
  settings: Settings,
  { isStdoutTerminal }: Pick<CommandIo, "isStdoutTerminal">,
): Promise<ReportTarget> {
  const { output: outputDir, saveArtifacts, nameOf } = settings;
  const formats = chooseFormats(reportFormats, settings.format, outputDir);
  if (settings.failOnNew && settings.baseline === null)
    throw new UsageError([`${nameOf("failOnNew")} needs --baseline REPORT.json, to know which findings are new`]);
  if (outputDir === null && isStdoutTerminal && formats[0]?.name === "html")
    throw new UsageError([
      `${nameOf("format")} html is a page for a browser: expected --output DIR, or a file of stdout`,
    ]);
  const signer = await readSigning(settings);
  await requireWritable({ directory: outputDir, fileNames: formats.map(reportFileName), file: fileOf(saveArtifacts) });
  return { formats, outputDir, signer };
}

/** Null where there is no file to sign. Throws `UsageError` where `--sign` is given and there is none. */
export async function readSigning(settings: Settings, given?: NamedFile | null): Promise<Signer | null> {
  const { output, saveArtifacts, sign, signingKey } = settings;
  if ((given ?? output ?? fileOf(saveArtifacts)) !== null) return readSigner(sign, signingKey);
  if (sign?.option !== "--sign") return null;
  throw new UsageError(["--sign needs --output DIR: a report on stdout cannot be signed"]);
}

function fileOf(source: NamedFile | null): NamedFile | null {
  return source?.file === standardStream ? null : source;
}
