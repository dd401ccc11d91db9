import type { CheckResult, Finding, StatusCounts } from "../shared/report.ts";
import {
  publishFindingCreated,
  publishScanEnd,
  publishScanError,
  publishScanProgress,
  publishScanStart,
} from "../shared/scan_events.ts";
import type { Publisher } from "../shared/broker.ts";
import type { GatewayClient, RegisteredScan, ScanUpdate, StoredFinding } from "./gateway_client.ts";

/** What is still to be told about a scan, in the order in which it must be told. */
export interface Outbox {
  checkEvaluated(result: CheckResult, counts: ScanCounts): void;
  error(code: string, detail: string): void;
  end(status: ScanOutcome, counts: StatusCounts): void;
  /** An update with nothing new in it: a sign of life, which also brings back whether a cancel was requested. */
  signOfLife(): void;
  /** The next thing to send, null when all was sent. Send it, then call `sent`; without that it comes again. */
  next(): Delivery | null;
}

export type ScanOutcome = "completed" | "cancelled" | "failed";

export interface ScanCounts extends StatusCounts {
  readonly checks_done: number;
  readonly checks_total: number;
}

export interface Delivery {
  send(to: Destinations, scan: RegisteredScan, signal: AbortSignal): Promise<DeliveryAnswer>;
  sent(): void;
}

export interface Destinations {
  readonly gateway: GatewayClient;
  readonly publisher: Publisher;
}

export interface DeliveryAnswer {
  readonly isCancelRequested: boolean;
}

type Publish = (publisher: Publisher, scan: RegisteredScan) => Promise<void>;

/** Finding events that may wait; over it they are left out of the live view (they are stored all the same) and one event says how many. */
const maxWaitingEvents = 1000;
const eventsBetweenProgress = 10;
/** Far below the 1,000 that the gateway takes, so that one body stays small. */
const findingsPerRequest = 200;
/** In characters: an event has a bound, the provider's texts have none. */
const maxDetailLength = 4000;

/** Memory is bounded: findings are the report's own, events have a maximum, state and progress keep only the newest. */
export function createOutbox(checksTotal: number): Outbox {
  const findings: StoredFinding[] = [];
  const events: Publish[] = [
    (to, scan) => publishScanStart(to, scan.channel, { scan_id: scan.id, checks_total: checksTotal }),
  ];
  let state: ScanUpdate | null = { status: "running", checks_done: 0, checks_total: checksTotal };
  let progress: Publish | null = null;
  let end: Publish | null = null;
  let omitted = 0;
  let eventsSinceProgress = 0;

  function push(event: Publish): void {
    if (events.length < maxWaitingEvents) events.push(event);
    else omitted += 1;
  }

  return {
    checkEvaluated(result, counts) {
      for (const finding of result.findings) {
        findings.push(toStored(result, finding));
        push((to, scan) => publishFinding(to, scan, result, finding));
      }
      state = { ...state, ...counts };
      const { checks_done, checks_total } = counts;
      const { check, status } = result;
      progress = (to, scan) =>
        publishScanProgress(to, scan.channel, { scan_id: scan.id, checks_done, checks_total, check, status });
    },

    error(code, detail) {
      push((to, scan) => publishScanError(to, scan.channel, { scan_id: scan.id, code, detail: shorten(detail) }));
    },

    end(status, counts) {
      state = { ...state, ...counts, status };
      end = (to, scan) => publishScanEnd(to, scan.channel, { scan_id: scan.id, status, ...counts });
    },

    signOfLife() {
      state ??= {};
    },

    // What is stored goes before what is published: who refetches on an event finds it. The end is the last of all.
    next: () => nextFindings() ?? nextState() ?? nextLive() ?? nextOmission() ?? nextEnd(),
  };

  function nextFindings(): Delivery | null {
    if (findings.length === 0) return null;
    const batch = findings.slice(0, findingsPerRequest);
    return {
      async send({ gateway }, scan, signal) {
        await gateway.storeFindings(scan.id, batch, signal);
        return { isCancelRequested: false };
      },
      sent: () => void findings.splice(0, batch.length),
    };
  }

  function nextState(): Delivery | null {
    if (state === null) return null;
    const update = state;
    return {
      async send({ gateway }, scan, signal) {
        const answer = await gateway.updateScan(scan.id, update, signal);
        return { isCancelRequested: answer.cancel_requested && update.status !== "cancelled" };
      },
      sent: () => {
        if (state === update) state = null;
      },
    };
  }

  /** Progress goes out in between, so that a long queue of findings never looks like a scan that stands still. */
  function nextLive(): Delivery | null {
    const isProgressDue = events.length === 0 || eventsSinceProgress >= eventsBetweenProgress;
    return isProgressDue ? (nextProgress() ?? nextEvent()) : nextEvent();
  }

  function nextEvent(): Delivery | null {
    const [event] = events;
    if (event === undefined) return null;
    return publishing(event, () => {
      events.shift();
      eventsSinceProgress += 1;
    });
  }

  function nextOmission(): Delivery | null {
    if (omitted === 0) return null;
    const count = omitted;
    const detail = `${count} findings were stored without an event of their own`;
    return publishing(
      (to, scan) => publishScanError(to, scan.channel, { scan_id: scan.id, code: "events_omitted", detail }),
      () => {
        omitted -= count;
      },
    );
  }

  function nextProgress(): Delivery | null {
    const newest = progress;
    if (newest === null) return null;
    return publishing(newest, () => {
      eventsSinceProgress = 0;
      if (progress === newest) progress = null;
    });
  }

  function nextEnd(): Delivery | null {
    return end === null
      ? null
      : publishing(end, () => {
          end = null;
        });
  }
}

function publishing(publish: Publish, sent: () => void): Delivery {
  return {
    async send({ publisher }, scan) {
      await publish(publisher, scan);
      return { isCancelRequested: false };
    },
    sent,
  };
}

function toStored(result: CheckResult, finding: Finding): StoredFinding {
  const { status, reason, resource, expected, actual, detail, fingerprint } = finding;
  return {
    fingerprint,
    check: result.check,
    status,
    reason,
    severity: result.severity,
    resource_type: resource.type,
    resource_id: resource.id,
    resource_name: resource.name,
    expected: shorten(expected),
    actual: shorten(actual),
    detail: shorten(detail),
  };
}

function publishFinding(to: Publisher, scan: RegisteredScan, result: CheckResult, finding: Finding): Promise<void> {
  return publishFindingCreated(to, scan.channel, {
    scan_id: scan.id,
    check: result.check,
    status: finding.status,
    severity: result.severity,
    resource_name: shorten(finding.resource.name),
    detail: shorten(finding.detail),
    fingerprint: finding.fingerprint,
  });
}

function shorten(text: string): string {
  return text.length > maxDetailLength ? `${text.slice(0, maxDetailLength - 1)}…` : text;
}
