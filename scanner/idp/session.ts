import type { ConnectionSettings } from "./connection.ts";
import { ProviderClock, type Clock } from "./clock.ts";
import { createDpopProver } from "./dpop.ts";
import { HttpIdpClient } from "./http_idp_client.ts";
import type { Organization } from "./organization.ts";
import { RoleEvidence } from "./role_evidence.ts";
import { TokenEndpoint } from "./token_endpoint.ts";
import { TokenSource } from "./token_source.ts";
import { RequestSender } from "./request_sender.ts";
import { createHttpTransport } from "./http_transport.ts";

/** Far above the largest page of the provider, far below what would hurt. */
const maxBodyBytes = 33_554_432;

export interface SenderParts {
  readonly signal: AbortSignal;
  readonly clock: Clock;
}

export function createRequestSender(config: ConnectionSettings, { signal, clock }: SenderParts): RequestSender {
  const { orgUrl, timeoutMs, proxy, concurrency } = config;
  const wire = createHttpTransport({ orgUrl, timeoutMs, proxy, maxBodyBytes });
  return new RequestSender({ wire, clock, signal, concurrency });
}

/** What speaks to one organization as the service application. Nothing is sent before its first use. */
export interface Session {
  readonly tokens: TokenSource;
  readonly client: HttpIdpClient;
  readonly roleEvidence: RoleEvidence;
  /** With the provider's prefix. */
  readonly requestedScopes: readonly string[];
  /** Whether the token carries a scope, named without prefix. */
  readonly isGranted: (scope: string) => boolean;
}

export interface SessionParts {
  readonly org: Organization;
  readonly transport: RequestSender;
  readonly clock: Clock;
}

export async function createSession(config: ConnectionSettings, parts: SessionParts): Promise<Session> {
  const { orgUrl, clientId, key } = config;
  const { org, transport, clock } = parts;
  const { scopePrefix } = org;
  const providerClock = new ProviderClock(clock);
  const prover = await createDpopProver(providerClock);
  const endpoint = new TokenEndpoint({ orgUrl, clientId, key, transport, clock, providerClock, prover });
  const requestedScopes = config.scopes.map((scope) => `${scopePrefix}.${scope}`);
  const tokens = new TokenSource({ orgUrl, endpoint, prover, clock, scopes: requestedScopes });
  const roleEvidence = new RoleEvidence();
  const client = new HttpIdpClient({ orgUrl, transport, tokens, roleEvidence, scopePrefix });
  const isGranted = (scope: string) => tokens.granted.includes(`${scopePrefix}.${scope}`);
  return { tokens, client, roleEvidence, requestedScopes, isGranted };
}
