import { gzipSync } from "node:zlib";
import { vulnIdOf } from "../../shared/rule_names.ts";
import { pause } from "../../shared/abortable.ts";
import type { MessagePublisher } from "../../shared/broker.ts";
import type { CheckResult, Report } from "../../shared/report.ts";
import { countStates } from "../../shared/rule_result.ts";
import type { ScanUpdate } from "../../shared/schemas/scan_requests.ts";
import { maxStoredReportBytes } from "../../shared/schemas/report.ts";
import { scanEvents } from "../../shared/scan_events.ts";
import { createPublisher } from "../../shared/send_event.ts";
import { createEventQueue, retryDelayMs } from "./event_queue.ts";
import { GatewayRefusal, problemOf } from "../../command_line/gateway_call.ts";
import {
  createRetry,
  isMissing,
  storeAccepted,
  type GatewayClient,
  type RegisteredScan,
  type ScanBody,
  type FindingBody,
} from "./gateway_client.ts";
import { createOutbox, type ScanCounts } from "./outbox.ts";

/**
 * Registers, stores and publishes the scan at the gateway while it runs.
 *
 * Nothing here slows or fails a scan (V5): the methods queue and return, an outage costs the live view and a warning
 * line, and `end` gives up once the gateway has accepted nothing for `endTimeoutMs`.
 */
export interface ScanPublisher {
  checkEvaluated(result: CheckResult, counts: ScanCounts): void;
  error(code: string, detail: string): void;
  /**
   * Stores what is not stored yet, then the end; the gateway publishes `scan.end`. Events that are not accepted soon
   * after the last result was stored are dropped: the end never waits for them. Resolves when it was accepted or given up.
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

export type ScanOutcome = "completed" | "cancelled" | "failed";

export interface ScanPublisherOptions {
  readonly gateway: GatewayClient;
  readonly broker: MessagePublisher;
  /** A UUID; sent with the registration, so that its retry registers no second scan. */
  readonly scanId: string;
  readonly scan: ScanBody;
  /**
   * Called with one line for a person: once at the first retry, once when the gateway was given up, and for each finding
   * that it refused.
   */
  readonly warn: (message: string) => void;
  readonly onRegistered?: (scan: RegisteredScan) => void;
  readonly heartbeatMs?: number;
  /** While ending: how long the gateway may accept nothing. Longer than one call's timeout, so that a call is retried. */
  readonly endTimeoutMs?: number;
  /** After the last result was stored: how long events may still be queued. */
  readonly eventGraceMs?: number;
}

/** At the end of a scan: failures in a row after which a gateway that never responded is given up. */
const maxRegistrationFailures = 3;

export function createScanPublisher(options: ScanPublisherOptions): ScanPublisher {
  const { gateway, warn } = options;
  const outbox = createOutbox();
  const cancelRequest = new AbortController();
  const abandoned = new AbortController();
  const queue = createEventQueue({
    broker: options.broker,
    producerId: options.scanId,
    onFailure: (error, failures) => {
      if (failures > 1) warnOfRetry(error);
    },
  });
  const events = scanEvents(createPublisher(queue));
  let scan: RegisteredScan | null = null;
  let end: ScanUpdate | null = null;
  let isEndAccepted = false;
  let isHeartbeatDue = true;
  let checksDone = 0;
  let lastSuccessMs = 0;
  let hasWarnedOfRetry = false;
  let wake = Promise.withResolvers<void>();
  const evaluatedChecks = new Set<string>();
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

  const heartbeat = setInterval(() => {
    isHeartbeatDue = true;
    wake.resolve();
  }, options.heartbeatMs ?? 2000);
  heartbeat.unref();
  const delivered = deliver().finally(() => {
    clearInterval(heartbeat);
    queue.close();
  });

  return {
    cancelRequested: cancelRequest.signal,
    registered: () => scan,
    checkEvaluated,
    error(code, detail) {
      outbox.error(code, detail);
      wake.resolve();
    },
    async end(status, results) {
      const checks_total = options.scan.checks_total;
      // A cancelled scan's report has a result for every check, also for the ones that were never evaluated.
      for (const [index, result] of results.entries()) {
        if (evaluatedChecks.has(result.check)) continue;
        const counts = countStates(results.slice(0, index + 1));
        checkEvaluated(result, { checks_done: checksDone + 1, checks_total, ...counts });
      }
      end = { status, checks_done: checksDone, ...countStates(results) };
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
      const body = gzipSync(JSON.stringify(report));
      if (body.length > maxStoredReportBytes) {
        warn(
          `The report was not stored at the gateway: it has ${mebibytes(body.length)} compressed, at most ${mebibytes(maxStoredReportBytes)} are kept`,
        );
        return;
      }
      const deadlineMs = Date.now() + endTimeoutMs(report.scan.status);
      const retryUntilDeadline = createRetry(new AbortController().signal, {
        onAccepted() {},
        async beforeRetry(error, failures) {
          if (Date.now() + retryDelayMs(failures) >= deadlineMs) throw error;
          await pause(retryDelayMs(failures), []);
        },
      });
      try {
        await retryUntilDeadline((signal) => gateway.storeReport(options.scanId, body, signal));
      } catch (error) {
        warn(`The report was not stored at the gateway: ${problemOf(error)}`);
      }
    },
  };

  /** A user who has interrupted the scan waits for this. */
  function endTimeoutMs(status: ScanOutcome): number {
    return options.endTimeoutMs ?? (status === "cancelled" ? 4000 : 6000);
  }

  function checkEvaluated(result: CheckResult, counts: ScanCounts): void {
    evaluatedChecks.add(result.check);
    checksDone = counts.checks_done;
    outbox.checkEvaluated(result, counts);
    wake.resolve();
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
    scan = await retryUntilAccepted((signal) => gateway.putScan(options.scanId, options.scan, signal));
    options.onRegistered?.(scan);
    void events.publishScanStart(scan.channel, { scan_id: scan.id, checks_total: options.scan.checks_total });
    for (;;) {
      // Read before `take`: nothing follows the end, but more results may arrive while requests are in flight.
      const isEnding: boolean = end !== null;
      const { findings, counts, publish } = outbox.take();
      if (findings.length > 0) await storeFindings(scan.id, findings);
      if (counts !== null || (isHeartbeatDue && !isEnding)) await updateScan(scan.id, { ...counts });
      for (const each of publish) void each(events, scan);
      if (publish.length > 0) continue;
      if (isEnding) break;
      await wake.promise;
      wake = Promise.withResolvers<void>();
    }
    if (queue.droppedCount > 0) {
      const detail = `${queue.droppedCount} findings were stored without a separate event`;
      void events.publishScanError(scan.channel, { scan_id: scan.id, code: "events_omitted", detail });
    }
    await queue.drained(AbortSignal.any([abandoned.signal, AbortSignal.timeout(options.eventGraceMs ?? 1000)]));
    await updateScan(scan.id, end ?? {});
    isEndAccepted = true;
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

  async function updateScan(scanId: string, update: ScanUpdate): Promise<void> {
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

  async function storeFindings(scanId: string, findings: readonly FindingBody[]): Promise<void> {
    await storeAccepted(
      findings,
      (batch) => retryUntilAccepted((signal) => gateway.storeFindings(scanId, batch, signal)),
      ({ check }, problem) => warn(`A finding of ${vulnIdOf(check)} was not stored: ${problem}`),
    );
  }

  function warnOfRetry(error: unknown): void {
    if (hasWarnedOfRetry) return;
    hasWarnedOfRetry = true;
    warn(`The scan continues without its live view until the gateway or broker answers again: ${problemOf(error)}`);
  }
}

function mebibytes(bytes: number): string {
  return `${(bytes / 1_048_576).toFixed(1)} MiB`;
}
