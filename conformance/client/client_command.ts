import { errorCode } from "../../shared/error_code.ts";
import { UsageError } from "../../shared/usage_error.ts";
import { toPrintableJson } from "../../shared/text.ts";
import type { CommandIo } from "../../command_line/command_io.ts";
import { exitCodes } from "../../command_line/exit_code.ts";
import { paintStatus, printable } from "../../command_line/terminal.ts";
import type { ConformanceCase } from "./case.ts";
import { CaseRun, type CaseResult } from "./case_run.ts";
import { startCaseServer, type CaseServer } from "./case_server.ts";
import { conformanceCases } from "./cases.ts";
import { runClientProcess } from "./client_process.ts";

export interface ConformanceFlags {
  readonly port: number;
  readonly case?: string;
  readonly list?: boolean;
  readonly heartbeatSeconds: number;
  readonly format: string;
}

/** A client that reconnects after the end, or asks again after 204, does it within this. */
const quietMs = { short: 500, long: 4000 };
const timeoutMs = 20_000;
/** In which a client can notice that a stream is dead. */
const heartbeatsOfSilence = 5;
/** Clients that run at one time. */
const concurrency = 4;

/**
 * `client [-- COMMAND ARGS…]`: runs a client against scripted streams, or serves them to one that is started elsewhere,
 * and says what a right client would have done. Resolves with the exit code.
 */
export async function clientCommand(
  command: readonly string[],
  flags: ConformanceFlags,
  io: CommandIo,
): Promise<number> {
  const cases = selectCases(flags.case);
  if (flags.list === true) {
    io.stdout(flags.format === "json" ? `${toPrintableJson(cases.map(listed), 2)}\n` : listText(cases));
    return exitCodes.ok;
  }
  const heartbeatMs = flags.heartbeatSeconds * 1000;
  const runs = cases.map(
    (one) =>
      new CaseRun(one, {
        heartbeatMs,
        quietMs,
        timeoutMs: one.group === "liveness" ? timeoutMs + heartbeatsOfSilence * heartbeatMs : timeoutMs,
      }),
  );
  const server = await startServer(runs, flags.port);
  const stopped = AbortSignal.any([io.interrupted, io.stdoutFailed]);
  const [program, ...args] = command;
  const running =
    program === undefined
      ? announce(server, io)
      : runAll(runs, (run) => runClient(run, { server, command: [program, ...args], flags, io, stopped }), stopped);
  const results: CaseResult[] = [];
  try {
    for (const run of runs) {
      // A client that cannot be started ends the command.
      const result = await Promise.race([run.decided, running.then(() => run.decided), aborted(stopped)]);
      if (result === null) break;
      results.push(result);
      if (flags.format !== "json") io.stdout(resultText(result, io.colorStdout));
    }
  } finally {
    // No client outlives the command.
    await Promise.allSettled([running]);
    await server.stop();
  }
  const failed = results.filter(({ mistake }) => mistake !== null).length;
  if (flags.format === "json") io.stdout(`${toPrintableJson(toReport(results), 2)}\n`);
  else io.stdout(`${results.length - failed} passed, ${failed} failed\n`);
  if (io.interrupted.aborted) return exitCodes.interrupted;
  return failed === 0 ? exitCodes.ok : exitCodes.findings;
}

function selectCases(names: string | undefined): readonly ConformanceCase[] {
  if (names === undefined) return conformanceCases;
  const wanted = names.split(",").map((name) => name.trim());
  const isWanted = (one: ConformanceCase, name: string) => one.name === name || one.group === name;
  const unknown = wanted.filter((name) => !conformanceCases.some((one) => isWanted(one, name)));
  if (unknown.length > 0) {
    throw new UsageError(
      unknown.map((name) => `--case ${JSON.stringify(name)}: no such case or group; --list shows them`),
    );
  }
  return conformanceCases.filter((one) => wanted.some((name) => isWanted(one, name)));
}

async function startServer(runs: readonly CaseRun[], port: number): Promise<CaseServer> {
  try {
    return await startCaseServer(runs, port);
  } catch (cause) {
    throw new UsageError([`--port ${port}: cannot listen there (${errorCode(cause) ?? String(cause)})`], { cause });
  }
}

/** Clients come by themselves. */
async function announce({ url }: CaseServer, io: CommandIo): Promise<void> {
  io.terminal.write(
    `Waiting for a client: GET ${url}/cases lists each case's stream_url, and report_url takes what it received, as POST\n`,
  );
  await Promise.resolve();
}

async function runAll(
  runs: readonly CaseRun[],
  run: (one: CaseRun) => Promise<void>,
  stopped: AbortSignal,
): Promise<void> {
  const waiting = [...runs];
  const work = async () => {
    for (let one = waiting.shift(); one !== undefined && !stopped.aborted; one = waiting.shift()) await run(one);
  };
  await Promise.all(Array.from({ length: concurrency }, work));
}

interface ClientRun {
  readonly server: CaseServer;
  readonly command: readonly [string, ...string[]];
  readonly flags: ConformanceFlags;
  readonly io: CommandIo;
  readonly stopped: AbortSignal;
}

async function runClient(run: CaseRun, { server, command, flags, io, stopped }: ClientRun): Promise<void> {
  const { stream, token, state } = server.addressesOf(run);
  const decided = new AbortController();
  run.begin();
  const ended = runClientProcess({
    command,
    env: {
      ...io.env,
      STREAM_URL: stream,
      TOKEN_URL: token,
      STATE_URL: state,
      HEARTBEAT_SECONDS: String(flags.heartbeatSeconds),
      ENDS: String(run.case.ends ?? 1),
    },
    onLine: (line) => run.report(line),
    signal: AbortSignal.any([decided.signal, stopped]),
  });
  void run.decided.then(() => decided.abort());
  run.clientEnded(await ended);
}

function aborted(signal: AbortSignal): Promise<null> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(null);
    signal.addEventListener("abort", () => resolve(null), { once: true });
  });
}

function listed({ name, group, promise }: ConformanceCase) {
  return { name, group, promise };
}

function listText(cases: readonly ConformanceCase[]): string {
  return cases.map(({ name, group, promise }) => `${columns(group, name)} A right client ${promise}\n`).join("");
}

function resultText({ case: { name, group, promise }, mistake }: CaseResult, color: boolean): string {
  const status = mistake === null ? "PASS" : "FAIL";
  const line = `${paintStatus(status, status, { color })}  ${columns(group, name)}`;
  return mistake === null
    ? `${line.trimEnd()}\n`
    : `${line} ${printable(mistake)}\n${" ".repeat(6)}A right client ${promise}\n`;
}

function columns(group: string, name: string): string {
  return `${group.padEnd(12)} ${name.padEnd(13)}`;
}

function toReport(results: readonly CaseResult[]) {
  const failed = results.filter(({ mistake }) => mistake !== null).length;
  return {
    passed: results.length - failed,
    failed,
    cases: results.map(({ case: one, mistake, seconds }) => ({
      ...listed(one),
      result: mistake === null ? "PASS" : "FAIL",
      mistake,
      seconds: Math.round(seconds * 10) / 10,
    })),
  };
}
