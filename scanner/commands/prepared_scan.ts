import { randomUUID } from "node:crypto";
import type { CommandIo } from "../../command_line/command_io.ts";
import { exitCodes } from "../../command_line/exit_code.ts";
import { standardStream } from "../../command_line/files.ts";
import { printable } from "../../command_line/terminal.ts";
import { UsageError } from "../../shared/usage_error.ts";
import { sha256 } from "../digest.ts";
import { IdpError } from "../okta/idp_error.ts";
import type { FinishedScan } from "../run_scan.ts";
import { type ConnectedSettings, type Settings } from "../settings/read_settings.ts";
import { startPublishing } from "../streaming/start_publishing.ts";
import { readStreamConfig } from "../streaming/stream_config.ts";
import { readJudgment } from "./judgment.ts";
import { type Progress } from "./progress.ts";
import {
  finishScan,
  readReportTarget,
  saveArtifacts,
  toReport,
  writeIdpError,
  type ReportedScan,
} from "./report_output.ts";
import { attested, keep, scanOrg } from "./sources.ts";

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

/** Refuses everything that can be refused before the first request to the provider. */
export async function prepareScan(
  settings: ConnectedSettings,
  io: CommandIo,
  progress: Progress,
): Promise<PreparedScan> {
  const { saveArtifacts: evidenceFile, quiet } = settings;
  const { orgUrl, clientId: client_id } = settings.connection;
  if (evidenceFile?.file === standardStream) {
    throw new UsageError([`${evidenceFile.option} -: stdout already has the report. Name a file, or use collect`]);
  }
  const streamConfig = settings.isStreamed ? readStreamConfig(io.env) : null;
  const judgment = await readJudgment(settings, orgUrl, io);
  const target = await readReportTarget(settings, io);
  const { checks, revision } = judgment;
  const benchmark = revision.benchmark.id;
  return { orgUrl, benchmark, run };

  async function run(): Promise<ScanOutcome> {
    // A message may quote an answer of the gateway or the broker.
    const warn = (text: string) => progress.message(printable(text));
    const facts = { org_url: orgUrl, client_id, benchmark, checks_total: checks.length };
    const log = { warn, info: quiet ? () => {} : warn };
    const stream = streamConfig === null ? null : startPublishing(streamConfig, facts, log);
    let scan: FinishedScan;
    try {
      scan = await scanOrg(settings, judgment, { io, progress, stream });
    } catch (error) {
      const isRefused = error instanceof IdpError;
      stream?.error(isRefused ? error.code : "internal_error", isRefused ? error.message : "The scanner failed");
      await stream?.end("failed", []);
      if (!isRefused) throw error;
      await writeIdpError(error, target, io);
      return { code: exitCodes.unread, reported: null, error };
    }
    // Evidence first: it is on disk before the wait for the gateway.
    let areSaved: boolean;
    try {
      areSaved = await saveArtifacts(evidenceFile, scan, io);
    } finally {
      await stream?.end(scan.status, attested(scan.results, judgment, io));
    }
    const { id, tenant_id: tenantId } = stream?.registered() ?? { id: randomUUID(), tenant_id: null };
    const evidence = sha256(JSON.stringify(scan.document));
    const report = toReport(scan, judgment, { evidence, id, tenantId }, io);
    if (scan.status === "completed" && !isNarrowed(settings))
      await keep({ document: scan.document, report }, settings, io);
    const saved = areSaved ? evidenceFile?.file : undefined;
    const reported = await finishScan(report, { judgment, settings, target, evidenceFile: saved, areSaved }, io);
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
