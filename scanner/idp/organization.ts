import type { Engine } from "../../shared/report.ts";
import { providerMoment, type ProviderMoment } from "./clock.ts";
import { IdpError } from "./idp_error.ts";
import { parseBody } from "./json_answer.ts";
import { isJsonObject } from "../../shared/json.ts";
import { NetworkError, unreachableError } from "./network_error.ts";
import { redirectTarget } from "./token_errors.ts";
import type { ReceivedResponse, RequestSender } from "./request_sender.ts";

/** What the organization says about itself to anyone, at `/.well-known/okta-organization`. */
export interface Organization {
  readonly engine: Engine;
  readonly id: string | null;
  /** What its scopes begin with. */
  readonly scopePrefix: "okta" | "idp";
  /** Its clock, by that answer; null without a `Date`. */
  readonly moment: ProviderMoment | null;
}

export interface OrganizationOptions {
  readonly orgUrl: string;
  readonly transport: RequestSender;
  /** Set: not inferred. */
  readonly scopePrefix: "okta" | "idp" | null;
}

const wellKnownPath = "/.well-known/okta-organization";

/** The first contact. Throws `IdpError` when nothing there can be an organization, or nothing answers at all. */
export async function readOrganization(options: OrganizationOptions): Promise<Organization> {
  const answer = await ask(options);
  const parsed = answer.status === 200 ? parseBody(answer.body) : null;
  const facts = parsed?.kind === "json" && isJsonObject(parsed.value) ? parsed.value : null;
  const { id, pipeline } = facts ?? {};
  const isOkta = typeof id === "string" || typeof pipeline === "string";
  return {
    engine: pipeline === "idx" ? "identity" : pipeline === "v1" ? "classic" : "unknown",
    id: typeof id === "string" && id !== "" && id.length <= 100 ? id : null,
    scopePrefix: options.scopePrefix ?? (isOkta ? "okta" : "idp"),
    moment: providerMoment(answer.headers, answer.receivedAtMs),
  };
}

async function ask({ orgUrl, transport, scopePrefix }: OrganizationOptions): Promise<ReceivedResponse> {
  let answer;
  try {
    answer = await transport.send({
      method: "GET",
      path: wellKnownPath,
      prepare: () => Promise.resolve({ headers: {} }),
    });
  } catch (error) {
    throw error instanceof NetworkError ? unreachableError(error, orgUrl) : error;
  }
  if (answer.status >= 300 && answer.status < 400) {
    const message = `Cannot log in to ${orgUrl}: ${wellKnownPath} redirects${redirectTarget(answer)}`;
    throw new IdpError(
      "wrong_org",
      message,
      "Set IDP_ORG_URL to the organization's own address; redirects are never followed",
    );
  }
  // An outage says nothing about the prefix, and a wrong one would look like missing scopes.
  if (scopePrefix === null && (answer.status >= 500 || answer.status === 429)) {
    const message = `Cannot log in to ${orgUrl}: ${wellKnownPath} answered ${answer.status}`;
    throw new IdpError(
      "provider_error",
      message,
      "The organization has a problem of its own: look at its status page and try again",
    );
  }
  return answer;
}
