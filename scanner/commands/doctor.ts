import { styleText } from "node:util";
import type { CommandIo } from "../../command_line/command_io.ts";
import { exitCodes, worstOf, type Outcome } from "../../command_line/exit_code.ts";
import { printable, writeLines, wrapped } from "../../command_line/terminal.ts";
import { toPrintableJson } from "../../shared/text.ts";
import { systemClock } from "../okta/clock.ts";
import type { ConnectOptions } from "../okta/connection.ts";
import type { ConnectionSettings } from "../okta/connection_settings.ts";
import {
  examineConnection,
  examineOptional,
  examineRole,
  fail,
  ok,
  steps,
  warn,
  type Step,
  type StepResult,
} from "../okta/examine.ts";
import { remedies } from "../okta/idp_error.ts";
import { RequestSender } from "../okta/request_sender.ts";
import { settingsOfEach } from "../settings/organizations.ts";
import {
  readConnectedSettings,
  readSettings,
  SettingsError,
  type Flags,
  type Given,
} from "../settings/read_settings.ts";
import { examineRules, type RuleAnswers, type RuleLimit } from "./rule_limits.ts";
import { createTrace } from "./progress.ts";

/**
 * `doctor`: each step as soon as it is known, of every organization of the configuration file or of the ones that `--org` names. 2
 * when a configuration is wrong, 3 when a provider refuses.
 */
export async function doctorCommand(flags: Flags, io: CommandIo): Promise<number> {
  const organizations = await settingsOfEach("doctor", flags, io);
  // Settings of the output only: an error in those of an organization is a step of that organization.
  const shown = { format: flags["format"], verbose: flags["verbose"] };
  const settings = readSettings({ command: "doctor", flags: shown, env: {} });
  const isText = settings.textFormat === "text";
  const trace = createTrace(settings, (line) => writeLines(io, line));
  const all: { readonly organization: string | null; readonly steps: readonly DoctorResult[] }[] = [];
  for (const given of organizations) {
    const { organization = null } = given;
    if (organization !== null && isText) io.stdout(`${all.length === 0 ? "" : "\n"}${printable(organization)}\n`);
    const results: DoctorResult[] = [];
    for await (const result of diagnose({ given, signal: io.interrupted, trace })) {
      results.push(result);
      if (isText) io.stdout(resultText(result, io.colorStdout, io.terminal.columns));
    }
    all.push({ organization, steps: results });
  }
  const [only] = all;
  const document = all.length === 1 && only?.organization === null ? only.steps : all;
  if (!isText) io.stdout(`${toPrintableJson(document, 2)}\n`);
  return exitCodes[worstOf(all.map((one) => outcomeOf(one.steps)))];
}

function outcomeOf(results: readonly DoctorResult[]): Outcome {
  const failed = results.find(({ state }) => state === "fail")?.step;
  if (failed === undefined) return "ok";
  return failed === "configuration" || failed === "private_key" ? "usage" : "refused";
}

const colors = { ok: "green", warn: "yellow", fail: "red", skipped: "gray" } as const;

function resultText(result: DoctorResult, color: boolean, width: number): string {
  const { step, state, detail, remedy } = result;
  const mark = color ? styleText(colors[state], state.padEnd(7), { validateStream: false }) : state.padEnd(7);
  const below = [
    ...(remedy === null ? [] : [`→ ${remedy}`]),
    ...(result.facts ?? []),
    ...(result.limits ?? []).flatMap((limit, index, limits) => limitTexts(limit, limits[index + 1])),
  ];
  const lines = [
    `${mark} ${wrapped(`${step.replaceAll("_", " ")}: ${detail}`, 10, width).join("\n")}`,
    ...below.flatMap((text) => wrapped(text, 2, width - 8).map((line) => `        ${line}`)),
  ];
  return `${lines.join("\n")}\n`;
}

/** Texts of one limit. A remedy for several in a row stands below the last of them. */
function limitTexts({ rules, outcome, why, remedy }: RuleLimit, next: RuleLimit | undefined): readonly string[] {
  const limit = `${outcome === "manual" ? "No PASS" : "In part"}: ${rules.join(", ")}: ${why}`;
  return remedy === null || remedy === next?.remedy ? [limit] : [limit, `  → ${remedy}`];
}

type DoctorInput = Pick<ConnectOptions, "signal" | "trace"> & { readonly given: Given };

export interface DoctorResult extends StepResult {
  /** Answers of this organization to the role, where the provider's documents do not say. */
  readonly facts?: readonly string[];
  /** Rules that a scan cannot decide, or only in part. */
  readonly limits?: readonly RuleLimit[];
}

/**
 * Tests what a scan needs, step by step, and names what to fix where. Yields each result as soon as it is known; after
 * a failure the steps that need it are `skipped`. Never throws for what the provider or the configuration is like, only
 * when the signal aborts.
 */
export async function* diagnose(input: DoctorInput): AsyncGenerator<DoctorResult> {
  const left: Step[] = [...steps];
  let failure: Step | null = null;
  const skip = (count: number) => {
    const detail = `Fix "${(failure ?? "configuration").replace("_", " ")}" first`;
    return left.splice(0, count).map((step) => ({ step, state: "skipped", detail, remedy: null }) as const);
  };
  for await (const result of examine(input)) {
    if (result.state === "fail") failure ??= result.step;
    yield* skip(left.indexOf(result.step));
    left.shift();
    yield result;
  }
  yield* skip(left.length);
}

/** Ends after a failure. */
async function* examine({ given, signal, trace }: DoctorInput): AsyncGenerator<DoctorResult> {
  const config = yield* examineConfig(given);
  if (config === null) return;
  const sender = new RequestSender(config, { signal, clock: systemClock, trace });
  try {
    const connection = yield* examineConnection(config, sender);
    if (connection === null) return;
    const answers = await examineRules(connection.client, connection.org.engine);
    yield withReads(await examineRole(connection), answers);
    yield rulesResult(answers);
    yield rateLimitResult(sender);
    yield* examineOptional(connection);
  } finally {
    await sender.close();
  }
}

function* examineConfig(given: Given): Generator<StepResult, ConnectionSettings | null> {
  const wellFormed = ok("configuration", "Address, client id and options are well-formed");
  try {
    const { connection } = readConnectedSettings(given);
    yield wellFormed;
    yield ok("private_key", keyText(connection));
    return connection;
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    const { keyProblems, problems } = error;
    const others = problems.filter((problem) => !keyProblems.includes(problem)).join("; ");
    const remedy = "Set the variables named above (see docs/reference/settings.md)";
    yield others === "" ? wellFormed : fail("configuration", others, remedy);
    yield keyProblems.length === 0
      ? ok("private_key", "A private key in an accepted format")
      : fail("private_key", keyProblems.join("; "), remedies.key);
    return null;
  }
}

function keyText({ key: { key, kid, alg } }: ConnectionSettings): string {
  const { modulusLength, namedCurve = "unknown curve" } = key.asymmetricKeyDetails ?? {};
  const size = modulusLength === undefined ? `EC, ${namedCurve}` : `RSA, ${modulusLength} bits`;
  return `A private key that signs ${alg} (${size}), ${kid === null ? "without a kid" : `kid ${kid}`}`;
}

/** Adds what the role could read, because only an attempt shows what it allows. */
function withReads(role: StepResult, { refused, read, facts }: RuleAnswers): DoctorResult {
  if (refused.length === 0) return { ...role, facts };
  const reasons = [...Map.groupBy(refused, ({ detail }) => detail.slice(callOf(detail).length))]
    .map(([why, group]) => `${group.map(({ detail }) => callOf(detail)).join(", ")}${why}`)
    .join("; ");
  const detail = `${role.detail}; ${refused.length} of ${refused.length + read} reads were refused: ${reasons}`;
  const isRole = refused.some(({ reason }) => reason === "missing_role") && !role.detail.includes("READ_ONLY_ADMIN");
  return { ...warn("role", detail, isRole ? remedies.role : null), facts };
}

/** The request of `GET /api/v1/apps?limit=200 answered 403 …`: what is refused alike stands together. */
function callOf(detail: string): string {
  return /^\w+ \S+(?= answered )/.exec(detail)?.[0] ?? "";
}

function rulesResult({ limits, ruleCount }: RuleAnswers): DoctorResult {
  const rulesWith = (outcome: RuleLimit["outcome"]) =>
    new Set(limits.filter((limit) => limit.outcome === outcome).flatMap(({ rules }) => rules));
  const open = rulesWith("manual");
  const partial = [...rulesWith("partial")].filter((rule) => !open.has(rule)).length;
  const decided = `${ruleCount - open.size - partial} of ${ruleCount} rules can pass or fail, ${partial} more in their automated part`;
  return { ...(open.size === 0 ? ok("rules", decided) : warn("rules", decided, null)), limits };
}

function rateLimitResult(sender: RequestSender): StepResult {
  const limits = sender.rateLimits();
  const [lowest] = limits.toSorted((one, other) => one.limit - other.limit);
  if (lowest === undefined)
    return ok("rate_limits", "The organization sends no rate limits; after a 429 the scanner waits");
  const busy = limits.filter(({ limit, remaining }) => remaining < Math.max(1, limit / 10));
  const detail = `The lowest of ${limits.length} limits is ${lowest.limit} a minute (${lowest.family}), ${lowest.remaining} left`;
  if (busy.length === 0) return ok("rate_limits", detail);
  const names = busy.map(({ family, limit, remaining }) => `${family}: ${remaining} of ${limit} left`).join(", ");
  return warn(
    "rate_limits",
    `${detail}; nearly used up now: ${names}`,
    "Scan at another time, or raise the limits in Reports → Rate Limits; the scanner waits when a limit is used up",
  );
}
