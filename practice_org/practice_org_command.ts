import { once } from "node:events";
import type { CommandIo } from "../command_line/command_io.ts";
import { exitCodes } from "../command_line/exit_code.ts";
import { explainWriteError } from "../command_line/files.ts";
import { createPracticeOrg, type PracticeOrg, type PracticeOrgOptions } from "./create_practice_org.ts";
import { publishCredentials, loadKeyPair, terraformKeyFileName } from "./auth/credentials.ts";
import { faultNames, parseFault } from "./api/faults.ts";
import { parseProfile } from "./contents/profile.ts";
import { UsageError } from "../shared/usage_error.ts";

export interface PracticeOrgFlags {
  readonly port: string;
  readonly profile: string;
  readonly role: string;
  readonly fault?: readonly string[];
  readonly latency: string;
  readonly drift?: string;
  readonly fresh?: boolean;
  readonly writable?: boolean;
  readonly state: string;
}

/** `practice-org`: runs until it is interrupted. What a scan of it needs stands on stdout, as lines for a shell. */
export async function practiceOrgCommand(flags: PracticeOrgFlags, io: CommandIo): Promise<number> {
  if (flags.fault?.includes("help") === true) {
    const width = Math.max(...Object.keys(faultNames).map((name) => name.length));
    for (const [name, description] of Object.entries(faultNames)) io.stdout(`${name.padEnd(width)}  ${description}\n`);
    return exitCodes.ok;
  }
  const options = parseFlags(flags);
  const keyPair = await inState(flags.state, loadKeyPair(flags.state));
  const { driftSeconds, ...orgOptions } = options;
  const terraform =
    options.isWritable === true
      ? { terraformKeyPair: await inState(flags.state, loadKeyPair(flags.state, terraformKeyFileName)) }
      : {};
  const org = await createPracticeOrg({ ...orgOptions, keyPair, ...terraform }).catch((error: unknown) => {
    // The port is in use or not permitted: a mistake in the options.
    throw error instanceof Error && error.message.startsWith("Cannot listen") ? new UsageError([error.message]) : error;
  });
  const { environmentLines } = await inState(flags.state, publishCredentials(org, flags.state));
  const lines = flags.fresh === true ? environmentLines.slice(0, 1) : environmentLines;
  io.terminal.write(`Practice org (${flags.profile}, ${flags.role}) at ${org.url}; stop it with Ctrl-C\n`);
  io.stdout(`${lines.join("\n")}\n`);
  io.terminal.write(`Admin page ${org.url}/\n`);
  if (flags.fresh === true) io.terminal.write(`Connect it: scanstream setup --org-url ${org.url}\n`);
  const drift = driftSeconds === null ? null : setInterval(() => changeSomething(org, io), driftSeconds * 1000);
  if (!io.interrupted.aborted) await once(io.interrupted, "abort");
  if (drift !== null) clearInterval(drift);
  await org.stop();
  return exitCodes.ok;
}

function changeSomething(org: PracticeOrg, io: CommandIo): void {
  try {
    io.terminal.write(`Changed: ${org.changeAtRandom()}\n`);
  } catch (error) {
    // An org that has nothing to change stays as it is.
    if (!(error instanceof RangeError)) throw error;
    io.terminal.write(`${error.message}\n`);
  }
}

/** Rejects with `UsageError` where the folder of `--state` cannot be used. */
async function inState<Result>(directory: string, work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    throw new UsageError([explainWriteError(`--state ${JSON.stringify(directory)}`, error)]);
  }
}

function parseFlags(flags: PracticeOrgFlags): PracticeOrgOptions & { readonly driftSeconds: number | null } {
  const problems: string[] = [];
  const attempt = <Value>(option: string, parse: () => Value): Value | null => {
    try {
      return parse();
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      problems.push(`${option}: ${error.message}`);
      return null;
    }
  };
  const profile = attempt("--profile", () => parseProfile(flags.profile));
  const faults = (flags.fault ?? []).map((text) => attempt("--fault", () => parseFault(text)));
  const role = attempt("--role", () => parseRole(flags.role));
  const port = attempt("--port", () => parseWhole(flags.port, 65_535));
  const latencyMs = attempt("--latency", () => parseWhole(flags.latency, 60_000));
  const { drift } = flags;
  const driftSeconds = drift === undefined ? null : attempt("--drift", () => parseSeconds(drift));
  if (problems.length > 0 || profile === null || role === null || port === null || latencyMs === null) {
    throw new UsageError(problems);
  }
  const isWritable = flags.writable === true;
  const isFresh = flags.fresh === true;
  const known = faults.filter((fault) => fault !== null);
  return { profile, role, port, latencyMs, driftSeconds, isWritable, isFresh, faults: known };
}

function parseRole(text: string): PracticeOrgOptions["role"] {
  if (text === "read-only" || text === "custom" || text === "super" || text === "none") return text;
  throw new RangeError(`${JSON.stringify(text)} is not a role: expected read-only, custom, super or none`);
}

/** Fractions too. */
function parseSeconds(text: string): number {
  if (/^\d{1,5}(?:\.\d{1,3})?$/.test(text) && Number(text) >= 0.05 && Number(text) <= 86_400) return Number(text);
  throw new RangeError(`${JSON.stringify(text)} is out of range: expected seconds from 0.05 to 86400`);
}

function parseWhole(text: string, max: number): number {
  if (/^\d{1,6}$/.test(text) && Number(text) <= max) return Number(text);
  throw new RangeError(`${JSON.stringify(text)} is out of range: expected a whole number from 0 to ${max}`);
}
