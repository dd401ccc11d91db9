import { artifactTable, firstRequests } from "../evidence/artifact_table.ts";
import type { ArtifactName } from "../evidence/artifacts.ts";
import { systemClock, type Clock } from "./clock.ts";
import type { ConnectionSettings } from "./connection_settings.ts";
import { HttpIdpClient } from "./http_idp_client.ts";
import type { Fetch } from "./http_transport.ts";
import type { IdpRequest } from "./idp_client.ts";
import { grantRemedy, IdpError } from "./idp_error.ts";
import { Login, type LoginParts } from "./login.ts";
import { toShownPath } from "./provider_text.ts";
import { problemOf, type Missing, redirectTarget } from "./refusals.ts";
import { RequestSender, type RequestTrace } from "./request_sender.ts";
import type { Engine } from "../../shared/report.ts";
import { NetworkError, unreachableError } from "./network_error.ts";

/** An organization that has proved, by the probe, that it lets the client read; its sender's sockets are to be closed. */
export interface Connection {
  readonly config: ConnectionSettings;
  readonly org: Organization;
  readonly client: HttpIdpClient;
  readonly sender: RequestSender;
}

export interface ConnectOptions {
  /** Stops everything at once; every pending call then rejects with the signal's reason. */
  readonly signal: AbortSignal;
  /**
   * Requests that a collection makes at once after this, best first: by default all. The probe makes one of them and its response is
   * kept for the collector that needs it, so the probe costs no separate request. Any other response is dropped.
   */
  readonly probes?: readonly IdpRequest[];
  /** False where no collection follows at once: the response that is kept would be an old one later. Default: true. */
  readonly keepsProbe?: boolean;
  readonly trace?: RequestTrace | undefined;
  /** Default: this machine's. */
  readonly clock?: Clock;
  /** Default: undici's. */
  readonly fetch?: Fetch;
}

/**
 * Authenticates and proves that something can be read. Throws `IdpError` (exit code 3) when not: then no check may be
 * evaluated. Throws the signal's reason when it aborts.
 */
export async function connect(config: ConnectionSettings, options: ConnectOptions): Promise<Connection> {
  const { probes, keepsProbe, clock = systemClock } = options;
  const sender = new RequestSender(config, { ...options, clock });
  try {
    const org = await readOrganization({ ...config, sender });
    const client = await logIn(config, { org, sender });
    await probe(client, probes, keepsProbe);
    return { config, org, client, sender };
  } catch (error) {
    await sender.close();
    throw error;
  }
}

/** A client with an access token. Throws `IdpError`. */
export async function logIn(config: ConnectionSettings, parts: LoginParts): Promise<HttpIdpClient> {
  const login = new Login(config, parts);
  await login.current();
  return new HttpIdpClient(config.orgUrl, login);
}

/**
 * Endpoints tried before the probe fails. One refusal proves little: a custom role, a feature that is off or a
 * fault of one endpoint must not stop a scan of all the others.
 */
const maxProbes = 3;
/** Probes that may fail for a reason other than credentials: each may take long. */
const maxFailures = 2;

const everyRequest = firstRequests(Object.keys(artifactTable) as ArtifactName[]);

/**
 * Reads once, which proves that the credentials can read anything at all (V3). Throws `IdpError` when not. With `isKept` the answer to
 * one of the `wanted` requests is kept for whoever makes it next.
 */
export async function probe(client: HttpIdpClient, wanted = everyRequest, isKept = true): Promise<void> {
  const refused: Refused[] = [];
  for (const request of candidates(client, wanted)) {
    const missing = await client.probe(request, { isKept: isKept && wanted.includes(request) });
    if (missing === null) return;
    refused.push({ request, missing });
    const failures = refused.filter(({ missing }) => missing.reason === "provider_error").length;
    if (refused.length === maxProbes || failures === maxFailures) break;
  }
  throw probeError(refused, client);
}

/** The granted ones, one for each scope: what the checks read first, then what every role may read. */
function candidates(client: HttpIdpClient, wanted: readonly IdpRequest[]): readonly IdpRequest[] {
  // A refusal of what needs Super Administrator proves nothing about the rest.
  const settingsPath = artifactTable.admin_console_settings.request.path;
  const granted = [...wanted, ...everyRequest].filter(
    ({ path, scope }) => path !== settingsPath && client.isGranted(scope),
  );
  return [...Map.groupBy(granted, ({ scope }) => scope).values()].flatMap(([first]) => first ?? []);
}

interface Refused {
  readonly request: IdpRequest;
  readonly missing: Missing;
}

function probeError(refused: readonly Refused[], { orgUrl, login }: HttpIdpClient): IdpError {
  const role = refused.find(({ missing }) => missing.reason === "missing_role");
  if (role !== undefined) {
    const answer = `GET ${toShownPath(role.request.path)} answered 403 ${role.missing.refusal.errorCode ?? ""}`;
    const problem = `the token was issued, but ${answer}: the service application has no admin role`;
    return new IdpError("role", `Cannot read ${orgUrl}: ${problem}`);
  }
  const isOfScopes = refused.every(({ missing }) => missing.reason === "missing_scope");
  const failed = refused.find(({ missing }) => missing.reason === "provider_error") ?? refused[0];
  if (failed === undefined || isOfScopes) {
    const problem = failed?.missing.detail ?? "no granted scope lets a check read anything";
    return new IdpError("scopes", `Cannot read ${orgUrl}: ${problem}`, grantRemedy(login.requested));
  }
  const { httpStatus } = failed.missing.refusal;
  const problem = httpStatus === null ? "no_answer" : problemOf(httpStatus);
  return new IdpError(problem, `Cannot read ${orgUrl}: ${failed.missing.detail}`);
}

/** Facts from `/.well-known/okta-organization`, which any client may read. */
export type Organization = Awaited<ReturnType<typeof readOrganization>>;

const wellKnownPath = "/.well-known/okta-organization";

/** The first contact. Throws `IdpError` when it cannot be an organization, or cannot be reached. */
export async function readOrganization({
  orgUrl,
  sender,
  scopePrefix,
}: Pick<ConnectionSettings, "orgUrl" | "scopePrefix"> & { readonly sender: RequestSender }) {
  const response = await sender.send({ method: "GET", path: wellKnownPath }).catch((error: unknown) => {
    throw error instanceof NetworkError ? unreachableError(error, orgUrl) : error;
  });
  const { status, body, providerMs, receivedAtMs } = response;
  const message = `Cannot log in to ${orgUrl}: ${wellKnownPath}`;
  if (status >= 300 && status < 400) throw new IdpError("redirect", `${message} redirects${redirectTarget(response)}`);
  // An outage says nothing about the prefix, and a wrong one would look like missing scopes.
  if (scopePrefix === null && (status >= 500 || status === 429))
    throw new IdpError(problemOf(status), `${message} answered ${status}`);
  const { id, pipeline } = status === 200 ? body.object : {};
  const isOkta = typeof id === "string" || typeof pipeline === "string";
  // Anything else comes from a proxy or a firewall.
  const isOther = !isOkta && (status === 404 || (status === 200 && body.kind === "json"));
  const engine: Engine = pipeline === "idx" ? "identity" : pipeline === "v1" ? "classic" : "unknown";
  return {
    engine,
    id: typeof id === "string" && id !== "" && id.length <= 100 ? id : null,
    /** Prefix of its scopes. */
    scopePrefix: scopePrefix ?? (isOther ? "idp" : "okta"),
    /** How far its clock is ahead of this machine's, by that answer; null without a `Date`. */
    aheadMs: providerMs === null ? null : providerMs - receivedAtMs,
  };
}
