import { vulnIdOf } from "../../shared/rule_names.ts";
import { randomUUID } from "node:crypto";
import { pause } from "../../shared/abortable.ts";
import type { NewChange } from "../../shared/schemas/change.ts";
import type { MonitorUpdate, NewMonitor } from "../../shared/schemas/monitor_requests.ts";
import {
  GatewayRefusal,
  isTimeout,
  problemOf,
  type GatewayClient,
  type RegisteredMonitor,
} from "../../shared/client/gateway_client.ts";
import { toFindingUpdated } from "../../shared/finding_updated.ts";
import { createDelivery, createRetry, isMissing, isRefusedBody, retryDelayMs, type EventQueue } from "./delivery.ts";
import { stateOf, toEnded, toUpdate, type PollResult } from "./monitor_updates.ts";

/**
 * Registers a monitor at the gateway, publishes its changes there in order, and keeps it alive.
 *
 * Nothing here slows or fails the follower (V5): the methods queue and return, an outage costs the live view until the
 * gateway answers again, and `stopped` and `ended` give up after `endTimeoutMs`.
 */
export interface MonitorPublisher {
  /** Called once, before anything else. */
  started(facts: MonitorFacts): void;
  /** After each look at the org, whether it brought anything or not. */
  polled(look: PollResult): void;
  /** There are changes to store; the same queue each time. What was stored before may be in it again: the gateway stores each once by its id. */
  changed(changes: EventQueue<NewChange>): void;
  /** The process ends, and the monitor goes on with the next one. Resolves when it was accepted or given up. */
  stopped(): Promise<void>;
  /** The monitor has done what it was for; the reason is one line for a person. */
  ended(reason: string): Promise<void>;
}

export interface MonitorFacts {
  readonly orgUrl: string;
  readonly clientId: string | null;
  readonly benchmark: string;
  readonly intervalSeconds: number;
  readonly checksTotal: number;
}

export interface MonitorPublisherOptions {
  readonly gateway: GatewayClient;
  /** A UUID, the same over restarts until the monitor ends. */
  readonly monitorId: string;
  /** Called with one line for a person: when an outage begins, when it is over, when the gateway refuses something. */
  readonly warn: (message: string) => void;
  /** Called once, when the gateway has registered the monitor: under another id where that of `monitorId` has ended. */
  readonly onRegistered?: (monitor: RegisteredMonitor) => void;
  /** Default: the interval, at least 20 s. */
  readonly heartbeatMs?: number;
  readonly endTimeoutMs?: number;
}

/** After a refusal, which a person must mend: a key, a proxy. */
const refusedPauseMs = 60_000;
/** This many failures in a row are an outage, with calmer retries. */
const outageFailures = 8;
const outageRetryMs = 15_000;

export function createMonitorPublisher(options: MonitorPublisherOptions): MonitorPublisher {
  const { gateway, warn } = options;
  let { monitorId } = options;
  const abandoned = new AbortController();
  const finished = new AbortController();
  /** Aborts when the end was requested: it cuts a pause short. */
  const ending = new AbortController();
  let isRegistered = false;
  let queue: EventQueue<NewChange> | null = null;
  let deliverChanges: ((changes: EventQueue<NewChange>) => Promise<void>) | null = null;
  let update: MonitorUpdate = {};
  let isUpdateDue = false;
  let end: MonitorUpdate | null = null;
  let hasWarnedOfOutage = false;
  let hasWarnedOfUpdate = false;
  let wake = Promise.withResolvers<void>();
  let heartbeat: ReturnType<typeof setInterval> | null = null;
  let delivered: Promise<void> = Promise.resolve();
  const retryUntilAccepted = createRetry(abandoned.signal, {
    onAccepted() {
      if (hasWarnedOfOutage) warn("The gateway answers again; the live view continues");
      hasWarnedOfOutage = false;
    },
    async beforeRetry(error, failures) {
      // One that does not answer has had its time; one that is restarted comes back at once.
      if (failures > 1 || isTimeout(error)) warnOf(error);
      const isOutage = failures >= outageFailures && !ending.signal.aborted;
      const signals = isOutage ? [abandoned.signal, ending.signal] : [abandoned.signal];
      await pause(isOutage ? outageRetryMs : retryDelayMs(failures), signals);
    },
  });

  return {
    started({ orgUrl, clientId, benchmark, intervalSeconds, checksTotal }) {
      heartbeat = setInterval(requestUpdate, options.heartbeatMs ?? Math.max(intervalSeconds, 20) * 1000);
      heartbeat.unref();
      delivered = deliver({
        org_url: orgUrl,
        client_id: clientId,
        benchmark,
        interval_seconds: intervalSeconds,
        checks_total: checksTotal,
      });
    },

    polled(look) {
      // Before the first answer of the provider there is nothing to say: the registration says that the monitor runs.
      if (look.at === null) return;
      const next = toUpdate(look);
      const isNews = stateOf(next) !== stateOf(update);
      update = next;
      if (isNews) requestUpdate();
    },

    changed(changes) {
      queue = changes;
      if (finished.signal.aborted) settleAll();
      wake.resolve();
    },

    stopped: () => finish({ status: "stopped" }),
    ended: (reason) => finish(toEnded(reason)),
  };

  async function finish(last: MonitorUpdate): Promise<void> {
    end ??= last;
    ending.abort();
    wake.resolve();
    const timer = setTimeout(() => abandoned.abort(), options.endTimeoutMs ?? 5000);
    await delivered;
    clearTimeout(timer);
  }

  function requestUpdate(): void {
    isUpdateDue = true;
    wake.resolve();
  }

  /** Empties the queue of a monitor that takes nothing any more. */
  function settleAll(): void {
    queue?.settle(queue.first(Number.POSITIVE_INFINITY));
  }

  /** Never rejects. */
  async function deliver(body: NewMonitor): Promise<void> {
    for (;;) {
      try {
        await deliverAll(body);
        break;
      } catch (error) {
        if (hasEnded(error) && !isRegistered && monitorId === options.monitorId) {
          warn(`The previous monitor accepts no more changes, so a new one starts: ${problemOf(error)}`);
          monitorId = randomUUID();
          continue;
        }
        if (hasEnded(error) || (isRegistered && isMissing(error, "monitor"))) {
          warn(`The monitor has ended at the gateway, and continues without it: ${problemOf(error)}`);
          finished.abort();
          settleAll();
          break;
        }
        const isEnding = ending.signal.aborted;
        if (isEnding) {
          const problem = abandoned.signal.aborted ? "it does not answer" : problemOf(error);
          warn(`Stopped trying to reach the gateway, which does not know how the monitor ended: ${problem}`);
          break;
        }
        warnOf(error);
        isUpdateDue = Object.keys(update).length > 0;
        await pause(refusedPauseMs, [ending.signal]);
      }
    }
    finished.abort();
    if (heartbeat !== null) clearInterval(heartbeat);
  }

  async function deliverAll(body: NewMonitor): Promise<void> {
    if (!isRegistered) {
      const monitor = await retryUntilAccepted((signal) => gateway.putMonitor(monitorId, body, signal));
      isRegistered = true;
      deliverChanges = createDelivery<NewChange>({
        toEvent: (change) => ({ type: "finding.updated", payload: toFindingUpdated(monitor.id, change) }),
        publish: (batch) => retryUntilAccepted((signal) => gateway.publish(monitor.channel, batch, signal)),
        onRefused({ check }, problem) {
          warn(`A change of ${vulnIdOf(check)} was not stored at the gateway: ${problem}`);
        },
      });
      options.onRegistered?.(monitor);
    }
    for (;;) {
      // Read before the changes are taken: nothing follows the end, but more may arrive while requests are in flight.
      const last = end;
      // Before the counts: a client that reads the monitor finds what explains them.
      if (queue !== null) await deliverChanges?.(queue);
      if (isUpdateDue) await sendUpdate({ status: "running", ...update });
      if (last !== null) {
        // On its own: the gateway takes a detail back where no error comes with it.
        await sendUpdate(last);
        return;
      }
      if (hasChanges() || isUpdateDue || end !== null) continue;
      await wake.promise;
      wake = Promise.withResolvers<void>();
    }
  }

  function hasChanges(): boolean {
    return queue !== null && queue.first(1).length > 0;
  }

  /** One that the gateway does not take is left out: the next look makes another. */
  async function sendUpdate(body: MonitorUpdate): Promise<void> {
    isUpdateDue = false;
    try {
      await retryUntilAccepted((signal) => gateway.updateMonitor(monitorId, body, signal));
    } catch (error) {
      if (!isRefusedBody(error)) throw error;
      if (!hasWarnedOfUpdate) warn(`The gateway refuses the monitor's own status: ${problemOf(error)}`);
      hasWarnedOfUpdate = true;
    }
  }

  function warnOf(error: unknown): void {
    if (hasWarnedOfOutage) return;
    hasWarnedOfOutage = true;
    warn(`The monitor continues without its live view until the gateway answers again: ${problemOf(error)}`);
  }
}

function hasEnded(error: unknown): boolean {
  return error instanceof GatewayRefusal && error.httpStatus === 409;
}
