import type { ScannerConfig } from "../config.ts";
import { ProviderClock, systemClock, type Clock } from "./clock.ts";
import type { Connection, ConnectOptions } from "./connection.ts";
import { createDpopProver } from "./dpop.ts";
import { HttpIdpClient } from "./http_idp_client.ts";
import { readOrganization } from "./organization.ts";
import { probe } from "./probe.ts";
import { RoleEvidence } from "./role_evidence.ts";
import { TokenEndpoint } from "./token_endpoint.ts";
import { TokenSource } from "./token_source.ts";
import { Transport } from "./transport.ts";
import { openWire } from "./wire.ts";

/** Far above the largest page of the provider, far below what would hurt. */
const maxBodyBytes = 33_554_432;

/**
 * Logs in and proves that something can be read. Throws `IdpError` (exit code 3) when not: then no check may be
 * evaluated. Throws the signal's reason when it aborts.
 */
export async function connect(
  config: ScannerConfig,
  options: ConnectOptions & { readonly clock?: Clock },
): Promise<Connection> {
  const { signal, clock = systemClock } = options;
  const { orgUrl, clientId, key, concurrency, timeoutMs, proxy } = config;
  const wire = openWire({ orgUrl, timeoutMs, proxy, maxBodyBytes });
  const transport = new Transport({ wire, clock, signal, concurrency });
  try {
    const org = await readOrganization({ orgUrl, transport, scopePrefix: config.scopePrefix });
    const providerClock = new ProviderClock(clock);
    const prover = await createDpopProver(providerClock);
    const endpoint = new TokenEndpoint({ orgUrl, clientId, key, transport, clock, providerClock, prover });
    const requested = config.scopes.map((scope) => `${org.scopePrefix}.${scope}`);
    const tokens = new TokenSource({ orgUrl, endpoint, prover, clock, scopes: requested });
    await tokens.current();
    const roleEvidence = new RoleEvidence();
    const client = new HttpIdpClient({ orgUrl, transport, tokens, roleEvidence, scopePrefix: org.scopePrefix });
    const isGranted = (scope: string) => tokens.granted.includes(`${org.scopePrefix}.${scope}`);
    await probe({ orgUrl, client, wanted: options.probes ?? [], scopes: requested, isGranted });
    return {
      client,
      org: { url: orgUrl, engine: org.engine, id: org.id },
      scopes: { requested, granted: tokens.granted },
      role: () => roleEvidence.role(),
      counters() {
        const { total, retried, throttledMs } = transport.counters();
        return { total, retried, throttled_ms: throttledMs };
      },
      close: () => transport.close(),
    };
  } catch (error) {
    await transport.close();
    throw error;
  }
}
