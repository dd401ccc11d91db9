import * as v from "valibot";
import type { CommandIo } from "../../command_line/command_io.ts";
import { exitCodes } from "../../command_line/exit_code.ts";
import { requireWritable } from "../../command_line/files.ts";
import { printable } from "../../command_line/terminal.ts";
import { reportSchema } from "../../shared/schemas/report.ts";
import { UsageError } from "../../shared/usage_error.ts";
import { reportFormats } from "../reports/formats.ts";
import { reportFileName, writeReports } from "../reports/write_reports.ts";
import { readRevision } from "../revisions/read_stig_file.ts";
import { writtenLines } from "./closing_lines.ts";
import { signFiles } from "../signing/sign_files.ts";
import { parseFormats, readSigning, type ReportFlags } from "./scan_options.ts";

/** Values of `--format`. */
export const formatNames: readonly string[] = [...reportFormats.map(({ name }) => name), "all"];

/** Checks the options, and resolves with what writes a report that a gateway has, as `scan` writes its own. */
export async function prepare(
  flags: Pick<ReportFlags, "format" | "output" | "sign" | "poamPerFinding" | "benchmark">,
  io: CommandIo,
): Promise<(report: unknown) => Promise<number>> {
  const formats = parseFormats(flags, reportFormats);
  const outputDir = flags.output ?? null;
  const signer = await readSigning(flags, io.env);
  const revision = await readRevision(flags.benchmark);
  await requireWritable({ directory: outputDir, fileNames: formats.map(reportFileName) });
  return async (stored) => {
    const report = v.safeParse(reportSchema, stored);
    if (!report.success) throw new UsageError(["Cannot read the stored report: expected a scanstream.report/1"]);
    const { benchmark = revision.benchmark.id } = report.output;
    if (benchmark !== revision.benchmark.id)
      throw new UsageError([`The report is by ${benchmark}: expected --benchmark FILE with this revision of the STIG`]);
    const written = await writeReports(
      report.output,
      { formats, outputDir, stdout: io.stdout },
      {
        color: io.colorStdout,
        width: io.terminal.columns,
        toolVersion: io.toolVersion,
        isPlanPerFinding: flags.poamPerFinding === true,
        revision,
      },
    );
    // The gateway keeps no evidence, so nothing is said of it.
    const facts = {
      scan: report.output.scan,
      revision,
      report: report.output,
      evidence: null,
      parameters: {},
      approvedIssuers: null,
      toolVersion: io.toolVersion,
    };
    const signed = await signFiles(written.files, facts, { signer, name: "scan" });
    const files = [...written.files, ...signed.files];
    const problems = [...written.problems, ...signed.problems];
    for (const line of [...writtenLines(files, outputDir), ...problems]) io.terminal.write(`${printable(line)}\n`);
    return problems.length > 0 ? exitCodes.usage : exitCodes.ok;
  };
}
