import { execFile } from "node:child_process";
import { basename, dirname } from "node:path";
import { readConnectedSettings, SettingsError, type Given } from "../settings/read_settings.ts";
import type { ConnectionSettings } from "../okta/connection_settings.ts";
import { systemClock, type Clock } from "../okta/clock.ts";
import { attempt, IdpError, type IdpErrorCode } from "../okta/idp_error.ts";
import { readOrganization, type Organization } from "../okta/organization.ts";
import {
  createAuthorizedClient,
  createRequestSender,
  type AuthorizedClient,
  type ConnectOptions,
} from "../okta/connection.ts";
import { fail, ok, warn, type DoctorResult, type DoctorStep } from "./doctor_result.ts";
import { remedies } from "../okta/console_places.ts";
import { catalog } from "../catalog/catalog.ts";
import { examineRules, type RuleAnswers } from "./rule_limits.ts";
import type { RequestSender } from "../okta/request_sender.ts";

export interface DoctorInput extends Pick<ConnectOptions, "signal" | "trace"> {
  readonly given: Given;
  readonly clock?: Clock;
}

/** The steps in their order; each appears exactly once in what `diagnose` gives. */
export const doctorSteps: readonly DoctorStep[] = [
  "configuration",
  "private_key",
  "organization",
  "clock",
  "token",
  "dpop",
  "scopes",
  "role",
  "rules",
  "rate_limits",
];

/**
 * Tests what a scan needs, step by step, and names what to fix where. Yields each result as soon as it is known; after
 * a failure the steps that need it are `skipped`. Never throws for what the provider or the configuration is like, only
 * when the signal aborts.
 */
export async function* diagnose(input: DoctorInput): AsyncGenerator<DoctorResult> {
  let next = 0;
  let failed: DoctorStep | null = null;
  const skipUntil = function* (index: number): Generator<DoctorResult> {
    for (const step of doctorSteps.slice(next, index)) {
      yield {
        step,
        state: "skipped",
        detail: `Fix "${(failed ?? "configuration").replace("_", " ")}" first`,
        remedy: null,
      };
    }
    next = Math.max(next, index);
  };
  for await (const result of examine(input)) {
    if (result.state === "fail") failed ??= result.step;
    const index = doctorSteps.indexOf(result.step);
    yield* skipUntil(index);
    next = index + 1;
    yield result;
  }
  yield* skipUntil(doctorSteps.length);
}

async function* examine({ given, signal, clock = systemClock, trace }: DoctorInput): AsyncGenerator<DoctorResult> {
  const { config, results } = await examineConfig(given);
  yield* results;
  if (config === null) return;
  const sender = createRequestSender(config, { signal, clock, trace });
  try {
    yield* examineOrg(config, { sender, clock });
  } finally {
    await sender.close();
  }
}

async function examineConfig(given: Given) {
  try {
    const config = readConnectedSettings(given).connection;
    return {
      config,
      results: [ok("configuration", wellFormed), await keyResult(config)],
    };
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    const { keyProblems } = error;
    const others = error.problems.filter((problem) => !keyProblems.includes(problem));
    const results = [
      others.length === 0
        ? ok("configuration", wellFormed)
        : fail("configuration", others.join("; "), "Set the variables named above (see docs/reference/settings.md)"),
      keyProblems.length === 0
        ? ok("private_key", "A private key in an accepted format")
        : fail("private_key", keyProblems.join("; "), remedies.key),
    ];
    return { config: null, results };
  }
}

async function keyResult({ key }: ConnectionSettings): Promise<DoctorResult> {
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

interface Parts {
  readonly sender: RequestSender;
  readonly clock: Clock;
}

async function* examineOrg(config: ConnectionSettings, parts: Parts): AsyncGenerator<DoctorResult> {
  const org = await attempt(readOrganization({ ...config, sender: parts.sender }));
  if (org instanceof IdpError) {
    yield fail("organization", org.message, org.remedy);
    return;
  }
  yield organizationResult(org, config.orgUrl);
  yield clockResult(org);
  const session = await createAuthorizedClient(config, { org, ...parts });
  const token = await attempt(session.tokens.current());
  if (token instanceof IdpError) {
    yield* loginFailure(token);
    return;
  }
  yield ok("token", "The organization issued an access token for this client id and key");
  yield token.type === "DPoP"
    ? ok("dpop", "The token is bound to this program's own key by DPoP")
    : warn("dpop", "The organization issued a plain Bearer token; a copy of it works anywhere", remedies.dpop);
  yield scopesResult(session);
  const answers = await examineRules(session);
  const role = await roleResult(config, session, answers);
  yield role;
  if (role.state !== "fail") yield rulesResult(answers);
  yield rateLimitResult(parts.sender);
}

function organizationResult(org: Organization, orgUrl: string): DoctorResult {
  if (org.engine !== "unknown") {
    const engine = org.engine === "identity" ? "Identity Engine" : "Classic Engine";
    return ok("organization", `${orgUrl} answers: ${engine}, organization ${org.id ?? "without an id"}`);
  }
  const detail = `${orgUrl} answers, but does not say which engine it has; scanstream assumes that its scopes begin with "${org.scopePrefix}."`;
  return warn(
    "organization",
    detail,
    "If this is an Okta organization, check IDP_ORG_URL; otherwise set IDP_SCOPE_PREFIX",
  );
}

function clockResult({ moment }: Organization): DoctorResult {
  if (moment === null) return warn("clock", "The organization sends no date, so clocks cannot be compared", null);
  const seconds = Math.round((moment.providerMs - moment.receivedAtMs) / 1000);
  const distance = `This machine's clock is ${Math.abs(seconds)} s ${seconds > 0 ? "behind" : "ahead of"} the organization's`;
  if (Math.abs(seconds) <= toleratedSkewSeconds) return ok("clock", distance);
  return warn("clock", distance, "Set this machine's clock (NTP); until then, the scanner uses the organization's");
}

/** The step at which a login failed, so that the ones before it are known to work. */
function* loginFailure(error: IdpError): Generator<DoctorResult> {
  const result = { state: "fail", detail: error.message, remedy: error.remedy } as const;
  const step = failedSteps[error.code] ?? "token";
  if (step !== "token") yield ok("token", "The organization accepted this client id and key");
  yield { step, ...result };
}

const failedSteps: Partial<Record<IdpErrorCode, DoctorStep>> = { no_scope: "scopes", dpop_refused: "dpop" };

function scopesResult({ tokens, requestedScopes }: AuthorizedClient): DoctorResult {
  const missing = requestedScopes.filter((scope) => !tokens.granted.includes(scope));
  const count = `${requestedScopes.length - missing.length} of ${requestedScopes.length} scopes are granted (follow also needs okta.logs.read)`;
  if (missing.length === 0) return ok("scopes", count);
  return warn(
    "scopes",
    `${count}; missing: ${missing.join(", ")}; rules that need them become MANUAL`,
    remedies.scopes,
  );
}

/** Only an attempt shows what the role allows. */
async function roleResult(
  config: ConnectionSettings,
  session: AuthorizedClient,
  { reads, facts }: RuleAnswers,
): Promise<DoctorResult> {
  const answers = reads.filter(({ request }) => session.isGranted(request.scope)).map(({ answer }) => answer);
  const refused = answers.flatMap((answer) => (answer?.state === "missing" ? [answer] : []));
  if (refused.length === answers.length) {
    const isRole = refused.some(({ reason }) => reason === "missing_role");
    const detail =
      answers.length === 0
        ? "No granted scope lets a check read anything"
        : `Nothing can be read: ${refused[0]?.detail ?? ""}`;
    return fail(
      "role",
      detail,
      isRole ? remedies.role : "Check the organization's status page, network zones and proxies, and try again",
    );
  }
  const roles = await assignedRoles(config, session);
  const found = `Assigned: ${roles.length === 0 ? seenRoles[session.roleEvidence.role()] : roles.join(", ")}`;
  // Every role below Super Administrator is refused these, which says nothing about the role that a scan should have.
  const unexpected = refused.filter(({ detail }) => !detail.includes("/first-party-app-settings/"));
  if (unexpected.length > 0) {
    const reasons = [...Map.groupBy(unexpected, ({ detail }) => detail.slice(callOf(detail).length))]
      .map(([why, group]) => `${group.map(({ detail }) => callOf(detail)).join(", ")}${why}`)
      .join("; ");
    const detail = `${found}; ${unexpected.length} of ${answers.length} reads were refused: ${reasons}`;
    const isRole = unexpected.some(({ reason }) => reason === "missing_role");
    const isReadOnly = roles.includes("READ_ONLY_ADMIN");
    return { ...warn("role", detail, isRole && !isReadOnly ? remedies.role : null), facts };
  }
  const result =
    session.roleEvidence.role() === "super_admin" ? warn("role", found, remedies.lessRole) : ok("role", found);
  return { ...result, facts };
}

/** Texts for a provider that does not list the assigned roles. */
const seenRoles = {
  super_admin: "Super Administrator",
  read_only_admin: "below Super Administrator",
  unknown: "could not be read; grant okta.roles.read to see it",
} as const;

/** `GET /api/v1/zones` of `GET /api/v1/zones?limit=200 answered 403 …`: what is refused alike stands together. */
function callOf(detail: string): string {
  return /^\w+ \S+(?= answered )/.exec(detail)?.[0] ?? "";
}

function rulesResult({ limits }: RuleAnswers): DoctorResult {
  const rulesWith = (outcome: "manual" | "partial") =>
    new Set(limits.filter((limit) => limit.outcome === outcome).flatMap(({ rules }) => rules));
  const open = rulesWith("manual");
  const partial = [...rulesWith("partial")].filter((rule) => !open.has(rule)).length;
  const decided = `${catalog.length - open.size - partial} of ${catalog.length} rules can be decided, ${partial} more in their automated part`;
  return { ...(open.size === 0 ? ok("rules", decided) : warn("rules", decided, null)), limits };
}

/** The assigned roles, if the provider lists them. */
async function assignedRoles(
  { clientId }: ConnectionSettings,
  { client, isGranted }: AuthorizedClient,
): Promise<readonly string[]> {
  if (!isGranted("roles.read")) return [];
  const path = `/oauth2/v1/clients/${encodeURIComponent(clientId)}/roles`;
  const roles = await client.getList({ path, scope: "roles.read" });
  if (roles.state === "missing") return [];
  return roles.value
    .map((role) => role["type"])
    .filter((type) => typeof type === "string")
    .map((type) => type.slice(0, 60));
}

function rateLimitResult(sender: RequestSender): DoctorResult {
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

const toleratedSkewSeconds = 25;
const wellFormed = "Address, client id and options are well-formed";
