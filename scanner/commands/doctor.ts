import { execFile } from "node:child_process";
import { basename, dirname } from "node:path";
import { readConnectedSettings, SettingsError, type Given } from "../settings/read_settings.ts";
import { systemClock, type Clock } from "../okta/clock.ts";
import { createRequestSender, type ConnectOptions } from "../okta/connection.ts";
import type { ConnectionSettings } from "../okta/connection_settings.ts";
import { remedies } from "../okta/console_places.ts";
import {
  assignedRoles,
  examineLogin,
  examineOrganization,
  ok,
  steps,
  warn,
  type Step,
  type StepResult,
} from "../okta/examine.ts";
import type { HttpIdpClient } from "../okta/http_idp_client.ts";
import type { RequestSender } from "../okta/request_sender.ts";
import { examineRules, type RuleAnswers, type RuleLimit } from "./rule_limits.ts";

export interface DoctorInput extends Pick<ConnectOptions, "signal" | "trace"> {
  readonly given: Given;
  readonly clock?: Clock;
}

export interface DoctorResult extends Omit<StepResult, "state" | "error"> {
  /** `skipped`: an earlier step failed that this one needs. */
  readonly state: StepResult["state"] | "skipped";
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
  let next = 0;
  let failure: Step | null = null;
  const skipUntil = function* (index: number): Generator<DoctorResult> {
    const detail = `Fix "${(failure ?? "configuration").replace("_", " ")}" first`;
    for (const step of steps.slice(next, index)) yield { step, state: "skipped", detail, remedy: null };
    next = Math.max(next, index);
  };
  for await (const { error: _error, ...result } of examine(input)) {
    if (result.state === "fail") failure ??= result.step;
    const index = steps.indexOf(result.step);
    yield* skipUntil(index);
    next = index + 1;
    yield result;
  }
  yield* skipUntil(steps.length);
}

type Examined = DoctorResult & Pick<StepResult, "error">;

async function* examine({ given, signal, clock = systemClock, trace }: DoctorInput): AsyncGenerator<Examined> {
  const config = yield* examineConfig(given);
  if (config === null) return;
  const sender = createRequestSender(config, { signal, clock, trace });
  try {
    const org = yield* examineOrganization(config, { sender });
    if (org === null) return;
    const client = yield* examineLogin(config, { org, sender, clock });
    if (client === null) return;
    const answers = await examineRules(client, org.engine);
    yield await roleResult(config, client, answers);
    yield rulesResult(answers);
    yield rateLimitResult(sender);
  } finally {
    await sender.close();
  }
}

const wellFormed = "Address, client id and options are well-formed";

async function* examineConfig(given: Given): AsyncGenerator<Examined, ConnectionSettings | null> {
  try {
    const config = readConnectedSettings(given).connection;
    yield ok("configuration", wellFormed);
    yield await keyResult(config);
    return config;
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    const { keyProblems } = error;
    const others = error.problems.filter((problem) => !keyProblems.includes(problem));
    const fail = (step: Step, problems: readonly string[], remedy: string): Examined => ({
      step,
      state: "fail",
      detail: problems.join("; "),
      remedy,
    });
    yield others.length === 0
      ? ok("configuration", wellFormed)
      : fail("configuration", others, "Set the variables named above (see docs/reference/settings.md)");
    yield keyProblems.length === 0
      ? ok("private_key", "A private key in an accepted format")
      : fail("private_key", keyProblems, remedies.key);
    return null;
  }
}

async function keyResult({ key }: ConnectionSettings): Promise<StepResult> {
  const details = key.key.asymmetricKeyDetails;
  const size =
    details?.modulusLength === undefined
      ? `EC, ${details?.namedCurve ?? "unknown curve"}`
      : `RSA, ${details.modulusLength} bits`;
  const kid = key.kid === null ? "without a kid" : `kid ${key.kid}`;
  if (key.file !== undefined && (await isTrackedByGit(key.file))) {
    return warn(
      "private_key",
      `Git tracks the key file ${JSON.stringify(key.file)}: whoever can read the repository can use the key`,
      "Remove it from git, delete the key at Okta (Applications → your app → General → Public keys) and run scanstream setup again: the history keeps the file",
    );
  }
  return ok("private_key", `A private key that signs ${key.alg} (${size}), ${kid}`);
}

/** False where there is no git. */
async function isTrackedByGit(file: string): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  execFile("git", ["-C", dirname(file), "ls-files", "--error-unmatch", "--", basename(file)], (error) =>
    resolve(error === null),
  );
  return promise;
}

/** Only an attempt shows what the role allows. */
async function roleResult(
  config: ConnectionSettings,
  client: HttpIdpClient,
  { refused, read, facts }: RuleAnswers,
): Promise<DoctorResult> {
  const roles = await assignedRoles(config.clientId, client);
  const found = `Assigned: ${roles.length === 0 ? seenRoles[client.roleEvidence.role()] : roles.join(", ")}`;
  if (refused.length > 0) {
    const reasons = [...Map.groupBy(refused, ({ detail }) => detail.slice(callOf(detail).length))]
      .map(([why, group]) => `${group.map(({ detail }) => callOf(detail)).join(", ")}${why}`)
      .join("; ");
    const detail = `${found}; ${refused.length} of ${refused.length + read} reads were refused: ${reasons}`;
    const isRole = refused.some(({ reason }) => reason === "missing_role");
    const isReadOnly = roles.includes("READ_ONLY_ADMIN");
    return { ...warn("role", detail, isRole && !isReadOnly ? remedies.role : null), facts };
  }
  const isSuper = client.roleEvidence.role() === "super_admin";
  return { ...(isSuper ? warn("role", found, remedies.lessRole) : ok("role", found)), facts };
}

/** Texts for a provider that does not list the assigned roles. */
const seenRoles = {
  super_admin: "Super Administrator",
  read_only_admin: "below Super Administrator",
  unknown: "could not be read; grant okta.roles.read to see it",
} as const;

/** The request of `GET /api/v1/apps?limit=200 answered 403 …`: what is refused alike stands together. */
function callOf(detail: string): string {
  return /^\w+ \S+(?= answered )/.exec(detail)?.[0] ?? "";
}

function rulesResult({ limits, ruleCount }: RuleAnswers): DoctorResult {
  const rulesWith = (outcome: RuleLimit["outcome"]) =>
    new Set(limits.filter((limit) => limit.outcome === outcome).flatMap(({ rules }) => rules));
  const open = rulesWith("manual");
  const partial = [...rulesWith("partial")].filter((rule) => !open.has(rule)).length;
  const decided = `${ruleCount - open.size - partial} of ${ruleCount} rules can be decided, ${partial} more in their automated part`;
  return { ...(open.size === 0 ? ok("rules", decided) : warn("rules", decided, null)), limits };
}

function rateLimitResult(sender: RequestSender): StepResult {
  const limits = sender.rateLimits();
  const [lowest] = limits.toSorted((one, other) => one.limit - other.limit);
  if (lowest === undefined)
    return ok("rate_limits", "The organization sends no rate limits; after a 429 the scanner waits");
  const busy = limits.filter(({ limit, remaining }) => limit >= 10 && remaining < limit / 10);
  const detail = `The lowest of ${limits.length} limits is ${lowest.limit} a minute (${lowest.family})`;
  if (busy.length === 0) return ok("rate_limits", detail);
  const names = busy.map(({ family, limit, remaining }) => `${family}: ${remaining} of ${limit} left`).join(", ");
  return warn(
    "rate_limits",
    `${detail}; nearly used up now: ${names}`,
    "Scan at another time, or raise the limits in Reports → Rate Limits; the scanner waits when a limit is used up",
  );
}
