import { randomUUID } from "node:crypto";
import type { CommandIo } from "../../command_line/command_io.ts";
import { standardStream } from "../../command_line/files.ts";
import { printable } from "../../command_line/terminal.ts";
import type { CheckResult } from "../../shared/report.ts";
import { countStates } from "../../shared/rule_result.ts";
import { withChecklistAnswers } from "../checklists/answered_rules.ts";
import { readChecklist } from "../checklists/checklist.ts";
import { applyAttestations } from "../decisions/attestations.ts";
import { connect } from "../okta/connection.ts";
import { IdpError } from "../okta/idp_error.ts";
import { UsageError } from "../../shared/usage_error.ts";
import { sha256 } from "../digest.ts";
import { runScan, type FinishedScan } from "../run_scan.ts";
import type { ConnectedSettings, Settings } from "../settings/read_settings.ts";
import type { ScanPublisher } from "../streaming/scan_publisher.ts";
import { startPublishing } from "../streaming/start_publishing.ts";
import { readStreamConfig } from "../streaming/stream_config.ts";
import { finishScan, reportIdpError, saveArtifacts, toReport, type ReportedScan } from "./finish_scan.ts";
import { writeGitHubFeedback } from "./github_actions.ts";
import { newProgress, type Progress } from "./progress.ts";
import { readReportTarget } from "./report_target.ts";
import { decisionsOf, openDecisions, readRules } from "./rules.ts";
import { keep } from "./verdicts.ts";
import { createTrace } from "./trace_lines.ts";

/** A scan whose options and files are good: nothing was sent to the provider yet. */
export interface PreparedScan {
  readonly orgUrl: string;
  /** The name of the revision of the STIG. */
  readonly benchmark: string;
  run(): Promise<ScanOutcome>;
}

export interface ScanOutcome {
  readonly code: number;
  /** Null: nothing was evaluated, and `error` says why. */
  readonly reported: ReportedScan | null;
  readonly error: IdpError | null;
}

/** `scan` of one organization. Resolves with the exit code. */
export async function scanOne(settings: ConnectedSettings, io: CommandIo): Promise<number> {
  const { code, reported } = await (await prepareScan(settings, io)).run();
  if (reported !== null) await writeGitHubFeedback([{ name: null, report: reported.report }], io);
  return code;
}

/** Everything that can be refused is refused here, before the first request to the provider. */
export async function prepareScan(
  settings: ConnectedSettings,
  io: CommandIo,
  progress: Progress = newProgress(settings, io),
): Promise<PreparedScan> {
  const { connection, saveArtifacts: evidenceFile } = settings;
  if (evidenceFile?.file === standardStream) {
    throw new UsageError([`${evidenceFile.option} -: stdout already has the report. Name a file, or use collect`]);
  }
  const rules = await readRules(settings, connection.orgUrl, io);
  const { revision, checks, orgPolicy, names } = rules;
  const streamConfig = settings.isStreamed ? readStreamConfig(io.env) : null;
  const files = await openDecisions(settings, { names, orgUrl: connection.orgUrl }, io);
  const checklist = await readChecklist(settings.checklist, revision);
  const target = await readReportTarget(settings, io);
  const { orgUrl, clientId } = connection;
  const decisions = await decisionsOf(settings, { files, orgUrl, names }, io);
  return { orgUrl, benchmark: revision.benchmark.id, run };

  /** As the report counts them. */
  function attested(results: readonly CheckResult[]): readonly CheckResult[] {
    const { results: decided } = applyAttestations(results, decisions.attestations, io.now().getTime());
    return withChecklistAnswers(decided, checklist);
  }

  async function run(): Promise<ScanOutcome> {
    // A message may quote an answer of the gateway or the broker.
    const warn = (text: string) => progress.message(printable(text));
    const stream =
      streamConfig === null
        ? null
        : startPublishing(
            streamConfig,
            { org_url: orgUrl, client_id: clientId, benchmark: revision.benchmark.id, checks_total: checks.length },
            { warn, info: settings.quiet ? () => {} : warn },
          );
    const signal = stream === null ? io.interrupted : AbortSignal.any([io.interrupted, stream.cancelRequested]);
    progress.started(checks.map((check) => check.name));

    let scan: FinishedScan;
    try {
      scan = await runScan(
        { orgUrl, clientId, checks, orgPolicy, signal },
        {
          connect: (connectOptions) => connect(connection, connectOptions),
          onResult(result, counts) {
            progress.checkEvaluated(result, counts);
            stream?.checkEvaluated(result, counts);
          },
          count: (results) => countStates(attested(results)),
          now: io.now,
          trace: createTrace(settings, (line) => progress.message(line)),
        },
      );
    } catch (error) {
      progress.ended();
      await endFailed(stream, error);
      if (!(error instanceof IdpError)) throw error;
      return { code: await reportIdpError(error, target, io), reported: null, error };
    }
    progress.ended();
    let areSaved: boolean;
    try {
      // Evidence first: it is on disk before the wait for the gateway.
      areSaved = await saveArtifacts(evidenceFile, scan, io);
    } finally {
      await stream?.end(scan.status, attested(scan.results));
    }
    const { id, tenant_id: tenantId } = stream?.registered() ?? { id: randomUUID(), tenant_id: null };
    const signing = { orgPolicy, evidenceFile: areSaved ? evidenceFile?.file : undefined };
    const evidence = sha256(JSON.stringify(scan.document));
    const report = toReport(scan, { revision, decisions, checklist, orgPolicy, evidence, id, tenantId }, io);
    if (scan.status === "completed" && !isNarrowed(settings))
      await keep({ document: scan.document, report }, settings, io);
    const reported = await finishScan(scan, report, { revision, checklist, settings, target, signing, areSaved }, io);
    await stream?.storeReport(reported.report);
    return { code: reported.code, reported, error: null };
  }
}

/** True where options of this run leave rules out: `--baseline last` would take the others for new. */
function isNarrowed({ check, exclude, severity, nameOf }: Settings): boolean {
  const given = { check: check ?? [], exclude, severity };
  return (["check", "exclude", "severity"] as const).some(
    (name) => given[name].length > 0 && nameOf(name).startsWith("--"),
  );
}

async function endFailed(stream: ScanPublisher | null, error: unknown): Promise<void> {
  if (stream === null) return;
  if (error instanceof IdpError) stream.error(error.code, error.message);
  else stream.error("internal_error", "The scanner failed");
  await stream.end("failed", []);
}
