import { join } from "node:path";
import type { CommandIo } from "../../command_line/command_io.ts";
import { requireGatewayAccess } from "../../command_line/gateway_access.ts";
import { latestScanId, oneScanProblems, withGateway } from "../../command_line/gateway_api.ts";
import { exitCodes } from "../../command_line/exit_code.ts";
import { isUuid } from "../../shared/channel_name.ts";
import type { Report } from "../../shared/report.ts";
import { summarizeChecks } from "../../shared/rule_result.ts";
import { UsageError } from "../../shared/usage_error.ts";
import { readChecklist, withChecklistAnswers } from "../checklists/checklist.ts";
import { maxReportBytes, toReport } from "../reports/read_report.ts";
import { readRevision } from "../revisions/revision.ts";
import { settingsOfSaved } from "../settings/organizations.ts";
import type { Flags } from "../settings/read_settings.ts";
import { readReportTarget, writeNamedFile, writeReport, type WriteRun } from "./report_output.ts";
import { openSource, readNamed, refuseFresh, reportOn, sourceOf, type Source } from "./sources.ts";

/** `report`: the newest run, a run, evidence or a report in a file, or a scan at the gateway, in any format. */
export async function reportCommand(flags: Flags, io: CommandIo, source?: string): Promise<number> {
  if (source !== undefined) refuseFresh(flags, `${JSON.stringify(source)} names a run`);
  if (flags["latest"] === true) refuseFresh(flags, "--latest names a scan at the gateway");
  if (flags["latest"] === true || (source !== undefined && isUuid(source))) return reportOfGateway(source, flags, io);
  // Opened once, as stdin can be: a report, or the evidence in a file or in the folder of a run.
  const named = source === undefined ? null : await readNamed(source, "the run, file or scan id");
  if (named !== null && "schema" in named) return writeStored(named, flags, io);
  const opened =
    named === null ? await openSource("report", flags, io) : await sourceOf(named, { command: "report", flags, io });
  if (flags["sign"] !== undefined) return writeForAssessor(opened, flags, io);
  const { report, run } = await reportOn(opened, io);
  return write(report, run);
}

/** Writes the folder of `--sign`: report, checklist, and the evidence from which `verify` gives the findings again. */
async function writeForAssessor(source: Source, flags: Flags, io: CommandIo): Promise<number> {
  const isChosen = flags["format"] !== undefined || source.settings.format.join() !== "table";
  const output = source.settings.output ?? { option: "--output", file: "assessor" };
  const format = isChosen ? source.settings.format : (["html", "json", "cklb", "ckl"] as const);
  const settings = { ...source.settings, output, format };
  const { report, run } = await reportOn({ ...source, settings }, io);
  const evidenceFile = join(output.file, "evidence.json");
  const place = { ...output, file: evidenceFile };
  const isWritten = await writeNamedFile(place, source.text, { io, isQuiet: settings.quiet });
  return isWritten ? write(report, { ...run, evidenceFile }) : exitCodes.usage;
}

async function reportOfGateway(scanId: string | undefined, flags: Flags, io: CommandIo): Promise<number> {
  const settings = await settingsOfSaved("report", flags, { io, orgUrl: null });
  const access = requireGatewayAccess(io.env, oneScanProblems(scanId, settings.latest));
  // Options that cannot be used are refused before there is a report.
  await readReportTarget(settings, io);
  return withGateway("read the report", { access, io, maxAnswerBytes: maxReportBytes }, async (gateway, signal) => {
    const id = scanId ?? (await latestScanId(gateway, signal));
    const stored = await gateway.send("GET", `/api/v1/scans/${id}/report`, { signal });
    return writeStored(toReport(stored), flags, io);
  });
}

/** Options that decide results from evidence, which a stored report does not have. */
const deciding = [
  "check",
  "exclude",
  "severity",
  "orgPolicy",
  "decisions",
  "decisionsFromGateway",
  "baseline",
] as const;

/** Writes a stored report again, with the answers of a checklist. */
async function writeStored(given: Report, flags: Flags, io: CommandIo): Promise<number> {
  const settings = await settingsOfSaved("report", flags, { io, orgUrl: given.scan.org_url });
  const useless = deciding.filter((name) => flags[name] !== undefined).map((name) => settings.nameOf(name));
  if (useless.length > 0)
    throw new UsageError([
      `${useless.join(", ")}: a report that is already written stays as it was decided. Name the run or its evidence instead`,
    ]);
  const target = await readReportTarget(settings, io);
  const revision = await readRevision(settings.benchmark);
  const { benchmark = revision.benchmark.id } = given;
  if (benchmark !== revision.benchmark.id)
    throw new UsageError([`The report is by ${benchmark}: expected --benchmark FILE with this revision of the STIG`]);
  const checklist = await readChecklist(settings.checklist, revision);
  const checks = withChecklistAnswers(given.checks, checklist);
  const report = { ...given, checks, summary: summarizeChecks(checks) };
  return write(report, { settings, io, revision, checklist, orgPolicy: null, target });
}

async function write(report: Report, run: WriteRun): Promise<number> {
  const { problems } = await writeReport(report, run);
  return problems.length > 0 ? exitCodes.usage : exitCodes.ok;
}
