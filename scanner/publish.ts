import { setTimeout as sleep } from "node:timers/promises";
import type { CheckResult, StatusCounts } from "../shared/report.ts";
import { GatewayRefusal, type NewScan, type RegisteredScan } from "./gateway_client.ts";
import { createOutbox, type Destinations, type ScanCounts, type ScanOutcome } from "./outbox.ts";

/**
 * The scan as others see it: registered, stored and published while it runs.
 *
 * Nothing here slows or fails a scan (V5): the methods queue and return, an outage costs the live view and one warning
 * line, and the end waits no longer than `endTimeoutMs`.
 */
export interface ScanPublisher {
  checkEvaluated(result: CheckResult, counts: ScanCounts): void;
  error(code: string, detail: string): void;
  /** The last state, then `scan.end`; resolves when they were taken, or given up. */
  end(status: ScanOutcome, counts: StatusCounts): Promise<void>;
  /** The scan as the gateway knows it; null when it was not (yet) registered. */
  registered(): RegisteredScan | null;
  /** Aborts when somebody asked the gateway to cancel the scan. */
  readonly cancelRequested: AbortSignal;
}

export interface ScanPublisherOptions {
  readonly destinations: Destinations;
  readonly scan: NewScan;
  /** Called at most once, with one line for a person. */
  readonly warn: (message: string) => void;
  /** Called once, when the gateway has registered the scan. */
  readonly onRegistered?: (scan: RegisteredScan) => void;
  readonly signOfLifeMs?: number;
  readonly endTimeoutMs?: number;
}

const retryDelaysMs = [250, 1000, 2000, 4000];

export function createScanPublisher(options: ScanPublisherOptions): ScanPublisher {
  const { destinations, warn } = options;
  const outbox = createOutbox(options.scan.checks_total);
  const cancelRequest = new AbortController();
  const givenUp = new AbortController();
  let scan: RegisteredScan | null = null;
  let isEnding = false;
  let hasWarned = false;
  let wake = Promise.withResolvers<void>();

  const signOfLife = setInterval(() => changed(() => outbox.signOfLife()), options.signOfLifeMs ?? 2000);
  signOfLife.unref();
  const delivered = deliver();

  return {
    cancelRequested: cancelRequest.signal,
    registered: () => scan,
    checkEvaluated: (result, counts) => changed(() => outbox.checkEvaluated(result, counts)),
    error: (code, detail) => changed(() => outbox.error(code, detail)),
    async end(status, counts) {
      clearInterval(signOfLife);
      isEnding = true;
      changed(() => outbox.end(status, counts));
      const deadline = new AbortController();
      const tooLate = sleep(options.endTimeoutMs ?? 5000, undefined, { signal: deadline.signal }).then(
        () => warnOnce("it did not take the end of the scan in time"),
        () => undefined,
      );
      await Promise.race([delivered, tooLate]);
      deadline.abort();
      givenUp.abort();
    },
  };

  function changed(change: () => void): void {
    change();
    wake.resolve();
  }

  /** One request at a time, so that order is kept; what could not be sent stays first in the queue. */
  async function deliver(): Promise<void> {
    for (let failures = 0; !givenUp.signal.aborted;) {
      try {
        if (await deliverNext()) failures = 0;
        else if (isEnding) return;
        else await nextChange();
      } catch (error) {
        warnOnce(problemOf(error));
        // A refusal stays a refusal, and what was never registered has no end that anybody waits for.
        if (isFinal(error) || (isEnding && scan === null)) return;
        await sleep(retryDelaysMs[Math.min(failures, retryDelaysMs.length - 1)]);
        failures += 1;
      }
    }
  }

  /** False when there is nothing left to send. */
  async function deliverNext(): Promise<boolean> {
    if (scan === null) {
      scan = await destinations.gateway.registerScan(options.scan, givenUp.signal);
      options.onRegistered?.(scan);
    }
    const delivery = outbox.next();
    if (delivery === null) return false;
    const answer = await delivery.send(destinations, scan, givenUp.signal);
    delivery.sent();
    if (answer.isCancelRequested) cancelRequest.abort();
    return true;
  }

  async function nextChange(): Promise<void> {
    await wake.promise;
    wake = Promise.withResolvers<void>();
  }

  function warnOnce(problem: string): void {
    if (hasWarned) return;
    hasWarned = true;
    warn(`The scan goes on without its live view: the gateway or broker failed: ${problem}`);
  }
}

/** What `fetch` only says in its cause: refused, reset, not found. */
function problemOf(error: unknown): string {
  if (!(error instanceof Error)) return "it cannot be reached";
  const { cause } = error;
  return cause instanceof Error && "code" in cause ? `${error.message} (${String(cause.code)})` : error.message;
}

/** 4xx but "too many": asking again would be refused again. */
function isFinal(error: unknown): boolean {
  return error instanceof GatewayRefusal && error.httpStatus < 500 && error.httpStatus !== 429;
}
