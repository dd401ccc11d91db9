import { createEnvironmentReader, InvalidSetting } from "../../shared/environment_reader.ts";
import { UsageError } from "../../shared/usage_error.ts";
import type { ScannerFlags } from "../config.ts";
import { failOnProblem, parseFailOn, type FailOn } from "../decisions/fail_on.ts";
import type { ChangeFormat } from "../follow/change_text.ts";
import type { JudgingFlags } from "./judging_options.ts";

/** The options of `follow` as typed on the command line. */
export interface FollowFlags extends ScannerFlags, JudgingFlags {
  readonly state?: string;
  readonly interval?: string;
  readonly reconcile?: string;
  readonly once?: boolean;
  readonly untilClean?: boolean;
  readonly failOn?: string;
  readonly format?: string;
  readonly withAddresses?: boolean;
  readonly stream?: boolean;
  /** A file to which the lines are appended. */
  readonly output?: string;
  readonly sign?: string;
  readonly verbose?: boolean;
}

export interface FollowOptions {
  readonly directory: string;
  readonly intervalMs: number;
  readonly reconcileMs: number;
  readonly failOn: FailOn;
  readonly format: ChangeFormat;
}

const formats: readonly string[] = ["table", "ndjson"] satisfies readonly ChangeFormat[];
/** A hundred days: longer than the provider keeps its log. */
const maxReconcileHours = 2400;

/** Throws `UsageError` naming everything that is wrong. */
export function parseFollowOptions(flags: FollowFlags): FollowOptions {
  const reader = createEnvironmentReader({});
  const directory = flags.state ?? ".scanstream/follow";
  if (directory.trim() === "") reader.report("--state: expected a directory");
  const seconds = reader.parsed("--interval", flags.interval, parseInterval) ?? 10;
  const hours = reader.parsed("--reconcile", flags.reconcile, parseReconcile) ?? 6;
  const failOn = parseFailOn(flags.failOn ?? "never");
  if (failOn === null) reader.report(failOnProblem(flags.failOn ?? ""));
  const format = flags.format ?? "table";
  if (!isFormat(format)) reader.report(`--format ${JSON.stringify(format)}: expected table or ndjson`);
  if (flags.output === "") reader.report("--output: expected a file");
  if (flags.sign !== undefined && flags.output === undefined)
    reader.report("--sign needs --output FILE: lines on stdout cannot be signed");
  if (reader.problems.length > 0 || failOn === null || !isFormat(format)) throw new UsageError(reader.problems);
  return { directory, intervalMs: seconds * 1000, reconcileMs: hours * 3_600_000, failOn, format };
}

function parseInterval(text: string): number {
  const seconds = Number(text);
  if (/^\d+(\.\d+)?$/.test(text) && seconds >= 2 && seconds <= 3600) return seconds;
  throw new InvalidSetting("is not an interval: expected seconds from 2 to 3600");
}

function parseReconcile(text: string): number {
  const hours = Number(text);
  if (/^\d+(\.\d+)?$/.test(text) && hours >= 0.001 && hours <= maxReconcileHours) return hours;
  throw new InvalidSetting(`is not an interval: expected hours from 0.001 to ${maxReconcileHours}`);
}

function isFormat(text: string): text is ChangeFormat {
  return formats.includes(text);
}
