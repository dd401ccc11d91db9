import * as v from "valibot";
import type { CommandIo } from "../../command_line/command_io.ts";
import { requireGatewayAccess } from "../../command_line/gateway_access.ts";
import { oneScanProblems, requireLatest, withGateway } from "../../command_line/gateway_api.ts";
import { exitCodes } from "../../command_line/exit_code.ts";
import { printable } from "../../command_line/terminal.ts";
import { reportSchema } from "../../shared/schemas/report.ts";
import { UsageError } from "../../shared/usage_error.ts";
import { readChecklist } from "../checklists/checklist.ts";
import { withChecklistAnswers } from "../checklists/answered_rules.ts";
import { withCarried } from "../checklists/carry_answers.ts";
import { writeReports } from "../reports/write_reports.ts";
import { readRevision } from "../revisions/read_stig_file.ts";
import { settingsOfSaved } from "../settings/organizations.ts";
import type { Flags } from "../settings/read_settings.ts";
import { signFiles } from "../signing/sign_files.ts";
import { summarizeChecks } from "../../shared/rule_result.ts";
import { checklistLines, writtenLines } from "./closing_lines.ts";
import { readReportTarget } from "./report_target.ts";

/** `report SCAN_ID`: the report of a scan that a gateway keeps, in any format. */
export async function reportCommand(scanId: string | undefined, flags: Flags, io: CommandIo): Promise<number> {
  const settings = await settingsOfSaved("report", flags, { io, orgUrl: null });
  const access = requireGatewayAccess(io.env, oneScanProblems(scanId, settings.latest));
  // Options that cannot be used are refused before there is a report.
  await readReportTarget(settings);
  return withGateway("read the report", { access, io }, async (api) => {
    const id = scanId ?? (await requireLatest(api, io));
    return id === null ? exitCodes.usage : writeStored(await api.readReport(id), flags, io);
  });
}

/** Writes a report as `scan` writes its own. Resolves with the exit code. */
async function writeStored(stored: unknown, flags: Flags, io: CommandIo): Promise<number> {
  const parsed = v.safeParse(reportSchema, stored);
  if (!parsed.success) throw new UsageError(["Cannot read the stored report: expected a scanstream.report/1"]);
  const settings = await settingsOfSaved("report", flags, { io, orgUrl: parsed.output.scan.org_url });
  const { formats, outputDir, signer } = await readReportTarget(settings);
  const revision = await readRevision(settings.benchmark);
  const { benchmark = revision.benchmark.id } = parsed.output;
  if (benchmark !== revision.benchmark.id)
    throw new UsageError([`The report is by ${benchmark}: expected --benchmark FILE with this revision of the STIG`]);
  const checklist = await readChecklist(settings.checklist, revision);
  const checks = withCarried(withChecklistAnswers(parsed.output.checks, checklist), checklist?.carried ?? null);
  const report = { ...parsed.output, checks, summary: summarizeChecks(checks) };
  const written = await writeReports(
    report,
    { formats, outputDir, stdout: io.stdout },
    {
      color: io.colorStdout,
      width: io.terminal.columns,
      toolVersion: io.toolVersion,
      ...(settings.status === null ? {} : { states: settings.status }),
      isPlanPerFinding: settings.poamPerFinding,
      revision,
      ...(checklist === null ? {} : { checklist }),
    },
  );
  // The gateway keeps no evidence, so nothing is said of it.
  const facts = {
    scan: report.scan,
    revision,
    report,
    evidence: null,
    parameters: {},
    approvedIssuers: null,
    toolVersion: io.toolVersion,
  };
  const signed = await signFiles(written.files, facts, { signer, name: "scan" });
  const problems = [...written.problems, ...signed.problems];
  const lines = [
    ...writtenLines([...written.files, ...signed.files], outputDir),
    ...problems,
    ...(checklist === null ? [] : checklistLines(report, checklist, revision)),
  ];
  for (const line of lines) io.terminal.write(`${printable(line)}\n`);
  return problems.length > 0 ? exitCodes.usage : exitCodes.ok;
}
