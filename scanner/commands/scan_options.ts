import { nearestName } from "../../shared/nearest_name.ts";
import type { CommandIo, Environment } from "../../command_line/command_io.ts";
import { standardStream } from "../../command_line/files.ts";
import { readSigner, type Signer } from "../signing/keys.ts";
import { printable } from "../../command_line/terminal.ts";
import type { RuleNames } from "../../shared/rule_names.ts";
import type { CatalogCheck } from "../catalog/catalog.ts";
import type { CheckSelection } from "../catalog/select_checks.ts";
import type { DecisionFiles } from "../decisions/decisions.ts";
import { failOnProblem, parseFailOn, type FailRule } from "../decisions/fail_on.ts";
import { reportFormats } from "../reports/formats.ts";
import type { ReportFormat } from "../reports/report_format.ts";
import { reportFileName } from "../reports/write_reports.ts";
import { ruleStates, type RuleState } from "../../shared/rule_result.ts";
import { parseStates, stateWords } from "../../shared/rule_states.ts";
import { severityWords } from "../../shared/severity.ts";
import { UsageError } from "../../shared/usage_error.ts";

export interface SelectionFlags {
  /** The file of another revision of the STIG. */
  readonly benchmark?: string;
  readonly check?: string;
  readonly exclude?: string;
  readonly severity?: string;
  /** The organization's values in place of the STIG's. */
  readonly parameters?: string;
}

/** Throws `UsageError` for an option that is given and names nothing, as with a variable that is not set: it would select all. */
export function toSelection({ check, exclude = "", severity }: SelectionFlags): Required<CheckSelection> {
  const selection = {
    check: splitList(check ?? ""),
    exclude: splitList(exclude),
    severity: splitList(severity ?? ""),
  };
  const problems = [
    ...(check !== undefined && selection.check.length === 0
      ? [`--check ${JSON.stringify(check)}: expected names or ids of checks; run \`scanstream checks\` for the list`]
      : []),
    ...(severity !== undefined && selection.severity.length === 0
      ? [`--severity ${JSON.stringify(severity)}: expected one or more of ${severityWords}`]
      : []),
  ];
  if (problems.length > 0) throw new UsageError(problems);
  return selection;
}

export function rulesOf(checks: readonly CatalogCheck[]): readonly RuleNames[] {
  return checks.map(({ rule }) => rule);
}

/** Writes what a person should know of a name that was understood. */
export function warnOn({ terminal }: Pick<CommandIo, "terminal">): (message: string) => void {
  return (message) => terminal.write(`${printable(message)}\n`);
}

/** The report options of `scan` and `evaluate` as typed on the command line. */
export interface ReportFlags {
  /** States to print. */
  readonly status?: string;
  readonly format?: string;
  readonly output?: string;
  readonly failOn?: string;
  readonly failOnNew?: boolean;
  readonly allowUnread?: boolean;
  readonly waivers?: string;
  readonly attestations?: string;
  readonly decisionsFromGateway?: boolean;
  readonly baseline?: string;
  readonly checklist?: string;
  readonly poamPerFinding?: boolean;
  /** The file of a private key. */
  readonly sign?: string;
  /** The file of another revision of the STIG. */
  readonly benchmark?: string;
}

export interface ReportOptions extends DecisionFiles, FailRule {
  readonly formats: readonly ReportFormat[];
  /** A directory for `scan.<extension>`; null: the one format goes to stdout. */
  readonly outputDir: string | null;
  /** States of the rules, or findings, to print. */
  readonly states: readonly RuleState[];
  /** A CKLB or CKL that people worked in; null: the checklists begin empty. */
  readonly checklistFile: string | null;
}

export function reportPlaces({ outputDir, formats }: ReportOptions) {
  return { directory: outputDir, fileNames: formats.map(reportFileName) };
}

/** Throws `UsageError` where `--sign` has no file to sign. */
export async function readSigning(
  flags: Pick<ReportFlags, "sign" | "output"> & { readonly saveArtifacts?: string },
  env: Environment,
): Promise<Signer | null> {
  const signer = await readSigner(flags.sign, env);
  const hasFile =
    flags.output !== undefined || (flags.saveArtifacts !== undefined && flags.saveArtifacts !== standardStream);
  if (flags.sign !== undefined && !hasFile)
    throw new UsageError(["--sign needs --output DIR: a report on stdout cannot be signed"]);
  return hasFile ? signer : null;
}

/** Throws `UsageError` naming everything that is wrong. */
export function parseReportOptions(flags: ReportFlags): ReportOptions {
  const problems: string[] = [];
  const formats = chooseFormats(flags, reportFormats, problems);
  const failOnText = flags.failOn ?? "fail";
  const failOn = parseFailOn(failOnText);
  if (failOn === null) problems.push(failOnProblem(failOnText));
  if (flags.failOnNew === true && flags.baseline === undefined) {
    problems.push("--fail-on-new needs --baseline REPORT.json, to know which findings are new");
  }
  const states = flags.status === undefined ? ruleStates : parseStates(flags.status);
  if (states === null) problems.push(`--status ${JSON.stringify(flags.status)}: expected ${stateWords}`);
  if (problems.length > 0 || failOn === null || states === null) throw new UsageError(problems);
  return {
    formats,
    states,
    outputDir: flags.output ?? null,
    failOn,
    failOnText,
    onlyNew: flags.failOnNew === true,
    allowUnread: flags.allowUnread === true,
    waiversFile: flags.waivers ?? null,
    attestationsFile: flags.attestations ?? null,
    baselineFile: flags.baseline ?? null,
    checklistFile: flags.checklist ?? null,
  };
}

/** The formats that `--format` names, a table by default; throws `UsageError`. */
export function parseFormats<Format extends { readonly name: string }>(
  flags: Pick<ReportFlags, "format" | "output">,
  known: readonly Format[],
): readonly Format[] {
  const problems: string[] = [];
  const formats = chooseFormats(flags, known, problems);
  if (problems.length > 0) throw new UsageError(problems);
  return formats;
}

function chooseFormats<Format extends { readonly name: string }>(
  { format = "table", output }: Pick<ReportFlags, "format" | "output">,
  known: readonly Format[],
  problems: string[],
): readonly Format[] {
  const every = known.map(({ name }) => name);
  const names = [...new Set(splitList(format).flatMap((name) => (name === "all" ? every : [name])))];
  const formats = names.flatMap((name) => known.find((candidate) => candidate.name === name) ?? []);
  const unknown = names.filter((name) => !every.includes(name));
  const option = `--format ${JSON.stringify(format)}`;
  if (unknown.length > 0 || formats.length === 0) {
    const which = unknown.map((name) => {
      const nearest = nearestName(name, every);
      return `unknown format ${JSON.stringify(name)}${nearest === null ? "" : ` (did you mean ${nearest}?)`}; `;
    });
    problems.push(`${option}: ${which.join("")}expected one or more of ${[...every, "all"].join(", ")}`);
  }
  if (names.length > 1 && output === undefined) {
    problems.push(`${option}: several formats need --output DIR`);
  }
  if (output === "") problems.push("--output: expected a directory");
  return formats;
}

/** `a, b,c` as a list; empty items are dropped. */
export function splitList(text: string): readonly string[] {
  return text
    .split(",")
    .map((item) => item.trim())
    .filter((item) => item !== "");
}
