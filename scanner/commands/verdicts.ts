import { AppError } from "../../shared/app_error.ts";
import type { CommandIo } from "../../command_line/command_io.ts";
import { exitCodes } from "../../command_line/exit_code.ts";
import { readOptionFile, type NamedFile } from "../../command_line/files.ts";
import { maxArtifactsBytes, parseArtifacts, type ArtifactsDocument } from "../evidence/artifacts_document.ts";
import { connect } from "../okta/connection.ts";
import type { ConnectionSettings } from "../okta/connection_settings.ts";
import { IdpError } from "../okta/idp_error.ts";
import { evaluateTraced, runScan, toContext, type FinishedScan } from "../run_scan.ts";
import { settingsOfOne, settingsOfSaved } from "../settings/organizations.ts";
import type { Flags, Settings } from "../settings/read_settings.ts";
import type { CommandName } from "../settings/setting.ts";
import { writeIdpError } from "./finish_scan.ts";
import type { Progress } from "./progress.ts";
import type { Rules } from "./rules.ts";
import { createTrace } from "./trace_lines.ts";

/** Evidence that was saved. */
export interface SavedEvidence {
  readonly document: ArtifactsDocument;
  readonly text: string;
}

/** What a command evaluates, with its settings: evidence of a file, or an org that is asked. */
export type Source =
  | { readonly settings: Settings; readonly evidence: SavedEvidence }
  | { readonly settings: Settings; readonly evidence: null; readonly connection: ConnectionSettings };

/** Throws `UsageError` where a setting or the file cannot be used. */
export async function openSource(command: CommandName, flags: Flags, io: CommandIo): Promise<Source> {
  const file = flags["fromArtifacts"];
  if (typeof file === "string") return openEvidence(command, flags, { file, io });
  const settings = await settingsOfOne(command, flags, io);
  return { settings, evidence: null, connection: settings.connection };
}

export async function openEvidence(
  command: CommandName,
  flags: Flags,
  { file, io }: { readonly file: string; readonly io: CommandIo },
): Promise<{ readonly settings: Settings; readonly evidence: SavedEvidence }> {
  // Options that cannot be used are refused before the file is read.
  await settingsOfSaved(command, flags, { io, orgUrl: null });
  const evidence = await readEvidence({ option: "--from-artifacts", file });
  const settings = await settingsOfSaved(command, flags, { io, orgUrl: evidence.document.scan.org_url });
  return { settings, evidence };
}

async function readEvidence(source: NamedFile): Promise<SavedEvidence> {
  return readOptionFile({ ...source, maxBytes: maxArtifactsBytes }, (text) => {
    try {
      return { document: parseArtifacts(text), text };
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      const place = `Cannot use ${source.option} ${JSON.stringify(source.file)}`;
      throw new AppError(error.code, error.message.replace("Cannot read the evidence", place), { cause: error });
    }
  });
}

export type Verdicts = Pick<FinishedScan, "results" | "document">;

/** The verdicts of a source; the exit code where the org lets nobody in, or the scan was interrupted. */
export async function evaluateSource(
  source: Source,
  rules: Rules,
  { io, progress }: { readonly io: CommandIo; readonly progress: Progress },
): Promise<Verdicts | number> {
  const { settings } = source;
  if (source.evidence !== null) return evaluateEvidence(source.evidence, rules, { settings, io });
  progress.started(rules.checks.map((check) => check.name));
  try {
    const scan = await scanOrg(source.connection, rules, { settings, io, progress });
    return typeof scan !== "number" && scan.status === "cancelled" ? exitCodes.interrupted : scan;
  } finally {
    progress.ended();
  }
}

/** Without the names of checks, one whose evidence was not collected is left out. */
export function evaluateEvidence(
  { document }: SavedEvidence,
  { checks, isNamed, parameters, approvedIssuers }: Rules,
  { settings, io }: { readonly settings: Settings; readonly io: CommandIo },
): Verdicts {
  const trace = createTrace(settings, (line) => io.terminal.write(`${line}\n`));
  const selected = isNamed ? checks : checks.filter(({ name }) => document.checks.includes(name));
  const { engine, org_url: orgUrl } = document.scan;
  const context = toContext({ engine, orgUrl, evaluatedAt: document.evaluated_at, approvedIssuers, parameters });
  return {
    results: selected.map((check) => evaluateTraced(check, document.artifacts, { context, trace })),
    document,
  };
}

/** One scan of the org; the exit code, after a message, where it lets nobody in. */
export async function scanOrg(
  connection: ConnectionSettings,
  { checks, approvedIssuers, parameters }: Rules,
  { settings, io, progress }: { readonly settings: Settings; readonly io: CommandIo; readonly progress: Progress },
): Promise<FinishedScan | number> {
  const { orgUrl, clientId } = connection;
  try {
    return await runScan(
      { checks, approvedIssuers, parameters, orgUrl, clientId, signal: io.interrupted },
      {
        connect: (options) => connect(connection, options),
        onResult: (result, counts) => progress.checkEvaluated(result, counts),
        now: io.now,
        trace: createTrace(settings, (line) => progress.message(line)),
      },
    );
  } catch (error) {
    if (!(error instanceof IdpError)) throw error;
    writeIdpError(error, io);
    return exitCodes.unread;
  }
}
