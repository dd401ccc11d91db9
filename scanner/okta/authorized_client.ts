import { ProviderClock, type Clock } from "./clock.ts";
import type { ConnectionSettings } from "./connection_settings.ts";
import { remedies } from "./console_places.ts";
import { HttpIdpClient } from "./http_idp_client.ts";
import { createOAuthClient } from "./oauth_client.ts";
import type { Organization } from "./organization.ts";
import type { RequestSender } from "./request_sender.ts";
import { RoleEvidence } from "./role_evidence.ts";
import { TokenEndpoint } from "./token_endpoint.ts";
import { TokenSource } from "./token_source.ts";

/** A client of one organization, authorized as the service application. */
export interface AuthorizedClient {
  readonly tokens: TokenSource;
  readonly client: HttpIdpClient;
  readonly roleEvidence: RoleEvidence;
  /** With the provider's prefix. */
  readonly requestedScopes: readonly string[];
  /** True when the token carries a scope, named without prefix. */
  readonly isGranted: (scope: string) => boolean;
}

export interface AuthorizedClientOptions {
  readonly org: Organization;
  readonly sender: RequestSender;
  readonly clock: Clock;
}

/** Sends nothing before its first use. */
export async function createAuthorizedClient(
  config: ConnectionSettings,
  { org: { id, scopePrefix }, sender, clock }: AuthorizedClientOptions,
): Promise<AuthorizedClient> {
  const { orgUrl } = config;
  const providerClock = new ProviderClock(clock);
  const oauth = await createOAuthClient({ ...config, clock: providerClock });
  const endpoint = new TokenEndpoint({ orgUrl, oauth, sender, clock, providerClock });
  const requestedScopes = config.scopes.map((scope) => `${scopePrefix}.${scope}`);
  const noScopeRemedy =
    id !== null && scopePrefix === "idp"
      ? 'Unset IDP_SCOPE_PREFIX: the scopes of an Okta organization begin with "okta."'
      : `${remedies.scopes}: ${requestedScopes.join(", ")}`;
  const tokens = new TokenSource({ orgUrl, endpoint, clock, scopes: requestedScopes, noScopeRemedy });
  const roleEvidence = new RoleEvidence();
  const client = new HttpIdpClient({ sender, tokens, oauth, roleEvidence, orgUrl, scopePrefix });
  const isGranted = (scope: string) => tokens.granted.includes(`${scopePrefix}.${scope}`);
  return { tokens, client, roleEvidence, requestedScopes, isGranted };
}
