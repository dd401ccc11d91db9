import type { Engine } from "../../shared/report.ts";
import { providerMoment, type ProviderMoment } from "./clock.ts";
import { idpError } from "./idp_error.ts";
import { parseBody } from "./json_answer.ts";
import { isJsonObject } from "../../shared/json.ts";
import { NetworkError, unreachableError } from "./network_error.ts";
import { redirectTarget } from "./token_errors.ts";
import type { ReceivedResponse } from "./http_transport.ts";
import type { RequestSender } from "./request_sender.ts";

/** Facts from `/.well-known/okta-organization`, which any client may read. */
export interface Organization {
  readonly engine: Engine;
  readonly id: string | null;
  /** Prefix of its scopes. */
  readonly scopePrefix: "okta" | "idp";
  /** Its clock, by that answer; null without a `Date`. */
  readonly moment: ProviderMoment | null;
}

export interface OrganizationOptions {
  readonly orgUrl: string;
  readonly sender: RequestSender;
  /** Set: not inferred. */
  readonly scopePrefix: "okta" | "idp" | null;
}

const wellKnownPath = "/.well-known/okta-organization";

/** The first contact. Throws `IdpError` when it cannot be an organization, or cannot be reached. */
export async function readOrganization(options: OrganizationOptions): Promise<Organization> {
  const response = await fetchWellKnown(options);
  const parsed = response.status === 200 ? parseBody(response.body) : null;
  const facts = parsed?.kind === "json" && isJsonObject(parsed.value) ? parsed.value : null;
  const { id, pipeline } = facts ?? {};
  const isOkta = typeof id === "string" || typeof pipeline === "string";
  return {
    engine: pipeline === "idx" ? "identity" : pipeline === "v1" ? "classic" : "unknown",
    id: typeof id === "string" && id !== "" && id.length <= 100 ? id : null,
    scopePrefix: options.scopePrefix ?? (isOkta ? "okta" : "idp"),
    moment: providerMoment(response.headers, response.receivedAtMs),
  };
}

async function fetchWellKnown({ orgUrl, sender, scopePrefix }: OrganizationOptions): Promise<ReceivedResponse> {
  let response;
  try {
    response = await sender.send({ method: "GET", path: wellKnownPath });
  } catch (error) {
    throw error instanceof NetworkError ? unreachableError(error, orgUrl) : error;
  }
  if (response.status >= 300 && response.status < 400) {
    const target = redirectTarget(response);
    throw idpError("redirect", `Cannot log in to ${orgUrl}: ${wellKnownPath} redirects${target}`);
  }
  // An outage says nothing about the prefix, and a wrong one would look like missing scopes.
  if (scopePrefix === null && (response.status >= 500 || response.status === 429))
    throw idpError("outage", `Cannot log in to ${orgUrl}: ${wellKnownPath} answered ${response.status}`);
  return response;
}
