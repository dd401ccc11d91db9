import { errorCode } from "../../shared/error_code.ts";
import { pause } from "../../shared/abortable.ts";
import type { Publisher } from "../../shared/broker.ts";
import { countStatuses, type CheckResult } from "../../shared/report.ts";
import type { ScanUpdate } from "../../shared/schemas/scan_requests.ts";
import { publishScanError, publishScanStart } from "../../shared/scan_events.ts";
import { createEventQueue, retryDelayMs } from "./event_queue.ts";
import {
  GatewayRefusal,
  type GatewayClient,
  type RegisteredScan,
  type ScanBody,
  type FindingBody,
} from "./gateway_client.ts";
import { createOutbox, type ScanCounts } from "./outbox.ts";

/**
 * The scan as others see it: registered, stored and published while it runs.
 *
 * Nothing here slows or fails a scan (V5): the methods queue and return, an outage costs the live view and a warning
 * line, and `end` gives up once the gateway has taken nothing for `endTimeoutMs`.
 */
export interface ScanPublisher {
  checkEvaluated(result: CheckResult, counts: ScanCounts): void;
  error(code: string, detail: string): void;
  /**
   * Stores what is not stored yet, then the end; the gateway publishes `scan.end`. Events that are not taken soon after
   * the last result was stored are dropped: the end never waits for them. Resolves when it was taken, or given up.
   */
  end(status: ScanOutcome, results: readonly CheckResult[]): Promise<void>;
  /** The scan as the gateway knows it; null when it was not (yet) registered. */
  registered(): RegisteredScan | null;
  /** Aborts when a client asked the gateway to cancel the scan. */
  readonly cancelRequested: AbortSignal;
}

export type ScanOutcome = "completed" | "cancelled" | "failed";

export interface ScanPublisherOptions {
  readonly gateway: GatewayClient;
  readonly publisher: Publisher;
  /** A UUID; sent with the registration, so that sending it again registers no second scan. */
  readonly scanId: string;
  readonly scan: ScanBody;
  /**
   * Called with one line for a person: once when something has to be tried again, once when the gateway was given up, and
   * for each finding that it refused.
   */
  readonly warn: (message: string) => void;
  /** Called once, when the gateway has registered the scan. */
  readonly onRegistered?: (scan: RegisteredScan) => void;
  readonly heartbeatMs?: number;
  /** While ending: how long the gateway may take nothing. Longer than one call may take, so that it is tried again. */
  readonly endTimeoutMs?: number;
  /** After the last result was stored: how long events may still wait. */
  readonly eventGraceMs?: number;
}

/** Failures in a row after which a gateway that never answered counts as not there. */
const failuresWhenNotThere = 3;

export function createScanPublisher(options: ScanPublisherOptions): ScanPublisher {
  const { gateway, warn } = options;
  const outbox = createOutbox();
  const cancelRequest = new AbortController();
  const givenUp = new AbortController();
  const queue = createEventQueue({
    publisher: options.publisher,
    producerId: options.scanId,
    onFailure: (error, failures) => {
      if (failures > 1) warnOfRetry(error);
    },
  });
  let scan: RegisteredScan | null = null;
  let end: ScanUpdate | null = null;
  let isHeartbeatDue = true;
  let checksDone = 0;
  let lastSuccessMs = 0;
  let hasWarnedOfRetry = false;
  let wake = Promise.withResolvers<void>();
  const seenChecks = new Set<string>();

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
      // A cancelled scan's report has a result for every check, also for those that were never evaluated.
      for (const [index, result] of results.entries()) {
        if (seenChecks.has(result.check)) continue;
        const counts = countStatuses(results.slice(0, index + 1));
        checkEvaluated(result, { checks_done: checksDone + 1, checks_total, ...counts });
      }
      end = { status, checks_done: checksDone, ...countStatuses(results) };
      wake.resolve();
      lastSuccessMs = Date.now();
      // A person who has interrupted the scan waits for it.
      const timeoutMs = options.endTimeoutMs ?? (status === "cancelled" ? 4000 : 6000);
      const watchdog = setInterval(() => {
        if (Date.now() - lastSuccessMs >= timeoutMs) givenUp.abort();
      }, 50);
      await delivered;
      clearInterval(watchdog);
    },
  };

  function checkEvaluated(result: CheckResult, counts: ScanCounts): void {
    seenChecks.add(result.check);
    checksDone = counts.checks_done;
    outbox.checkEvaluated(result, counts);
    wake.resolve();
  }

  /** Never rejects: a failure that no retry mends is one warning. */
  async function deliver(): Promise<void> {
    try {
      await deliverAll();
    } catch (error) {
      const state = scan === null ? "not registered" : "not complete";
      const problem = givenUp.signal.aborted ? "it does not answer" : problemOf(error);
      const what = end === null ? "The scan goes on without its live view" : "The gateway was given up";
      warn(`${what}, and the scan is ${state} there: ${problem}`);
    }
  }

  async function deliverAll(): Promise<void> {
    scan = await untilTaken((signal) => gateway.putScan(options.scanId, options.scan, signal));
    options.onRegistered?.(scan);
    void publishScanStart(queue, scan.channel, { scan_id: scan.id, checks_total: options.scan.checks_total });
    for (;;) {
      // Before what there is is taken: nothing comes after the end, but much may come while requests are answered.
      const isEnding: boolean = end !== null;
      const { findings, counts, events } = outbox.take();
      if (findings.length > 0) await storeFindings(scan.id, findings);
      if (counts !== null || (isHeartbeatDue && !isEnding)) await updateScan(scan.id, { ...counts });
      for (const publish of events) void publish(queue, scan);
      if (events.length > 0) continue;
      if (isEnding) break;
      await wake.promise;
      wake = Promise.withResolvers<void>();
    }
    if (queue.omittedCount > 0) {
      const detail = `${queue.omittedCount} findings were stored without an event of their own`;
      void publishScanError(queue, scan.channel, { scan_id: scan.id, code: "events_omitted", detail });
    }
    await queue.drained(AbortSignal.any([givenUp.signal, AbortSignal.timeout(options.eventGraceMs ?? 1000)]));
    await updateScan(scan.id, end ?? {});
  }

  async function updateScan(scanId: string, update: ScanUpdate): Promise<void> {
    isHeartbeatDue = false;
    const answer = await untilTaken(async (signal) => {
      try {
        return await gateway.updateScan(scanId, { status: "running", ...update }, signal);
      } catch (error) {
        if (update.status === undefined || !(error instanceof GatewayRefusal) || error.httpStatus !== 409) throw error;
        // Ended already: by us, when the answer to our own request was lost.
        const state = await gateway.readScan(scanId, signal);
        if (state.status !== update.status) throw error;
        return state;
      }
    });
    if (answer.cancel_requested && end === null) cancelRequest.abort();
  }

  /** A finding that the gateway refuses for what is in it costs itself alone: the batch around it is sent in halves. */
  async function storeFindings(scanId: string, findings: readonly FindingBody[]): Promise<void> {
    try {
      await untilTaken((signal) => gateway.storeFindings(scanId, findings, signal));
    } catch (error) {
      if (!(error instanceof GatewayRefusal) || (error.httpStatus !== 422 && error.httpStatus !== 413)) throw error;
      if (findings.length === 1) {
        warn(`A finding of ${findings[0]?.check ?? ""} was not stored: ${error.message}`);
        return;
      }
      const half = Math.ceil(findings.length / 2);
      await storeFindings(scanId, findings.slice(0, half));
      await storeFindings(scanId, findings.slice(half));
    }
  }

  /** Sends until the gateway has answered. Rejects with a refusal that stays one, and when it was given up. */
  async function untilTaken<Answer>(send: (signal: AbortSignal) => Promise<Answer>): Promise<Answer> {
    for (let failures = 1; ; failures += 1) {
      givenUp.signal.throwIfAborted();
      try {
        const answer = await send(givenUp.signal);
        lastSuccessMs = Date.now();
        return answer;
      } catch (error) {
        if (givenUp.signal.aborted || isFinal(error)) throw error;
        if (failures > 1) warnOfRetry(error);
        if (end !== null && scan === null && failures >= failuresWhenNotThere) throw error;
        await pause(retryDelayMs(failures), [givenUp.signal]);
      }
    }
  }

  function warnOfRetry(error: unknown): void {
    if (hasWarnedOfRetry) return;
    hasWarnedOfRetry = true;
    warn(`The scan goes on without its live view until the gateway or broker answers again: ${problemOf(error)}`);
  }
}

/** What `fetch` only says in its cause: refused, reset, not found. */
function problemOf(error: unknown): string {
  if (!(error instanceof Error)) return "it cannot be reached";
  const code = errorCode(error.cause);
  return code === null ? error.message : `${error.message} (${code})`;
}

/** 4xx but "too many": asking again would be refused again. */
function isFinal(error: unknown): boolean {
  return error instanceof GatewayRefusal && error.httpStatus < 500 && error.httpStatus !== 429;
}
