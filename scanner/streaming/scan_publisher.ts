import { gzipSync } from "node:zlib";
import type { MessagePublisher } from "../../shared/broker.ts";
import * as v from "valibot";
import { problemOf, type RestClient } from "../../shared/client/gateway_client.ts";
import type { CheckResult, Report, StatusCounts } from "../../shared/report.ts";
import { countStates } from "../../shared/rule_result.ts";
import { maxStoredReportBytes } from "../../shared/schemas/report.ts";
import { scanSchema, type NewScan, type ScanEvents, type ScanUpdate } from "../../shared/schemas/scan.ts";
import { toLine } from "../../shared/text.ts";
import { toFindingCreated } from "./finding_created.ts";
import { createQueuePublisher, hasEnded, isMissing } from "./publisher.ts";

export type ScanPublisher = ReturnType<typeof createScanPublisher>;

export interface ScanCounts extends StatusCounts {
  readonly checks_done: number;
  readonly checks_total: number;
}

export type ScanOutcome = "completed" | "cancelled" | "failed";

export interface ScanPublisherOptions {
  readonly gateway: RestClient;
  /** Given: events go to it directly, and nobody stores them. */
  readonly broker?: MessagePublisher;
  /** A UUID; sent with the registration, so that its retry registers no second scan. */
  readonly scanId: string;
  readonly scan: Required<NewScan>;
  /**
   * Called with one line for a person: once at the first retry, once when the gateway was given up, and for the first
   * findings that it refused.
   */
  readonly warn: (message: string) => void;
  readonly onRegistered?: (scan: RegisteredScan) => void;
  readonly heartbeatMs?: number;
  /** While ending: how long the gateway may accept nothing. Longer than one call's timeout, so that a call is retried. */
  readonly endTimeoutMs?: number;
}

/** Only what is used: a gateway of another release may answer other fields differently. */
const registeredSchema = v.pick(scanSchema, ["id", "tenant_id", "channel"]);
const stateSchema = v.object({
  status: v.fallback(v.string(), ""),
  cancel_requested: v.fallback(v.boolean(), false),
});

type RegisteredScan = v.InferOutput<typeof registeredSchema>;

type ScanEvent = { [Type in keyof ScanEvents]: { type: Type; payload: ScanEvents[Type] } }[keyof ScanEvents];

const maxErrorLength = 2048;

/** A scan at the gateway, which stores and publishes what happens while it runs. Nothing here slows or fails the scan (V5). */
export function createScanPublisher(options: ScanPublisherOptions) {
  const { gateway, broker, scanId, warn } = options;
  const { checks_total } = options.scan;
  const path = `/api/v1/scans/${scanId}`;
  const cancelRequest = new AbortController();
  const events: ScanEvent[] = [{ type: "scan.start", payload: { scan_id: scanId, checks_total } }];
  /** The newest only, after everything else: an outage leaves no backlog of it. */
  let progress: ScanEvent | null = null;
  const evaluatedChecks = new Set<string>();
  let counts: Partial<ScanCounts> = {};
  let scan: RegisteredScan | null = null;
  let outcome: ScanUpdate | null = null;
  let isEndAccepted = false;
  const publisher = createQueuePublisher<ScanEvent>({
    kind: "scan",
    gateway,
    ...(broker !== undefined && { broker }),
    queue: {
      first(max) {
        if (events.length === 0 && progress !== null) {
          events.push(progress);
          progress = null;
        }
        return events.slice(0, max);
      },
      acknowledge: ({ length }) => void events.splice(0, length),
    },
    heartbeatMs: options.heartbeatMs ?? 2000,
    warn,
    toEvent: (event) => event,
    async register(signal) {
      scan = await gateway.ask("PUT", path, registeredSchema, { body: options.scan, signal });
      options.onRegistered?.(scan);
      return scan.channel;
    },
    async update(signal) {
      const body: ScanUpdate = { status: "running", ...counts };
      const { cancel_requested } = await gateway.ask("PATCH", path, stateSchema, { body, signal });
      if (cancel_requested && outcome === null && !cancelRequest.signal.aborted) stop("cancelled");
    },
    async end(signal) {
      try {
        await gateway.send("PATCH", path, { body: { ...counts, ...outcome }, signal });
      } catch (error) {
        // Ended already: by us, when the response to our own request was lost.
        if (!hasEnded(error) || (await gateway.get(path, stateSchema, signal)).status !== outcome?.status) throw error;
      }
    },
    async isGone(error, signal) {
      if (scan === null || !(await isDeleted(error, signal))) return false;
      stop("deleted");
      return true;
    },
  });
  publisher.requestUpdate();
  return {
    /** Aborts when a client has requested the scan's cancellation at the gateway, or has deleted it there. */
    cancelRequested: cancelRequest.signal,
    /** The scan at the gateway; null until it is registered. */
    registered: () => scan,
    checkEvaluated,
    error,
    end,
    storeReport,
  };

  function checkEvaluated(result: CheckResult, state: ScanCounts): void {
    evaluatedChecks.add(result.check);
    counts = state;
    for (const finding of result.findings)
      events.push({ type: "finding.created", payload: toFindingCreated(scanId, result, finding) });
    const { check, status, reason } = result;
    const { checks_done } = state;
    progress = {
      type: "scan.progress",
      payload: { scan_id: scanId, checks_done, checks_total, check, status, reason },
    };
    publisher.wake();
  }

  function error(code: string, detail: string): void {
    events.push({ type: "scan.error", payload: { scan_id: scanId, code, detail: toLine(detail, maxErrorLength) } });
    publisher.wake();
  }

  /** Sends what is not stored yet, then the end; the gateway publishes `scan.end`. Resolves when it was accepted or given up. */
  async function end(status: ScanOutcome, results: readonly CheckResult[]): Promise<void> {
    // The report of a cancelled scan names every check; here only those count that it reached.
    const reached = results.filter(({ reason, attestation }) => reason !== "interrupted" || attestation !== null);
    for (const [index, result] of reached.entries()) {
      if (evaluatedChecks.has(result.check)) continue;
      const state = countStates(reached.slice(0, index + 1));
      checkEvaluated(result, { checks_done: evaluatedChecks.size + 1, checks_total, ...state });
    }
    outcome = { status, checks_done: evaluatedChecks.size, ...countStates(reached) };
    isEndAccepted = await publisher.end(endTimeoutMs(status));
  }

  /**
   * Stores the finished report after an end that was accepted: the gateway's clients write any format from it. Resolves when it was
   * accepted or given up, which is one warning.
   */
  async function storeReport(report: Report): Promise<void> {
    if (!isEndAccepted) return;
    const body = gzipSync(JSON.stringify(report));
    try {
      if (body.length > maxStoredReportBytes)
        throw new RangeError(
          `it has ${toMiB(body.length)} compressed, at most ${toMiB(maxStoredReportBytes)} are kept`,
        );
      const send = () => gateway.send("PUT", `${path}/report`, { body });
      await publisher.sendLast(send, endTimeoutMs(report.scan.status));
    } catch (problem) {
      warn(`The report was not stored at the gateway: ${problemOf(problem)}`);
    }
  }

  /** Says at the terminal that it was not its own user. */
  function stop(done: "cancelled" | "deleted"): void {
    const consequence = outcome === null ? ": it stops, and reports what was evaluated" : "";
    warn(`The scan was ${done} at the gateway${consequence}`);
    cancelRequest.abort();
  }

  /** A user who has interrupted the scan waits for this. */
  function endTimeoutMs(status: ScanOutcome): number {
    return options.endTimeoutMs ?? (status === "cancelled" ? 4000 : 6000);
  }

  /** A scan that runs is ended as cancelled just before it is deleted. */
  async function isDeleted(error: unknown, signal: AbortSignal): Promise<boolean> {
    if (!hasEnded(error)) return isMissing(error, "scan");
    try {
      return (await gateway.get(path, stateSchema, signal)).status === "cancelled";
    } catch (failure) {
      return isMissing(failure, "scan");
    }
  }
}

function toMiB(bytes: number): string {
  return `${(bytes / 1_048_576).toFixed(1)} MiB`;
}
