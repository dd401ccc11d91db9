import { gzipSync } from "node:zlib";
import type { MessagePublisher } from "../../shared/broker.ts";
import * as v from "valibot";
import { problemOf, type RestClient } from "../../shared/client/gateway_client.ts";
import type { CheckResult, Report, StatusCounts } from "../../shared/report.ts";
import { countStates } from "../../shared/rule_result.ts";
import { scanEvents } from "../../shared/scan_events.ts";
import { maxStoredReportBytes } from "../../shared/schemas/report.ts";
import { scanSchema, type NewScan, type ScanUpdate } from "../../shared/schemas/scan.ts";
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

/** Publishes one event: its channel is known once the scan is registered. */
type Publish = (events: ReturnType<typeof scanEvents>, channel: string) => Promise<void>;

const maxErrorLength = 2048;

/** A scan at the gateway, which stores and publishes what happens while it runs. Nothing here slows or fails the scan (V5). */
export function createScanPublisher(options: ScanPublisherOptions) {
  const { gateway, broker, scanId, warn } = options;
  const { checks_total } = options.scan;
  const path = `/api/v1/scans/${scanId}`;
  const cancelRequest = new AbortController();
  const waiting: Publish[] = [
    ({ publishScanStart }, channel) => publishScanStart(channel, { scan_id: scanId, checks_total }),
  ];
  /** The newest only, after everything else: an outage leaves no backlog of it. */
  let progress: Publish | null = null;
  const evaluatedChecks = new Set<string>();
  let counts: Partial<ScanCounts> = {};
  let scan: RegisteredScan | null = null;
  let outcome: ScanUpdate | null = null;
  let isEndAccepted = false;
  const publisher = createQueuePublisher<Publish>({
    kind: "scan",
    gateway,
    ...(broker !== undefined && { broker }),
    queue: {
      first(max) {
        if (waiting.length === 0 && progress !== null) {
          waiting.push(progress);
          progress = null;
        }
        return waiting.slice(0, max);
      },
      acknowledge: ({ length }) => void waiting.splice(0, length),
    },
    heartbeatMs: options.heartbeatMs ?? 2000,
    warn,
    publish: (publisher, channel, publishOne) => publishOne(scanEvents(publisher), channel),
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
    for (const finding of result.findings) {
      const payload = toFindingCreated(scanId, result, finding);
      waiting.push(({ publishFindingCreated }, channel) => publishFindingCreated(channel, payload));
    }
    const { check, status, reason } = result;
    const payload = { scan_id: scanId, checks_done: state.checks_done, checks_total, check, status, reason };
    progress = ({ publishScanProgress }, channel) => publishScanProgress(channel, payload);
    publisher.wake();
  }

  function error(code: string, detail: string): void {
    const payload = { scan_id: scanId, code, detail: toLine(detail, maxErrorLength) };
    waiting.push(({ publishScanError }, channel) => publishScanError(channel, payload));
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
