import { randomUUID } from "node:crypto";
import { basename, join } from "node:path";
import type { CommandIo } from "../../command_line/command_io.ts";
import { exitCodes, worstOf } from "../../command_line/exit_code.ts";
import { standardStream, writeWhole, type NamedFile } from "../../command_line/files.ts";
import { writeLines } from "../../command_line/terminal.ts";
import { countOf } from "../../shared/outcome_text.ts";
import type { Report } from "../../shared/report.ts";
import { openFindings, stateOf, summarizeChecks } from "../../shared/rule_result.ts";
import { shellWord } from "../../shared/text.ts";
import { UsageError } from "../../shared/usage_error.ts";
import type { Revision } from "../catalog/catalog.ts";
import { causesOf } from "../causes/causes.ts";
import { listSome } from "../checks/parsing/names.ts";
import { carriedLines, otherAssetOf, type Checklist } from "../checklists/checklist.ts";
import { checklistStatuses, type ChecklistStatus } from "../checklists/answers.ts";
import { applyDecisions } from "../decisions/apply_decisions.ts";
import { compareWithBaseline } from "../decisions/baseline.ts";
import { applyGate, unreadRules } from "../decisions/gates.ts";
import { sha256 } from "../digest.ts";
import type { IdpError } from "../okta/idp_error.ts";
import { reportedOrgPolicy } from "../org_policy/document.ts";
import { answersOf } from "../reports/checklists.ts";
import { reportFormats } from "../reports/formats.ts";
import { worstFirst } from "../reports/result_text.ts";
import { orgPolicyText, overdueItems, summaryLine } from "../reports/statement.ts";
import { orgNameOf, type RenderOptions } from "../reports/report_format.ts";
import { chooseFormats, fileNameOf, requireTarget, writeFormats, type WrittenFiles } from "../reports/write_reports.ts";
import type { FinishedScan } from "../run_scan.ts";
import type { Settings } from "../settings/read_settings.ts";
import type { CommandName } from "../settings/setting.ts";
import { readSigner, type Signer } from "../signing/keys.ts";
import { signFiles } from "../signing/statement.ts";
import type { Criteria } from "./criteria.ts";

/** More files than this are named on one line: what else a run has to say should stay on the screen. */
const maxFileLines = 3;

/** How and where a report is written. */
export type ReportTarget = Awaited<ReturnType<typeof readReportTarget>>;

/**
 * Reads the formats, the directory for `scan.<extension>` (null: the one format goes to stdout), and who signs. Throws `UsageError`
 * naming everything that is wrong, also where nothing could be written there.
 */
export async function readReportTarget(settings: Settings, { isStdoutTerminal }: Pick<CommandIo, "isStdoutTerminal">) {
  const { output: outputDir, saveArtifacts, nameOf } = settings;
  const formats = chooseFormats(reportFormats, settings.format, outputDir);
  if (settings.failOnNew && settings.baseline === null)
    throw new UsageError([`${nameOf("failOnNew")} needs --baseline REPORT.json, to know which findings are new`]);
  if (outputDir === null && isStdoutTerminal && formats[0]?.name === "html")
    throw new UsageError([`${nameOf("format")} html is a page for a browser: expected --output DIR, or > FILE`]);
  const signer = await readSigning(settings);
  const target = { name: "scan", formats, outputDir, signer };
  await requireTarget(target, fileOf(saveArtifacts));
  return target;
}

/** Null: no file is written. Throws `UsageError` if `--sign` was given all the same. */
export async function readSigning(settings: Settings): Promise<Signer | null> {
  const { output, writeTo, saveArtifacts, sign, signingKey } = settings;
  if ((output ?? writeTo ?? fileOf(saveArtifacts)) !== null) return readSigner(sign, signingKey);
  if (sign?.option !== "--sign") return null;
  throw new UsageError(["--sign needs --output DIR: a report on stdout cannot be signed"]);
}

function fileOf(source: NamedFile | null): NamedFile | null {
  return source?.file === standardStream ? null : source;
}

/** Writes a file, and says that it did; returns false, after the reason, where it could not be written. */
export async function writeNamedFile(
  place: NamedFile,
  text: string,
  { io, isQuiet }: { readonly io: CommandIo; readonly isQuiet: boolean },
): Promise<boolean> {
  const problem = await writeWhole(place, text);
  if (problem !== null || !isQuiet) writeLines(io, problem ?? `Wrote ${place.file}`);
  return problem === null;
}

/** Returns false when the evidence could not be written, after a message. */
export async function saveArtifacts(text: string, { settings, io }: Criteria): Promise<boolean> {
  const { saveArtifacts: place } = settings;
  if (place === null) return true;
  if (place.file !== standardStream) return writeNamedFile(place, text, { io, isQuiet: true });
  io.stdout(`${text}\n`);
  return true;
}

/** Facts of a report that its scan does not have; `tenant_id` is that of a scan at a gateway. */
interface ReportFacts extends Partial<Pick<Report["scan"], "id" | "tenant_id">> {
  /** The evidence as it is in its file. */
  readonly text: string;
}

/** A report with decisions and the answers of a checklist on it. What does not count is said. */
export function toReport(
  { status, results: found, document }: FinishedScan,
  { revision, decisions, checklist, orgPolicy, io }: Criteria,
  { text, id = randomUUID(), tenant_id = null }: ReportFacts,
): Report {
  const { results: decided, warnings } = applyDecisions(found, decisions, io.now().getTime(), checklist);
  writeLines(io, ...warnings);
  const { baseline } = decisions;
  const compared = baseline && compareWithBaseline(decided, { baseline, role: document.scan.role });
  const { results, comparison } = compared ?? { results: decided, comparison: null };
  return {
    schema: "scanstream.report/1",
    ...(orgPolicy !== null && { org_policy: reportedOrgPolicy(orgPolicy, document.evaluated_at, sha256) }),
    benchmark: revision.benchmark.id,
    evidence_sha256: sha256(text),
    scan: { id, tenant_id, ...document.scan, status },
    summary: summarizeChecks(results),
    checks: results,
    baseline: comparison,
    causes: causesOf(results, document.artifacts),
  };
}

/** Facts that writing a report needs of the run that it is about. */
export interface WriteRun extends Pick<Criteria, "settings" | "io" | "revision" | "checklist" | "orgPolicy"> {
  readonly target: ReportTarget;
  /** Evidence that this run wrote, which is signed along with the reports. */
  readonly evidenceFile?: string | undefined;
  /** False where evidence could not be written, which was said. */
  readonly areSaved?: boolean;
  /** Evidence that was evaluated offline; absent: the org was scanned. */
  readonly from?: string;
  /** Set where other commands find this run. */
  readonly isKept?: boolean;
}

/** Writes a report in the formats of the settings, signs it, and says what it wrote. `isBrief`: only what fits one screen of a terminal. */
export async function writeReport(report: Report, run: WriteRun, isBrief = false): Promise<WrittenFiles> {
  const { settings, io, target, evidenceFile, revision, checklist, orgPolicy } = run;
  const { toolVersion } = io;
  const { status, poamPerFinding: isPlanPerFinding } = settings;
  const options: RenderOptions = {
    color: io.colorStdout,
    width: io.terminal.columns,
    toolVersion,
    ...(status === null ? {} : { states: status }),
    isPlanPerFinding,
    isBrief,
    revision,
    ...(checklist === null ? {} : { checklist }),
  };
  const written = await writeFormats(report, options, { ...target, stdout: io.stdout });
  const paths = evidenceFile === undefined ? written.files : [...written.files, evidenceFile];
  // Evidence without the document by which it was evaluated would give other findings.
  const isComplete = report.org_policy === undefined || orgPolicy !== null;
  const evidence = isComplete ? (report.evidence_sha256 ?? null) : null;
  const facts = { scan: report.scan, revision, report, evidence, toolVersion, orgPolicy };
  const signed = await signFiles(paths, facts, target);
  const files = [...written.files, ...signed.files];
  const problems = [...written.problems, ...signed.problems];
  writeLines(io, ...(settings.quiet ? [] : writtenLines(files, target.outputDir)), ...problems);
  if (checklist !== null) writeLines(io, ...checklistLines(report, checklist, revision));
  writeLines(io, ...overdueLines(report));
  return { files, problems };
}

/** Writes the reports and decides how the run ends; `line` is the verdict of the gates, in one line. */
export async function finishScan(report: Report, run: WriteRun) {
  const { settings, io, target, areSaved = true } = run;
  const { formats, outputDir } = target;
  const { quiet: isQuiet, verbose, status, allowUnread, failOn } = settings;
  // Whoever selects states, or asks for details, wants the list.
  const isBrief = !verbose && status === null;
  const { files, problems } = await writeReport(report, run, isBrief);
  // Everything is new where no earlier run is kept.
  const gate = applyGate(report, { failOn, onlyNew: settings.failOnNew && report.baseline !== null, allowUnread });
  const areWritten = areSaved && problems.length === 0;
  const isCancelled = report.scan.status === "cancelled";
  // Rules that were not evaluated neither passed nor failed, so an interruption counts before the gates.
  const outcome = worstOf([
    isCancelled && "interrupted",
    !areWritten && "usage",
    gate.isFailed && "findings",
    gate.unread > 0 && !allowUnread && "unread",
  ]);
  const line = isCancelled
    ? interruptedLine(report)
    : gate.line(exitCodes[outcome], areWritten ? undefined : "a file could not be written");
  const isSummaryShown = outputDir === null && formats.some((format) => !format.isMachine);
  // A run that fails or could not read everything says so, however quiet it is.
  // A document that lapsed leaves its rules to people, and fails no run. The first screen has it, too.
  if (!isSummaryShown && report.org_policy && report.org_policy.standing !== "in_force")
    writeLines(io, orgPolicyText(report));
  if (!isQuiet && !isSummaryShown) writeLines(io, summaryLine(report));
  if (!isQuiet || outcome !== "ok" || gate.unread > 0) writeLines(io, line);
  const isScreen = !isQuiet && isBrief && isSummaryShown && formats[0]?.name === "table";
  const next = nextLines(report, run);
  // However quiet: the command that finds out why rules could not be read.
  writeLines(io, ...(isScreen ? next : outcome === "unread" ? next.slice(1) : []));
  return { report, files, line, outcome };
}

function interruptedLine({ checks }: Report): string {
  const done = checks.filter(({ reason }) => reason !== "interrupted").length;
  return `Exit ${exitCodes.interrupted}: the scan was interrupted after ${done} of ${countOf(checks.length, "rule")} had been evaluated`;
}

/** Nothing was evaluated (exit code 3): a program gets the error as JSON in the report's place. */
export async function writeIdpError(error: IdpError, target: ReportTarget, io: CommandIo): Promise<void> {
  const { code, message, remedy } = error;
  writeLines(io, message, remedy);
  const json = target.formats.find((format) => format.name === "json");
  if (json === undefined) return;
  const text = `${JSON.stringify({ schema: "scanstream.error/1", code, message, remedy }, null, 2)}\n`;
  // Replaces the report of an earlier run, which would be mistaken for this run's.
  if (target.outputDir === null) return io.stdout(text);
  const file = join(target.outputDir.file, fileNameOf("scan", json));
  await writeNamedFile({ ...target.outputDir, file }, text, { io, isQuiet: true });
}

/** Lines that name the written files. */
function writtenLines(files: readonly string[], outputDir: NamedFile | null): readonly string[] {
  if (files.length <= maxFileLines || outputDir === null) return files.map((file) => `Wrote ${file}`);
  return [`Wrote ${files.length} files to ${outputDir.file}: ${files.map((file) => basename(file)).join(", ")}`];
}

/** Lines about disagreements of the scan and the answers of people in the checklist. */
function checklistLines(report: Report, checklist: Checklist, revision: Revision): readonly string[] {
  const { differences } = answersOf(report, { toolVersion: "", checklist, revision });
  const asset = otherAssetOf(checklist, report.scan.org_url);
  const labelOf = (status: ChecklistStatus) => checklistStatuses[status].label;
  const named = differences.map(
    ({ vulnId, answered, status }) => `${vulnId} (answered ${labelOf(answered)}, found ${labelOf(status)})`,
  );
  return [
    ...(checklist.carried === null ? [] : carriedLines(checklist.name, checklist.carried)),
    // No error: reviewers may name an org by its custom domain.
    ...(asset === null
      ? []
      : [`The checklist ${checklist.name} is about ${asset}; this scan is of ${orgNameOf(report)}`]),
    ...(named.length === 0
      ? []
      : [
          `${countOf(named.length, "checklist answer")} of ${checklist.name} ${named.length === 1 ? "contradicts" : "contradict"} this scan: ${listSome(named)}`,
        ]),
  ];
}

/**
 * The commands that a reader of the first screen needs next. After an offline run they stay offline. `again`: options of that command
 * for the same organization and results.
 */
function nextLines(
  report: Report,
  { from, isKept = false, settings: { again } }: Pick<WriteRun, "from" | "isKept" | "settings">,
): readonly string[] {
  const evidence = from === undefined ? "" : ` --from-artifacts ${shellWord(from)}`;
  const command = (name: CommandName, words = "") => `scanstream ${name}${words}${again(name)}${evidence}`;
  const all = isKept
    ? `Every rule and finding: ${command("report")}, or ${command("report")} -f html -o report`
    : "Every rule and finding: add --verbose, or --format html --output report";
  const unread = unreadRules(report);
  // An interruption is the person's own.
  const mayHelp = from === undefined && unread.some(({ reason }) => reason !== "interrupted");
  if (unread.length > 0) return [all, ...(mayHelp ? [`Next: ${command("doctor")}`] : [])];
  // Stdin cannot be read again, and other commands would answer about another run than one that is not kept.
  if (from === undefined ? !isKept : from === standardStream) return [all];
  const [worst] = report.checks
    .filter((check) => openFindings(check).some(({ waived }) => !waived))
    .toSorted(worstFirst);
  if (worst === undefined) return [all];
  const isFailing = stateOf(worst) === "fail";
  const draft =
    isFailing || report.org_policy !== undefined
      ? []
      : [`Your own policy decides more: ${command("org-policy", " draft")}`];
  const then = isFailing ? `${command("fix")} -o fixes` : "answer it in a checklist or an attestation";
  return [`Next: ${command("explain", ` ${worst.vuln_id}`)}, then ${then}`, ...draft, all];
}

/** Lines about findings that were planned to be remediated by now and still fail. */
function overdueLines(report: Report): readonly string[] {
  const named = overdueItems(report).map(
    ({ check, finding: { plan } }) => `${check.vuln_id} (${plan?.remediation_date ?? ""})`,
  );
  if (named.length === 0) return [];
  return [`${countOf(named.length, "finding")} past the planned remediation date: ${listSome([...new Set(named)])}`];
}
