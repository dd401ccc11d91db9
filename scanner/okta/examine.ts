import { artifactTable, firstRequests } from "../evidence/artifact_table.ts";
import type { ArtifactName } from "../evidence/artifacts.ts";
import type { Engine } from "../../shared/report.ts";
import { providerMoment, type Clock, type ProviderMoment } from "./clock.ts";
import type { ConnectionSettings } from "./connection_settings.ts";
import { remedies } from "./console_places.ts";
import { HttpIdpClient } from "./http_idp_client.ts";
import type { ReceivedResponse } from "./http_transport.ts";
import type { IdpRequest } from "./idp_client.ts";
import { attempt, idpError, IdpError, type IdpErrorCode, type IdpProblem } from "./idp_error.ts";
import { objectIn, parseBody } from "./json_answer.ts";
import { Login } from "./login.ts";
import { NetworkError, unreachableError } from "./network_error.ts";
import type { RequestSender } from "./request_sender.ts";
import { toShownPath } from "./safe_text.ts";
import { redirectTarget, type Missing } from "./refusals.ts";

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
] as const;
export type Step = (typeof steps)[number];

export interface StepResult {
  readonly step: Step;
  /** `warn`: a scan works, but something should be better. */
  readonly state: "ok" | "warn" | "fail";
  /** Observation, in one sentence. */
  readonly detail: string;
  /** Remedy: what to click or set; null where there is nothing to do. */
  readonly remedy: string | null;
  /** Scopes of the token, without prefix: of the step `scopes`. */
  readonly granted?: readonly string[];
  /** Error of a step that failed at the provider. */
  readonly error?: IdpError;
}

export function ok(step: Step, detail: string): StepResult {
  return { step, state: "ok", detail, remedy: null };
}

export function warn(step: Step, detail: string, remedy: string | null): StepResult {
  return { step, state: "warn", detail, remedy };
}

function failed(step: Step, error: IdpError): StepResult {
  return { step, state: "fail", detail: error.message, remedy: error.remedy, error };
}

interface Parts {
  readonly sender: RequestSender;
  readonly clock: Clock;
}

/** The first contact: whether it is an organization, and its clock. Returns null after a failure. */
export async function* examineOrganization(
  config: Pick<ConnectionSettings, "orgUrl" | "scopePrefix">,
  { sender }: Pick<Parts, "sender">,
): AsyncGenerator<StepResult, Organization | null> {
  const org = await attempt(readOrganization({ ...config, sender }));
  if (org instanceof IdpError) {
    yield failed("organization", org);
    return null;
  }
  yield organizationResult(org, config.orgUrl);
  yield clockResult(org);
  return org;
}

/**
 * The login, and one read that proves that the credentials can read anything at all (V3). `probes`: requests that are made anyway, best
 * first; the answer is kept for whoever makes it next. Returns null after a failure.
 */
export async function* examineLogin(
  config: ConnectionSettings,
  { org, probes = [], ...parts }: Parts & { readonly org: Organization; readonly probes?: readonly IdpRequest[] },
): AsyncGenerator<StepResult, HttpIdpClient | null> {
  const { scopePrefix } = org;
  const scopes = config.scopes.map((scope) => `${scopePrefix}.${scope}`);
  const login = new Login({ ...config, ...parts, scopes, noScopeRemedy: noScopeRemedy(org, scopes) });
  const token = await attempt(login.current());
  if (token instanceof IdpError) {
    const step = failedSteps[token.code] ?? "token";
    if (step !== "token") yield ok("token", "The organization accepted this client id and key");
    yield failed(step, token);
    return null;
  }
  yield ok("token", "The organization issued an access token for this client id and key");
  yield token.type === "DPoP"
    ? ok("dpop", "The token is bound to this program's own key by DPoP")
    : warn("dpop", "The organization issued a plain Bearer token; a copy of it works anywhere", remedies.dpop);
  yield {
    ...scopesResult(login, scopes),
    granted: config.scopes.filter((_, at) => login.granted.includes(scopes[at] ?? "")),
  };
  const client = new HttpIdpClient({ ...config, scopePrefix, login });
  const refusal = await probe(client, { ...config, scopes, wanted: probes });
  if (refusal === null) return client;
  yield failed("role", refusal);
  return null;
}

function noScopeRemedy({ id, scopePrefix }: Organization, scopes: readonly string[]): string {
  return id !== null && scopePrefix === "idp"
    ? 'Unset IDP_SCOPE_PREFIX: the scopes of an Okta organization begin with "okta."'
    : grantRemedy(scopes);
}

function grantRemedy(scopes: readonly string[]): string {
  return `${remedies.scopes}: ${scopes.join(", ")}`;
}

/** Steps at which a login ends, so that the ones before are known to work. */
const failedSteps: Partial<Record<IdpErrorCode, Step>> = { no_scope: "scopes", dpop_refused: "dpop" };

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
const toleratedSkewSeconds = 25;

function clockResult({ moment }: Organization): StepResult {
  if (moment === null) return ok("clock", "The organization sends no date, so clocks cannot be compared");
  const seconds = Math.round((moment.providerMs - moment.receivedAtMs) / 1000);
  if (Math.abs(seconds) <= unmeasuredSeconds) return ok("clock", "This machine's clock agrees with the organization's");
  const distance = `This machine's clock is ${Math.abs(seconds)} s ${seconds > 0 ? "behind" : "ahead of"} the organization's`;
  if (Math.abs(seconds) <= toleratedSkewSeconds) return ok("clock", distance);
  return warn("clock", distance, "Set this machine's clock (NTP); until then, the scanner uses the organization's");
}

function scopesResult({ granted }: Login, requested: readonly string[]): StepResult {
  const missing = requested.filter((scope) => !granted.includes(scope));
  const count = `${requested.length - missing.length} of ${requested.length} scopes are granted (follow also needs okta.logs.read)`;
  if (missing.length === 0) return ok("scopes", count);
  return warn(
    "scopes",
    `${count}; missing: ${missing.join(", ")}; rules that need them become MANUAL`,
    remedies.scopes,
  );
}

/** The assigned roles, if the provider lists them. */
export async function assignedRoles(clientId: string, client: HttpIdpClient): Promise<readonly string[]> {
  if (!client.isGranted("roles.read")) return [];
  const path = `/oauth2/v1/clients/${encodeURIComponent(clientId)}/roles`;
  const roles = await client.getList({ path, scope: "roles.read" });
  const types = roles.state === "missing" ? [] : roles.value.map(({ type }) => type);
  return types.filter((type) => typeof type === "string").map((type) => type.slice(0, 60));
}

/**
 * Endpoints tried before the probe fails. One refusal proves little: a custom role, a feature that is off or a
 * fault of one endpoint must not stop a scan of all the others.
 */
const maxProbes = 3;
/** Probes that may fail for a reason other than credentials: each may take long. */
const maxFailures = 2;

interface Probing {
  readonly orgUrl: string;
  /** With the provider's prefix. */
  readonly scopes: readonly string[];
  readonly wanted: readonly IdpRequest[];
}

/** Null where something could be read. */
async function probe(client: HttpIdpClient, { wanted, ...asked }: Probing): Promise<IdpError | null> {
  const refused: Refused[] = [];
  for (const request of candidates(client, wanted)) {
    const missing = await client.probe(request);
    if (missing === null) return null;
    // A refusal of what needs Super Administrator proves nothing about the rest.
    if (!needsSuperAdmin(request)) refused.push({ request, missing });
    const failures = refused.filter(({ missing }) => missing.reason === "provider_error").length;
    if (refused.length === maxProbes || failures === maxFailures) break;
  }
  return probeError(refused, asked);
}

/** The granted ones, one for each scope: what the checks read first, then what every role may read. */
function candidates(client: HttpIdpClient, wanted: readonly IdpRequest[]): readonly IdpRequest[] {
  const byKind = new Map<string, IdpRequest>();
  for (const request of [...wanted, ...firstRequests(Object.keys(artifactTable) as ArtifactName[])]) {
    const kind = needsSuperAdmin(request) ? request.path : request.scope;
    if (client.isGranted(request.scope) && !byKind.has(kind)) byKind.set(kind, request);
  }
  return [...byKind.values()];
}

function needsSuperAdmin({ path }: IdpRequest): boolean {
  return path === artifactTable.admin_console_settings.request.path;
}

interface Refused {
  readonly request: IdpRequest;
  readonly missing: Missing;
}

function probeError(refused: readonly Refused[], { orgUrl, scopes }: Omit<Probing, "wanted">): IdpError {
  const role = refused.find(({ missing }) => missing.reason === "missing_role");
  if (role !== undefined) {
    const answer = `GET ${toShownPath(role.request.path)} answered 403 ${role.missing.refusal.errorCode ?? ""}`;
    const problem = `the token was issued, but ${answer}: the service application has no admin role`;
    return idpError("role", `Cannot read ${orgUrl}: ${problem}`);
  }
  const isOfScopes = refused.every(({ missing }) => missing.reason === "missing_scope");
  const failed = refused.find(({ missing }) => missing.reason === "provider_error") ?? refused[0];
  if (failed === undefined || isOfScopes) {
    const problem = failed?.missing.detail ?? "no granted scope lets a check read anything";
    return new IdpError("no_scope", `Cannot read ${orgUrl}: ${problem}`, grantRemedy(scopes));
  }
  const { httpStatus } = failed.missing.refusal;
  const problem = httpStatus === null ? "no_answer" : (probeProblems.get(httpStatus) ?? "unexpected");
  return idpError(problem, `Cannot read ${orgUrl}: ${failed.missing.detail}`);
}

const probeProblems = new Map<number, IdpProblem>([
  [403, "forbidden"],
  [429, "rate_limit"],
]);

/** Facts from `/.well-known/okta-organization`, which any client may read. */
interface Organization {
  readonly engine: Engine;
  readonly id: string | null;
  /** Prefix of its scopes. */
  readonly scopePrefix: "okta" | "idp";
  /** Its clock, by that answer; null without a `Date`. */
  readonly moment: ProviderMoment | null;
}

/** `scopePrefix`: set, so that it is not inferred. */
type FirstContact = Pick<ConnectionSettings, "orgUrl" | "scopePrefix"> & Pick<Parts, "sender">;

const wellKnownPath = "/.well-known/okta-organization";

/** The first contact. Throws `IdpError` when it cannot be an organization, or cannot be reached. */
export async function readOrganization(contact: FirstContact): Promise<Organization> {
  const response = await fetchWellKnown(contact);
  const { status, body } = response;
  const { id, pipeline } = status === 200 ? objectIn(body) : {};
  const isOkta = typeof id === "string" || typeof pipeline === "string";
  // Anything else comes from a proxy or a firewall.
  const isOther = !isOkta && (status === 404 || (status === 200 && parseBody(body).kind === "json"));
  return {
    engine: pipeline === "idx" ? "identity" : pipeline === "v1" ? "classic" : "unknown",
    id: typeof id === "string" && id !== "" && id.length <= 100 ? id : null,
    scopePrefix: contact.scopePrefix ?? (isOther ? "idp" : "okta"),
    moment: providerMoment(response.headers, response.receivedAtMs),
  };
}

async function fetchWellKnown({ orgUrl, sender, scopePrefix }: FirstContact): Promise<ReceivedResponse> {
  const response = await sender.send({ method: "GET", path: wellKnownPath }).catch((error: unknown) => {
    throw error instanceof NetworkError ? unreachableError(error, orgUrl) : error;
  });
  const { status } = response;
  const message = `Cannot log in to ${orgUrl}: ${wellKnownPath}`;
  if (status >= 300 && status < 400) throw idpError("redirect", `${message} redirects${redirectTarget(response)}`);
  // An outage says nothing about the prefix, and a wrong one would look like missing scopes.
  if (scopePrefix === null && (status >= 500 || status === 429))
    throw idpError(status === 429 ? "rate_limit" : "outage", `${message} answered ${status}`);
  return response;
}
