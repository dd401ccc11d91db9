import { entriesOf, type MissingEvidence } from "../evidence/artifacts.ts";
import { logIn, probe, readOrganization, type Connection, type Organization } from "./connection.ts";
import type { ConnectionSettings } from "./connection_settings.ts";
import { HttpIdpClient } from "./http_idp_client.ts";
import { attempt, IdpError, places, remedies, type IdpErrorCode } from "./idp_error.ts";
import { Login, toleratedSkewMs } from "./login.ts";
import type { RequestSender } from "./request_sender.ts";

/** Steps of an examination, in their order. `configuration` and `private_key` need no request. */
export const steps = [
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
  "system_log",
  "public_client_admins",
] as const;
export type Step = (typeof steps)[number];

export interface StepResult {
  readonly step: Step;
  /**
   * `warn`: a scan works, but something should be better. `skipped`: an earlier step failed that this one needs, or it needs an
   * optional scope that is not granted.
   */
  readonly state: "ok" | "warn" | "fail" | "skipped";
  /** Observation, in one sentence. */
  readonly detail: string;
  /** Remedy: what to click or set; null where there is nothing to do. */
  readonly remedy: string | null;
  /** Scopes of the token, without prefix: of the step `scopes`. */
  readonly granted?: readonly string[];
  /** Kind of failure of the organization's answer. */
  readonly code?: IdpErrorCode;
}

export function ok(step: Step, detail: string): StepResult {
  return { step, state: "ok", detail, remedy: null };
}

export function warn(step: Step, detail: string, remedy: string | null): StepResult {
  return { step, state: "warn", detail, remedy };
}

export function fail(step: Step, detail: string, remedy: string): StepResult {
  return { step, state: "fail", detail, remedy };
}

/** Steps at which a login ends, so that the client id and the key are known to work. */
const loginSteps: Partial<Record<IdpErrorCode, Step>> = { no_scope: "scopes", dpop_refused: "dpop" };

/**
 * Logs in and reads as a scan does, and yields each step from `organization` to `scopes` as soon as it is known. Ends after a failure
 * and returns null then. Never throws for what the provider does.
 */
export async function* examineConnection(
  config: ConnectionSettings,
  sender: RequestSender,
): AsyncGenerator<StepResult, Connection | null> {
  let step: Step = "organization";
  try {
    const org = await readOrganization({ ...config, sender });
    yield organizationResult(org, config.orgUrl);
    yield clockResult(org);
    step = "token";
    const client = await logIn(config, { org, sender });
    yield ok("token", "The organization issued an access token for this client id and key");
    yield (await client.login.current()).type === "DPoP"
      ? ok("dpop", "The token is bound to this program's own key by DPoP")
      : warn("dpop", "The organization issued a plain Bearer token; a copy of it works anywhere", remedies.dpop);
    yield scopesResult(client, config);
    step = "role";
    await probe(client);
    return { config, org, client, sender };
  } catch (error) {
    if (!(error instanceof IdpError)) throw error;
    const loginStep = step === "token" ? loginSteps[error.code] : undefined;
    if (loginStep !== undefined) yield ok("token", "The organization accepted this client id and key");
    yield { ...fail(loginStep ?? step, error.message, error.remedy), code: error.code };
    return null;
  }
}

function organizationResult({ engine, id, scopePrefix }: Organization, orgUrl: string): StepResult {
  if (engine !== "unknown") {
    const name = engine === "identity" ? "Identity Engine" : "Classic Engine";
    return ok("organization", `${orgUrl} answers: ${name}, organization ${id ?? "without an id"}`);
  }
  return warn(
    "organization",
    `${orgUrl} answers, but it is not an Okta org or hides its engine; scanstream assumes that its scopes begin with "${scopePrefix}."`,
    "If this is an Okta organization, check its address, such as https://acme.okta.com; otherwise set IDP_SCOPE_PREFIX",
  );
}

/** A date tells whole seconds, and the answer was a while on its way. */
const unmeasuredSeconds = 2;

function clockResult({ aheadMs }: Organization): StepResult {
  if (aheadMs === null) return ok("clock", "The organization sends no date, so clocks cannot be compared");
  const seconds = Math.round(aheadMs / 1000);
  if (Math.abs(seconds) <= unmeasuredSeconds) return ok("clock", "This machine's clock agrees with the organization's");
  const distance = `This machine's clock is ${Math.abs(seconds)} s ${seconds > 0 ? "behind" : "ahead of"} the organization's`;
  if (Math.abs(aheadMs) <= toleratedSkewMs) return ok("clock", distance);
  return warn("clock", distance, "Set this machine's clock (NTP); until then, the scanner uses the organization's");
}

function scopesResult(client: HttpIdpClient, { scopes }: ConnectionSettings): StepResult {
  const granted = scopes.filter((scope) => client.isGranted(scope));
  const missing = scopes.filter((scope) => !granted.includes(scope)).map((scope) => client.login.fullName(scope));
  const detail = `${granted.length} of ${scopes.length} scopes are granted`;
  if (missing.length === 0) return { ...ok("scopes", detail), granted };
  const lost = `missing: ${missing.join(", ")}; rules that need them become MANUAL`;
  return { ...warn("scopes", `${detail}; ${lost}`, remedies.scopes), granted };
}

/** Texts for a provider that does not list the assigned roles. */
const seenRoles = {
  super_admin: "Super Administrator",
  read_only_admin: "below Super Administrator",
  unknown: "assigned",
} as const;

/** Names the assigned roles; where they are not listed, what the answers so far show. */
export async function examineRole({ config, client }: Connection): Promise<StepResult> {
  const path = `/oauth2/v1/clients/${encodeURIComponent(config.clientId)}/roles`;
  const roles = await client.getList({ path, scope: "roles.read" });
  const types = entriesOf(roles).map(({ type }) => type);
  const names = types.filter((type) => typeof type === "string").map((type) => type.slice(0, 60));
  const unread = roles.state === "missing" ? `; its name could not be read: ${roles.detail}` : "";
  const detail = names.length === 0 ? `${seenRoles[client.role]}${unread}` : names.join(", ");
  const isSuper = client.role === "super_admin" || names.includes("SUPER_ADMIN");
  return isSuper ? warn("role", detail, remedies.lessRole) : ok("role", detail);
}

/** Scopes that a scan does not need: `follow` reads the System Log, and a setting shows who gets the greatest role by itself. */
const optionalScopes = ["logs.read", "orgs.read"];

/** Examines the optional scopes with their own token: if one scope is not granted, Okta refuses all that are requested with it. */
export async function* examineOptional({ config, sender, org }: Connection): AsyncGenerator<StepResult> {
  const login = new Login({ ...config, scopes: optionalScopes }, { org, sender });
  const client = new HttpIdpClient(config.orgUrl, login);
  const refusal = await attempt(login.current());
  if (refusal instanceof IdpError && refusal.code !== "no_scope") {
    yield warn("system_log", refusal.message, refusal.remedy);
    yield warn("public_client_admins", refusal.message, refusal.remedy);
    return;
  }
  const unseen = (step: Step, { reason, detail }: MissingEvidence, name: string, needed: string): StepResult => {
    if (reason !== "missing_scope") return warn(step, `${name} cannot be read: ${detail}`, null);
    return { step, state: "skipped", detail: `${name} cannot be seen without ${needed}`, remedy: null };
  };
  const log = await client.getPage({ path: "/api/v1/logs?limit=1", scope: "logs.read" });
  yield log.state === "obtained"
    ? ok("system_log", "The System Log can be read")
    : unseen("system_log", log, "The System Log", `${login.fullName("logs.read")}, which only follow needs`);
  const field = "clientPrivilegesSetting";
  const path = `/api/v1/org/settings/${field}`;
  const setting = await client.getObject({ path, scope: "orgs.read", fields: [field] });
  const step = "public_client_admins";
  if (setting.state === "missing")
    yield unseen(step, setting, "The setting of public client apps", `${login.fullName("orgs.read")} (optional)`);
  else if (setting.value[field] !== true) yield ok(step, "Public client app admins is off");
  else {
    const detail = "Public client app admins is on: new apps get Super Administrator by themselves";
    yield warn(step, detail, `Turn off ${places.publicClientAdmins}`);
  }
}
