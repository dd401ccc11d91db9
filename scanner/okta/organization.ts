import type { Engine } from "../../shared/report.ts";
import type { ConnectionSettings } from "./connection_settings.ts";
import { IdpError } from "./idp_error.ts";
import { NetworkError, unreachableError } from "./network_error.ts";
import { problemOf, redirectTarget } from "./refusals.ts";
import type { RequestSender } from "./request_sender.ts";

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
