import type { Connection, ConnectionSettings, ConnectOptions } from "./connection.ts";
import { systemClock, type Clock } from "./clock.ts";
import { readOrganization } from "./organization.ts";
import { probe } from "./probe.ts";
import { createSession, createRequestSender } from "./session.ts";

/**
 * Logs in and proves that something can be read. Throws `IdpError` (exit code 3) when not: then no check may be
 * evaluated. Throws the signal's reason when it aborts.
 */
export async function connect(
  config: ConnectionSettings,
  options: ConnectOptions & { readonly clock?: Clock },
): Promise<Connection> {
  const { signal, clock = systemClock, probes = [] } = options;
  const { orgUrl, scopePrefix } = config;
  const transport = createRequestSender(config, { signal, clock });
  try {
    const org = await readOrganization({ orgUrl, transport, scopePrefix });
    const { tokens, client, roleEvidence, requestedScopes, isGranted } = await createSession(config, {
      org,
      transport,
      clock,
    });
    await tokens.current();
    await probe({ orgUrl, client, wanted: probes, scopes: requestedScopes, isGranted });
    return {
      client,
      org: { url: orgUrl, engine: org.engine, id: org.id },
      scopes: { requested: requestedScopes, granted: tokens.granted },
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
