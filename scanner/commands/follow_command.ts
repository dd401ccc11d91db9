import { randomUUID } from "node:crypto";
import { dirname, join } from "node:path";
import type { CommandIo } from "../../command_line/command_io.ts";
import { exitCodes } from "../../command_line/exit_code.ts";
import { explainWriteError, makeDirectory, requireWritable } from "../../command_line/files.ts";
import { requireGatewayAccess } from "../../command_line/gateway_access.ts";
import { lockStateDirectory, type StateLock } from "../../command_line/state_lock.ts";
import { wrapText, writeLines } from "../../command_line/terminal.ts";
import { errorCode } from "../../shared/error_code.ts";
import { toPrintableJson } from "../../shared/text.ts";
import { UsageError } from "../../shared/usage_error.ts";
import { followDecisions } from "../decisions/followed_decisions.ts";
import { fetchDecisions } from "../decisions/decision_sources.ts";
import { changeTexts } from "../follow/change_text.ts";
import { follow } from "../follow/follower.ts";
import { maxPending } from "../follow/follow_record.ts";
import { followOrgPolicy } from "../org_policy/read_org_policy.ts";
import { systemClock } from "../okta/clock.ts";
import { connect } from "../okta/connection.ts";
import { readSigner, type Signer } from "../signing/keys.ts";
import { monitorOpener, readStreamConfig } from "../streaming/start_publishing.ts";
import { oneOrganization } from "../settings/organizations.ts";
import { readConnectedSettings, type Flags } from "../settings/read_settings.ts";
import { hostName } from "../setup/key_pair.ts";
import { readRules } from "./criteria.ts";
import { createTrace } from "./progress.ts";
import { appendFileSync, closeSync, openSync, readSync, statSync } from "node:fs";
import { dayMs, startOfDay } from "../../shared/history/rule_history.ts";
import type { WatchLine } from "../../shared/schemas/history.ts";
import type { ChangeLine } from "../follow/changes.ts";
import { signFiles, type StatementFacts } from "../signing/statement.ts";

/** `follow`: verdicts that stay true while it runs. Resolves with the exit code. */
export async function followCommand(flags: Flags, io: CommandIo): Promise<number> {
  const settings = readConnectedSettings(await oneOrganization("follow", flags, io));
  const { connection, lineFormat: format, lineFile } = settings;
  const directory = settings.state?.file ?? join(".scanstream/follow", hostName(connection.orgUrl));
  const { revision, checks, names } = await readRules(settings, connection.orgUrl, io);
  if (lineFile === null && settings.sign?.option === "--sign")
    throw new UsageError(["--sign needs --output FILE: lines on stdout cannot be signed"]);
  const signer = lineFile === null ? null : await readSigner(settings.sign, settings.signingKey);
  const say = (text: string) => writeLines(io, text);
  const expected = { orgUrl: connection.orgUrl, checks: revision.checks };
  const orgPolicy = await followOrgPolicy(settings.orgPolicy, expected, say);
  const access = settings.decisionsFromGateway ? requireGatewayAccess(io.env, []) : null;
  const decisions = await followDecisions({
    file: settings.decisions,
    fetch: access === null ? null : () => fetchDecisions(access, connection.orgUrl, io.interrupted),
    rules: names,
    say,
    nowMs: io.now().getTime(),
  });
  const streamConfig = settings.isStreamed ? readStreamConfig(io.env) : null;
  // Made here for its owner only; where that fails, the next line says why, before the first request.
  await makeDirectory(directory, 0o700).catch(() => {});
  await requireWritable({ directory: { option: "--state", file: directory } });
  const lock = await lockDirectory(directory);
  const rules = new Map(checks.map(({ name, rule }) => [name, rule]));
  const scopes = [...new Set([...connection.scopes, "logs.read"])];
  let file: ReturnType<typeof openChangeFile> | null = null;
  try {
    const started_at = io.now().toISOString();
    const factsAt = (nowMs: number) => ({
      scan: { org_url: connection.orgUrl, started_at, ended_at: new Date(nowMs).toISOString() },
      revision,
      toolVersion: io.toolVersion,
      orgPolicy: orgPolicy.current(),
    });
    const nowMs = () => io.now().getTime();
    if (lineFile !== null) {
      await requireWritable({ directory: { ...lineFile, file: dirname(lineFile.file) } });
      file = openChangeFile({ path: lineFile.file, signer, factsAt, nowMs, say });
    }
    const { end, isSaved } = await follow(
      {
        ...settings,
        ...connection,
        checks,
        benchmark: revision.benchmark.id,
        orgPolicy,
        failOn: settings.endOn,
        directory,
        signal: AbortSignal.any([io.interrupted, io.stdoutFailed]),
      },
      {
        connect: (options) => connect({ ...connection, scopes }, options),
        clock: systemClock,
        newId: randomUUID,
        decisions,
        write(lines) {
          file?.append(lines);
          const texts = changeTexts(lines, { format, color: io.colorStdout, ruleOf: (check) => rules.get(check) });
          const width = io.isStdoutTerminal && format === "table" ? io.terminal.columns : Infinity;
          const shown = texts.map((text) => wrapText(text, width - margin.length).join(`\n${margin}`));
          io.stdout(shown.map((text) => `${text}\n`).join(""));
        },
        unfiled: () => file?.unfiled() ?? [],
        writeState: (lines) => file?.begin(lines),
        say,
        openMonitor: monitorOpener(streamConfig, { warn: say, info: settings.quiet ? () => {} : say }),
        trace: createTrace(settings, say),
      },
    );
    // Interrupting is how it is meant to end, unless it has something to reach.
    const isUnfinished = end === "interrupted" && (settings.once || settings.untilClean);
    if (isUnfinished && io.interrupted.aborted) return exitCodes.interrupted;
    const isFailing = end === "failed" || (end === "caught_up" && settings.untilClean);
    const ended = isFailing ? exitCodes.findings : exitCodes.ok;
    return isSaved ? ended : exitCodes.usage;
  } finally {
    await file?.close();
    await lock.release();
  }
}

/** Indents the rest of a long line, so that dates alone stand at the left. */
const margin = " ".repeat("2026-01-31 ".length);

/** Two followers would overwrite each other's state. A place that knows no locks is used without one. */
async function lockDirectory(directory: string): Promise<StateLock> {
  const lock = await lockStateDirectory(directory).catch((error: unknown) => {
    if (errorCode(error) === null) throw error;
    return { release: async () => {} };
  });
  if (lock !== null) return lock;
  throw new UsageError([
    `--state ${JSON.stringify(directory)}: another follower uses this directory: choose another one, or stop that follower`,
  ]);
}

interface ChangeFileOptions {
  readonly path: string;
  /** Null: it is not signed. */
  readonly signer: Signer | null;
  /** Facts of the statement about the file, for a time at which it is signed. */
  readonly factsAt: (nowMs: number) => StatementFacts;
  readonly nowMs: () => number;
  /** Writes a message for a person. */
  readonly say: (text: string) => void;
}

/** The file of `follow --output`, which grows: it is signed at each UTC midnight and at the end. Throws `UsageError`. */
export function openChangeFile({ path, signer, factsAt, nowMs, say }: ChangeFileOptions) {
  const explain = (error: unknown) => explainWriteError(`--output ${JSON.stringify(path)}`, error);
  let isNew: boolean;
  let mayBeCut = true;
  /** Lines that the disk had no room for, oldest first. A file without them would show old verdicts for the time after. */
  let rest: readonly (ChangeLine | WatchLine)[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;
  let signed = Promise.resolve();
  try {
    appendFileSync(path, "");
    isNew = statSync(path).size === 0;
  } catch (error) {
    throw new UsageError([explain(error)]);
  }
  if (signer !== null) waitForMidnight();
  return {
    /** Writes the lines that a new file has to begin with, where the follower goes on from a saved state. */
    begin(lines: readonly ChangeLine[]): void {
      if (isNew) append(lines);
    },
    append,
    unfiled: () => rest.filter((line) => line.schema === "scanstream.change/1"),
    /** Signs what is there for the last time. */
    async close(): Promise<void> {
      clearTimeout(timer);
      sign();
      await signed;
    },
  };

  /** A disk that is full must not end the watch: said once, until it can be written again; then the file gets what it lacks. */
  function append(lines: readonly (ChangeLine | WatchLine)[]): void {
    const all = [...rest, ...lines];
    let written = 0;
    try {
      // One at a time, so that none is written twice.
      for (const line of all) {
        const start = mayBeCut && isLastLineCut(path) ? "\n" : "";
        mayBeCut = true;
        appendFileSync(path, `${start}${toPrintableJson(line)}\n`);
        mayBeCut = false;
        written += 1;
      }
    } catch (error) {
      if (rest.length === 0) say(explain(error));
    }
    rest = all.slice(written).slice(-Math.max(maxPending, lines.length));
  }

  function waitForMidnight(): void {
    const now = nowMs();
    const next = () => {
      sign();
      waitForMidnight();
    };
    timer = setTimeout(next, startOfDay(now) + dayMs - now).unref();
  }

  /** One after the other: both write the same file. */
  function sign(): void {
    signed = signed.then(async () => {
      try {
        const { problems } = await signFiles([path], factsAt(nowMs()), { signer, name: null });
        for (const problem of problems) say(problem);
      } catch (error) {
        say(`${path} cannot be signed: ${error instanceof Error ? error.message : "unknown"}`);
      }
    });
  }
}

/** True where a full disk, or the end of an earlier process, has cut the last line. */
function isLastLineCut(path: string): boolean {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  if (size === 0) return false;
  const file = openSync(path, "r");
  try {
    const last = Buffer.alloc(1);
    readSync(file, last, 0, 1, size - 1);
    return last.toString("latin1") !== "\n";
  } finally {
    closeSync(file);
  }
}
