import { pause } from "../../shared/abortable.ts";
import { subscribe } from "../../shared/client/subscribe.ts";
import type { NewChange } from "../../shared/schemas/change.ts";
import type { MonitorEvents } from "../../shared/schemas/monitor.ts";
import type { MonitorUpdate, NewMonitor } from "../../shared/schemas/monitor_requests.ts";
import type { StatusCounts } from "../../shared/report.ts";
import { toLine } from "../../shared/text.ts";
import { retryDelayMs } from "./event_queue.ts";
import { GatewayRefusal, isPermanent, problemOf, storeAccepted, type GatewayClient } from "./gateway_client.ts";

/**
 * Registers a monitor at the gateway, stores its changes there in order, and keeps it alive.
 *
 * Nothing here slows or fails the follower (V5): the methods queue and return, an outage costs the live view until the
 * gateway answers again, and `stopped` and `ended` give up after `endTimeoutMs`.
 */
export interface MonitorPublisher {
  /** Called once, before anything else. */
  started(facts: MonitorFacts): void;
  /** After each look at the org, whether it brought anything or not. */
  looked(look: Look): void;
  /** Changes may be handed over again, after a restart for example: the gateway stores each once by its id. */
  changed(changes: readonly NewChange[]): void;
  /** The process ends, and the monitor goes on with the next one. Resolves when it was accepted or given up. */
  stopped(): Promise<void>;
  /** The monitor has done what it was for; the reason is one line for a person. */
  ended(reason: string): Promise<void>;
}

export interface MonitorFacts {
  readonly orgUrl: string;
  readonly clientId: string | null;
  readonly intervalSeconds: number;
  readonly checksTotal: number;
}

export interface Look {
  /** RFC 3339: when the org was last looked at with success. */
  readonly at: string;
  /** How far behind the org's log the verdicts are; null when it is not known. */
  readonly lagSeconds: number | null;
  /** Of checks. */
  readonly counts: StatusCounts;
  readonly logStatus: NonNullable<MonitorUpdate["log_status"]>;
  /** Null when nothing is wrong. */
  readonly error: LookError | null;
}

export interface LookError {
  readonly code: string;
  readonly detail: string;
  /** Between which times the log could not be read, as RFC 3339. */
  readonly gap?: { readonly from: string; readonly to: string };
}

export interface MonitorPublisherOptions {
  readonly gateway: GatewayClient;
  /** Of the gateway, without a path, with the key that its streams are read with. */
  readonly url: string;
  readonly apiKey: string;
  /** A UUID, the same over restarts. */
  readonly monitorId: string;
  /** Called with one line for a person: when an outage begins, when it is over, when the gateway refuses something. */
  readonly warn: (message: string) => void;
  /** Called once, when the gateway has registered the monitor. */
  readonly onRegistered?: () => void;
  /** The gateway's doorbell was rung: poll now. */
  readonly onDoorbell: () => void;
  /** Default: the interval, at least 20 s. */
  readonly heartbeatMs?: number;
  readonly endTimeoutMs?: number;
}

/** What the gateway accepts at once. */
const maxBatch = 500;
/** Of a kilobyte or so each. Over it the oldest are left out: the state file has them, and a restart hands them over again. */
const maxPending = 100_000;
/** After a refusal, which a person must mend: a key, a proxy. */
const refusedPauseMs = 60_000;
/** So many failures in a row are an outage, with calmer retries. */
const outageFailures = 8;
const outageRetryMs = 15_000;
/** Bounds of the gateway's fields, in characters. */
const maxCodeChars = 100;
const maxNameChars = 1000;
const maxActualChars = 4000;
const maxDetailChars = 2000;
const maxExplanations = 20;

export function createMonitorPublisher(options: MonitorPublisherOptions): MonitorPublisher {
  const { gateway, monitorId, warn } = options;
  const abandoned = new AbortController();
  const finished = new AbortController();
  /** Aborts when the end was requested: it cuts a pause short. */
  const ending = new AbortController();
  let registration: NewMonitor | null = null;
  let isRegistered = false;
  let wasRegistered = false;
  let pending: NewChange[] = [];
  let omittedCount = 0;
  let update: MonitorUpdate = {};
  let isUpdateDue = false;
  let end: MonitorUpdate | null = null;
  let hasWarnedOfOutage = false;
  let wake = Promise.withResolvers<void>();
  let heartbeat: ReturnType<typeof setInterval> | null = null;
  let delivered: Promise<void> = Promise.resolve();

  return {
    started({ orgUrl, clientId, intervalSeconds, checksTotal }) {
      registration = {
        org_url: orgUrl,
        client_id: clientId,
        interval_seconds: intervalSeconds,
        checks_total: checksTotal,
      };
      heartbeat = setInterval(requestUpdate, options.heartbeatMs ?? Math.max(intervalSeconds, 20) * 1000);
      heartbeat.unref();
      delivered = deliver(registration);
    },

    looked(look) {
      const next = toUpdate(look);
      const isNews = stateOf(next) !== stateOf(update);
      update = next;
      if (isNews) requestUpdate();
    },

    changed(changes) {
      pending.push(...changes.map(toStored));
      omitOldest();
      wake.resolve();
    },

    stopped: () => finish({ status: "stopped" }),
    ended: (reason) => finish({ status: "ended", error_detail: toLine(reason, maxDetailChars) }),
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

  function omitOldest(): void {
    if (pending.length <= maxPending) return;
    omittedCount += pending.length - maxPending;
    pending = pending.slice(-maxPending);
  }

  /** Never rejects. */
  async function deliver(body: NewMonitor): Promise<void> {
    for (;;) {
      try {
        await deliverAll(body);
        break;
      } catch (error) {
        if (isOver(error)) {
          warn(`The monitor goes on without the gateway, where it has ended: ${problemOf(error)}`);
          break;
        }
        const isEnding = ending.signal.aborted;
        if (isEnding) {
          const problem = abandoned.signal.aborted ? "it does not answer" : problemOf(error);
          warn(`The gateway was given up, and does not know how the monitor ended: ${problem}`);
          break;
        }
        warnOf(error);
        // It may have lost the monitor; to register again does no harm.
        isRegistered = false;
        await pause(refusedPauseMs, [ending.signal]);
      }
    }
    finished.abort();
    pending = [];
    if (heartbeat !== null) clearInterval(heartbeat);
  }

  async function deliverAll(body: NewMonitor): Promise<void> {
    if (!isRegistered) {
      await retryUntilAccepted((signal) => gateway.putMonitor(monitorId, body, signal));
      isRegistered = true;
      isUpdateDue = Object.keys(update).length > 0;
      if (!wasRegistered) {
        wasRegistered = true;
        options.onRegistered?.();
        void followDoorbell();
      }
    }
    for (;;) {
      // Read before the changes are taken: nothing follows the end, but more may arrive while requests are in flight.
      const last = end;
      await storePending();
      if (isUpdateDue) await sendUpdate({ status: "running", ...update });
      if (last !== null) {
        // On its own: the gateway takes a detail back where no error comes with it.
        await sendUpdate(last);
        return;
      }
      if (pending.length > 0 || isUpdateDue || end !== null) continue;
      await wake.promise;
      wake = Promise.withResolvers<void>();
    }
  }

  /** Changes are stored before the counts are PATCHed: a client that reads the monitor finds what explains it. */
  async function storePending(): Promise<void> {
    while (pending.length > 0) {
      const batch = pending.slice(0, maxBatch);
      pending = pending.slice(maxBatch);
      try {
        await storeAccepted(
          batch,
          (changes) => retryUntilAccepted((signal) => gateway.storeChanges(monitorId, changes, signal)),
          ({ check }, problem) => warn(`A change of ${check} was not stored at the gateway: ${problem}`),
        );
      } catch (error) {
        pending = [...batch, ...pending];
        omitOldest();
        throw error;
      }
    }
    if (omittedCount === 0) return;
    warn(
      `${omittedCount} changes were too many to keep until the gateway answered: they are in the state folder alone`,
    );
    omittedCount = 0;
  }

  async function sendUpdate(body: MonitorUpdate): Promise<void> {
    isUpdateDue = false;
    await retryUntilAccepted((signal) => gateway.updateMonitor(monitorId, body, signal));
  }

  /** Retries until the gateway accepts. Rejects with its refusal, and when the gateway was given up. */
  async function retryUntilAccepted<Answer>(send: (signal: AbortSignal) => Promise<Answer>): Promise<Answer> {
    for (let failures = 1; ; failures += 1) {
      abandoned.signal.throwIfAborted();
      try {
        const answer = await send(abandoned.signal);
        if (hasWarnedOfOutage) warn("The gateway answers again: the live view goes on");
        hasWarnedOfOutage = false;
        return answer;
      } catch (error) {
        if (abandoned.signal.aborted || isPermanent(error)) throw error;
        if (failures > 1) warnOf(error);
        const isOutage = failures >= outageFailures && !ending.signal.aborted;
        await pause(isOutage ? outageRetryMs : retryDelayMs(failures), [
          abandoned.signal,
          ...(isOutage ? [ending.signal] : []),
        ]);
      }
    }
  }

  function warnOf(error: unknown): void {
    if (hasWarnedOfOutage) return;
    hasWarnedOfOutage = true;
    warn(`The monitor goes on without its live view until the gateway answers again: ${problemOf(error)}`);
  }

  /** A doorbell that is missed while the stream reconnects costs an interval: the follower polls all the same. */
  async function followDoorbell(): Promise<void> {
    const signal = AbortSignal.any([finished.signal, ending.signal]);
    const path = `/api/v1/monitors/${monitorId}/event-stream`;
    let hasWarned = false;
    while (!signal.aborted) {
      const { finished: over } = subscribe<MonitorEvents>(new URL(path, options.url), {
        apiKey: options.apiKey,
        signal,
        onEvent: ({ type, data }) => {
          if (type === "monitor.progress" && data.doorbell) options.onDoorbell();
        },
      });
      const outcome = await over;
      if (outcome.state !== "failed") return;
      if (!hasWarned) warn(`The gateway's doorbell is not heard: ${outcome.error.message}`);
      hasWarned = true;
      await pause(refusedPauseMs, [signal]);
    }
  }
}

/** What is sent at once when it changes; the rest waits for the heartbeat. */
function stateOf({ pass, fail, manual, log_status, error_code, error_detail }: MonitorUpdate): string {
  return JSON.stringify([pass, fail, manual, log_status, error_code, error_detail]);
}

function toUpdate({ at, lagSeconds, counts, logStatus, error }: Look): MonitorUpdate {
  return {
    last_look_at: at,
    lag_seconds: lagSeconds,
    ...counts,
    log_status: logStatus,
    error_code: error === null ? null : toLine(error.code, maxCodeChars),
    error_detail: error === null ? null : toLine(error.detail, maxDetailChars),
    ...(error?.gap === undefined ? {} : { gap_from: error.gap.from, gap_to: error.gap.to }),
  };
}

/** Within the gateway's bounds, whatever the evidence held. */
function toStored(change: NewChange): NewChange {
  const { type, id, name } = change.resource;
  return {
    ...change,
    resource: { type: toLine(type, maxNameChars), id: toLine(id, maxNameChars), name: toLine(name, maxNameChars) },
    actual: toLine(change.actual, maxActualChars),
    explained_by: change.explained_by.slice(0, maxExplanations),
  };
}

/** Ended by its own last request, or deleted at the gateway. */
function isOver(error: unknown): boolean {
  return error instanceof GatewayRefusal && (error.httpStatus === 409 || error.httpStatus === 410);
}
