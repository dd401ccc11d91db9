import { artifactTable, firstRequests } from "../evidence/artifact_table.ts";
import type { ArtifactName } from "../evidence/artifacts.ts";
import { remedies } from "./console_places.ts";
import type { HttpIdpClient } from "./http_idp_client.ts";
import type { IdpRequest } from "./idp_client.ts";
import { IdpError } from "./idp_error.ts";
import type { Missing } from "./refusals.ts";
import { toShownPath } from "./safe_text.ts";

export interface ProbeOptions {
  readonly orgUrl: string;
  readonly client: HttpIdpClient;
  /** Requests that the selected checks make anyway, best first. */
  readonly wanted: readonly IdpRequest[];
  /** The requested scopes with prefix, for the remedy. */
  readonly scopes: readonly string[];
  readonly isGranted: (scope: string) => boolean;
}

/**
 * Endpoints tried before the probe fails. One refusal proves little: a custom role, a feature that is off or a
 * fault of one endpoint must not stop a scan of all the others.
 */
const maxProbes = 3;
/** Among those, the failures that are not about credentials: each may have taken long. */
const maxFailures = 2;

/** Proves that the credentials can read anything at all (V3). Throws `IdpError` when no check could be evaluated. */
export async function probe(options: ProbeOptions): Promise<void> {
  const refused: Refused[] = [];
  for (const request of candidates(options)) {
    const missing = await options.client.probe(request);
    if (missing === null) return;
    // A refusal of what needs Super Administrator proves nothing about the rest.
    if (!needsSuperAdmin(request)) refused.push({ request, missing });
    const failures = refused.filter(({ missing }) => missing.reason === "provider_error").length;
    if (refused.length === maxProbes || failures === maxFailures) break;
  }
  throw probeError(refused, options);
}

/** The granted ones, one for each scope: what the checks read first, then what every role may read. */
function candidates({ wanted, isGranted }: ProbeOptions): readonly IdpRequest[] {
  const byKind = new Map<string, IdpRequest>();
  for (const request of [...wanted, ...firstRequests(Object.keys(artifactTable) as ArtifactName[])]) {
    const kind = needsSuperAdmin(request) ? request.path : request.scope;
    if (isGranted(request.scope) && !byKind.has(kind)) byKind.set(kind, request);
  }
  return [...byKind.values()];
}

function needsSuperAdmin(request: IdpRequest): boolean {
  return request.path.startsWith("/api/v1/first-party-app-settings/");
}

interface Refused {
  readonly request: IdpRequest;
  readonly missing: Missing;
}

function probeError(refused: readonly Refused[], { orgUrl, scopes }: ProbeOptions): IdpError {
  const scopeRemedy = `${remedies.scopes}: ${scopes.join(", ")}`;
  const role = refused.find(({ missing }) => missing.reason === "missing_role");
  if (role !== undefined) {
    return new IdpError(
      "no_role",
      `Cannot read ${orgUrl}: the token was issued, but GET ${toShownPath(role.request.path)} answered 403 ${role.missing.refusal.errorCode ?? ""}: the service application has no admin role`,
      "Assign the role Read-Only Administrator in Applications → your app → Admin roles → Edit assignments",
    );
  }
  const [first] = refused;
  if (first === undefined) {
    return new IdpError("no_scope", `Cannot read ${orgUrl}: no granted scope lets a check read anything`, scopeRemedy);
  }
  const scope = refused.every(({ missing }) => missing.reason === "missing_scope");
  if (scope) return new IdpError("no_scope", `Cannot read ${orgUrl}: ${first.missing.detail}`, scopeRemedy);
  const failure = refused.find(({ missing }) => missing.reason === "provider_error") ?? first;
  const { httpStatus } = failure.missing.refusal;
  const message = `Cannot read ${orgUrl}: ${failure.missing.detail}`;
  if (httpStatus === null) {
    return new IdpError(
      "unreachable",
      message,
      "Check the network and try again; --timeout allows more time for one answer",
    );
  }
  if (httpStatus === 403) {
    return new IdpError(
      "access_denied",
      message,
      "Check network zones and policies that apply to the service application, proxies and firewalls; and that it has the role Read-Only Administrator",
    );
  }
  return new IdpError(
    "provider_error",
    message,
    "The organization answered, but not as expected: look at its status page and try again",
  );
}
