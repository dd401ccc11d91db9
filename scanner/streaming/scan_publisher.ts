import { vulnIdOf } from "../../shared/rule_names.ts";
import { pause } from "../../shared/abortable.ts";
import type { MessagePublisher } from "../../shared/broker.ts";
import type { CheckResult, Report } from "../../shared/report.ts";
import { countStates } from "../../shared/rule_result.ts";
import type { NewScan, ScanUpdate } from "../../shared/schemas/scan_requests.ts";
import type { StatusCounts } from "../../shared/report.ts";
import {
  GatewayRefusal,
  problemOf,
  type GatewayClient,
  type NumberedEvent,
  type RegisteredScan,
} from "../../shared/client/gateway_client.ts";
import { toMessage, encodeEvent, withDeliveryId, type CheckedEvent } from "../../shared/event.ts";
import { toLine } from "../../shared/text.ts";
import { createDelivery, createRetry, isMissing, MemoryQueue, retryDelayMs } from "./delivery.ts";
import { toFindingCreated } from "./finding_created.ts";
import { storeReport } from "./store_report.ts";

/**
 * Registers the scan at the gateway, and publishes there what happens while it runs: the gateway stores what it is sent.
 *
 * Nothing here slows or fails a scan (V5): the methods queue and return, an outage costs the live view and a warning
 * line, and `end` gives up once the gateway has accepted nothing for `endTimeoutMs`.
 */
export interface ScanPublisher {
  checkEvaluated(result: CheckResult, counts: ScanCounts): void;
  error(code: string, detail: string): void;
  /**
   * Sends what is not stored yet, then the end; the gateway publishes `scan.end`. Resolves when it was accepted or given up.
   */
  end(status: ScanOutcome, results: readonly CheckResult[]): Promise<void>;
  /**
   * After the end: stores the finished report, from which the gateway's clients write any format. Resolves when it was accepted or
   * given up, which is one warning; does nothing where the end was not accepted.
   */
  storeReport(report: Report): Promise<void>;
  /** The scan at the gateway; null until it is registered. */
  registered(): RegisteredScan | null;
  /** Aborts when a client has requested the scan's cancellation at the gateway, or has deleted it there. */
  readonly cancelRequested: AbortSignal;
}

export interface ScanCounts extends StatusCounts {
  readonly checks_done: number;
  readonly checks_total: number;
}

export type ScanOutcome = "completed" | "cancelled" | "failed";

export interface ScanPublisherOptions {
  readonly gateway: GatewayClient;
  /** Given: events go to it directly, and nobody stores them. */
  readonly broker?: MessagePublisher;
  /** A UUID; sent with the registration, so that its retry registers no second scan. */
  readonly scanId: string;
  readonly scan: Required<NewScan>;
  /**
   * Called with one line for a person: once at the first retry, once when the gateway was given up, and for each finding
   * that it refused.
   */
  readonly warn: (message: string) => void;
  readonly onRegistered?: (scan: RegisteredScan) => void;
  readonly heartbeatMs?: number;
  /** While ending: how long the gateway may accept nothing. Longer than one call's timeout, so that a call is retried. */
  readonly endTimeoutMs?: number;
}

/** At the end of a scan: failures in a row after which a gateway that never responded is given up. */
const maxRegistrationFailures = 3;

/** After so many failures in a row a batch is dropped that goes to a broker directly. */
const maxBrokerFailures = 6;
const maxErrorLength = 2048;

export function createScanPublisher(options: ScanPublisherOptions): ScanPublisher {
  const { gateway, broker, scanId, warn } = options;
  const cancelRequest = new AbortController();
  const abandoned = new AbortController();
  /** Aborts when the scan ends: no batch that goes to a broker is tried again then. */
  const ending = new AbortController();
  const queue = new MemoryQueue<CheckedEvent>();
  /** The newest only: an outage leaves no backlog of progress. */
  let progress: CheckedEvent | null = null;
  let counts: ScanCounts | null = null;
  let scan: RegisteredScan | null = null;
  let end: ScanUpdate | null = null;
  let isEndAccepted = false;
  let isHeartbeatDue = true;
  let checksDone = 0;
  let lastSuccessMs = 0;
  let hasWarnedOfRetry = false;
  let wake = Promise.withResolvers<void>();
  const evaluatedChecks = new Set<string>();
  push("scan.start", { scan_id: scanId, checks_total: options.scan.checks_total ?? 0 });
  const retryUntilAccepted = createRetry(abandoned.signal, {
    onAccepted() {
      lastSuccessMs = Date.now();
    },
    async beforeRetry(error, failures) {
      if (failures > 1) warnOfRetry(error);
      if (end !== null && scan === null && failures >= maxRegistrationFailures) throw error;
      await pause(retryDelayMs(failures), [abandoned.signal]);
    },
  });
  const deliverQueue = createDelivery<CheckedEvent>({
    toEvent: (event) => event,
    publish,
    onRefused: ({ payload }, problem) => {
      warn(`A finding of ${vulnIdOf(String(payload["check"]))} was not stored: ${problem}`);
    },
  });

  const heartbeat = setInterval(() => {
    isHeartbeatDue = true;
    wake.resolve();
  }, options.heartbeatMs ?? 2000);
  heartbeat.unref();
  const delivered = deliver().finally(() => {
    clearInterval(heartbeat);
  });

  return {
    cancelRequested: cancelRequest.signal,
    registered: () => scan,
    checkEvaluated,
    error(code, detail) {
      push("scan.error", { scan_id: scanId, code, detail: toLine(detail, maxErrorLength) });
      wake.resolve();
    },
    async end(status, results) {
      const checks_total = options.scan.checks_total ?? 0;
      // A cancelled scan's report has a result for every check, also for the ones that were never evaluated.
      for (const [index, result] of results.entries()) {
        if (evaluatedChecks.has(result.check)) continue;
        const counts = countStates(results.slice(0, index + 1));
        checkEvaluated(result, { checks_done: checksDone + 1, checks_total, ...counts });
      }
      end = { status, checks_done: checksDone, ...countStates(results) };
      ending.abort();
      wake.resolve();
      lastSuccessMs = Date.now();
      const timeoutMs = endTimeoutMs(status);
      const watchdog = setInterval(() => {
        if (Date.now() - lastSuccessMs >= timeoutMs) abandoned.abort();
      }, 50);
      await delivered;
      clearInterval(watchdog);
    },
    async storeReport(report) {
      if (!isEndAccepted) return;
      await storeReport(report, { gateway, scanId, warn, timeoutMs: endTimeoutMs(report.scan.status) });
    },
  };

  /** A user who has interrupted the scan waits for this. */
  function endTimeoutMs(status: ScanOutcome): number {
    return options.endTimeoutMs ?? (status === "cancelled" ? 4000 : 6000);
  }

  function checkEvaluated(result: CheckResult, state: ScanCounts): void {
    evaluatedChecks.add(result.check);
    counts = state;
    const { checks_done, checks_total } = state;
    checksDone = checks_done;
    for (const finding of result.findings) push("finding.created", toFindingCreated(scanId, result, finding));
    const { check, status, reason } = result;
    progress = {
      type: "scan.progress",
      payload: { scan_id: scanId, checks_done, checks_total, check, status, reason },
    };
    wake.resolve();
  }

  function push(type: CheckedEvent["type"], payload: CheckedEvent["payload"]): void {
    queue.push({ type, payload });
  }

  /** Never rejects: a permanent failure is one warning. */
  async function deliver(): Promise<void> {
    try {
      await deliverAll();
    } catch (error) {
      if (await isDeleted(error)) {
        warn(`The scan was deleted at the gateway${end === null ? ": it stops, and reports what was evaluated" : ""}`);
        cancelRequest.abort();
        return;
      }
      const state = scan === null ? "not registered" : "not complete";
      const problem = abandoned.signal.aborted ? "it does not answer" : problemOf(error);
      const what = end === null ? "The scan continues without its live view" : "Stopped trying to reach the gateway";
      warn(`${what}; the scan is ${state} at the gateway: ${problem}`);
    }
  }

  async function deliverAll(): Promise<void> {
    scan = await retryUntilAccepted((signal) => gateway.putScan(scanId, options.scan, signal));
    options.onRegistered?.(scan);
    for (;;) {
      // Read before the queue: nothing follows the end, but more results may arrive while requests are in flight.
      const isEnding: boolean = end !== null;
      await deliverQueue(queue);
      if (progress !== null) {
        queue.push(progress);
        progress = null;
        continue;
      }
      if (isEnding) break;
      if (isHeartbeatDue) await updateScan({ ...counts });
      await wake.promise;
      wake = Promise.withResolvers<void>();
    }
    await updateScan({ ...counts, ...end });
    isEndAccepted = true;
  }

  async function publish(batch: readonly NumberedEvent[]): Promise<void> {
    const channel = scan?.channel ?? "";
    if (broker === undefined) await retryUntilAccepted((signal) => gateway.publish(channel, batch, signal));
    else await publishDirectly(broker, channel, batch);
  }

  /** Never rejects: without a store, the end waits for no event. */
  async function publishDirectly(
    to: MessagePublisher,
    channel: string,
    batch: readonly NumberedEvent[],
  ): Promise<void> {
    for (let failures = 1; ; failures += 1) {
      try {
        const messages = batch.map((event) =>
          withDeliveryId(toMessage(encodeEvent(event.type, event.data)), event.delivery_id),
        );
        await Promise.all(messages.map((message) => to.publish(channel, message)));
        return;
      } catch (error) {
        if (failures > 1) warnOfRetry(error);
        if (failures >= maxBrokerFailures || ending.signal.aborted) return;
        await pause(retryDelayMs(failures), [abandoned.signal, ending.signal]);
      }
    }
  }

  /** A scan that runs is ended as cancelled just before it is deleted. */
  async function isDeleted(error: unknown): Promise<boolean> {
    if (scan === null || !(error instanceof GatewayRefusal)) return false;
    if (error.httpStatus !== 409) return isMissing(error, "scan");
    try {
      return (await gateway.readScan(scan.id, abandoned.signal)).status === "cancelled";
    } catch (failure) {
      return isDeleted(failure);
    }
  }

  async function updateScan(update: ScanUpdate): Promise<void> {
    isHeartbeatDue = false;
    const answer = await retryUntilAccepted(async (signal) => {
      try {
        return await gateway.updateScan(scanId, { status: "running", ...update }, signal);
      } catch (error) {
        if (update.status === undefined || !(error instanceof GatewayRefusal) || error.httpStatus !== 409) throw error;
        // Ended already: by us, when the response to our own request was lost.
        const state = await gateway.readScan(scanId, signal);
        if (state.status !== update.status) throw error;
        return state;
      }
    });
    if (answer.cancel_requested && end === null) cancelRequest.abort();
  }

  function warnOfRetry(error: unknown): void {
    if (hasWarnedOfRetry) return;
    hasWarnedOfRetry = true;
    warn(`The scan continues without its live view until the gateway or broker answers again: ${problemOf(error)}`);
  }
}
