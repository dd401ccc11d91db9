import type { ConnectionSettings } from "./connection_settings.ts";
import type { Engine, Role } from "../../shared/report.ts";
import { systemClock, type Clock } from "./clock.ts";
import { examineLogin, examineOrganization, type StepResult } from "./examine.ts";
import type { Fetch } from "./http_transport.ts";
import type { IdpClient, IdpRequest, PageReader } from "./idp_client.ts";
import { RequestSender, type RequestCounters } from "./request_sender.ts";
import type { RequestTrace } from "./request_trace.ts";

/** An authenticated connection to an organization that has proved, by the probe, that it lets the scanner read. */
export interface Connection {
  readonly client: IdpClient & PageReader;
  /** `url`: the origin, without a trailing slash. `id`: null where the provider does not say. */
  readonly org: { readonly url: string; readonly engine: Engine; readonly id: string | null };
  /** Names as the provider writes them, with its prefix: `okta.policies.read`. */
  readonly scopes: { readonly requested: readonly string[]; readonly granted: readonly string[] };
  /** As far as the responses so far show it; ask at the end of the collection. */
  role(): Role;
  /** The report's `scan.requests`, up to now. */
  counters(): RequestCounters;
  /** The provider's time, in milliseconds since the epoch. */
  nowMs(): number;
  /** Closes every socket. Requests in flight fail. */
  close(): Promise<void>;
}

export interface ConnectOptions {
  /** Stops everything at once; every pending call then rejects with the signal's reason. */
  readonly signal: AbortSignal;
  /**
   * Requests of the probe, best first: requests that the selected checks make anyway. Their responses are kept for the
   * first collector that needs them, so the probe costs no separate request.
   */
  readonly probes?: readonly IdpRequest[];
  /** True when the probe's answer is dropped: where no collection follows at once, it would be an old one later. */
  readonly forgetsProbe?: boolean;
  readonly trace?: RequestTrace | undefined;
}

/**
 * Authenticates and proves that something can be read. Throws `IdpError` (exit code 3) when not: then no check may be
 * evaluated. Throws the signal's reason when it aborts.
 */
export async function connect(
  config: ConnectionSettings,
  {
    signal,
    clock = systemClock,
    probes = [],
    forgetsProbe = false,
    trace,
    fetch,
  }: ConnectOptions & { readonly clock?: Clock; readonly fetch?: Fetch },
): Promise<Connection> {
  const sender = new RequestSender(config, { signal, clock, trace, fetch });
  try {
    const org = await untilFailure(examineOrganization(config, { sender }));
    const client = await untilFailure(examineLogin(config, { org, sender, clock, probes }));
    if (forgetsProbe) client.forgetProbed();
    return {
      client,
      org: { url: config.orgUrl, engine: org.engine, id: org.id },
      scopes: {
        requested: config.scopes.map((scope) => `${org.scopePrefix}.${scope}`),
        granted: client.login.granted,
      },
      role: () => client.roleEvidence.role(),
      counters: () => sender.counters(),
      nowMs: () => client.login.nowMs(),
      close: () => sender.close(),
    };
  } catch (error) {
    await sender.close();
    throw error;
  }
}

/** The result of an examination that a scan ends at its first failure. */
async function untilFailure<Value>(steps: AsyncGenerator<StepResult, Value | null>): Promise<Value> {
  for (;;) {
    const next = await steps.next();
    if (next.done !== true) {
      if (next.value.error !== undefined) throw next.value.error;
    } else if (next.value !== null) return next.value;
    else throw new TypeError("Cannot connect: the examination ended without a failure and without a result");
  }
}
