import { maxPayloadBytes } from "../../shared/event.ts";
import type { CheckResult, Finding, StatusCounts } from "../../shared/report.ts";
import { mapNotes, notesOf } from "../../shared/schemas/finding_notes.ts";
import type { scanEvents } from "../../shared/scan_events.ts";
import { toLine } from "../../shared/text.ts";
import type { RegisteredScan, FindingBody } from "./gateway_client.ts";

/** Results that are not sent to the gateway yet, in order. */
export interface Outbox {
  checkEvaluated(result: CheckResult, counts: ScanCounts): void;
  error(code: string, detail: string): void;
  /** Removes and returns the next batch; it is empty when there is nothing to send. */
  take(): OutboxBatch;
}

export interface ScanCounts extends StatusCounts {
  readonly checks_done: number;
  readonly checks_total: number;
}

/** First the findings are stored and the counts PATCHed, then the events are published: a client that refetches on an event finds its state. */
export interface OutboxBatch {
  readonly findings: readonly FindingBody[];
  /** The newest counts, when a check was finished in this batch. */
  readonly counts: ScanCounts | null;
  readonly publish: readonly PublishEvent[];
}

type ScanEventFunctions = ReturnType<typeof scanEvents>;
export type PublishEvent = (to: ScanEventFunctions, scan: RegisteredScan) => Promise<void>;

interface Entry {
  readonly finding?: FindingBody;
  readonly counts?: ScanCounts;
  readonly publish: PublishEvent;
}

/** Below the 1,000 findings that the gateway accepts, and as many as it accepts of events. */
const maxFindingsPerBatch = 500;
/** Bounds of the gateway's fields, in characters; a report has none. */
const maxNameChars = 1000;
const maxDetailChars = 4000;

export function createOutbox(): Outbox {
  let entries: Entry[] = [];
  /** For the newest check only: an outage leaves no backlog of progress. */
  let progress: Entry | null = null;

  return {
    checkEvaluated(result, counts) {
      for (const finding of result.findings) {
        const stored = toStored(result, finding);
        entries.push({ finding: stored, publish: (to, scan) => publishFinding(to, scan, stored) });
      }
      const { checks_done, checks_total } = counts;
      const { check, status, reason } = result;
      progress = {
        counts,
        publish: (to, scan) =>
          to.publishScanProgress(scan.channel, { scan_id: scan.id, checks_done, checks_total, check, status, reason }),
      };
    },

    error(code, detail) {
      const line = toLine(detail, maxDetailChars);
      entries.push({
        publish: (to, scan) => to.publishScanError(scan.channel, { scan_id: scan.id, code, detail: line }),
      });
    },

    take() {
      const taken = entries.slice(0, maxFindingsPerBatch);
      entries = entries.slice(maxFindingsPerBatch);
      const newest = entries.length === 0 ? progress : null;
      if (newest !== null) progress = null;
      const events = newest === null ? taken : [...taken, newest];
      return {
        findings: taken.flatMap(({ finding }) => (finding === undefined ? [] : [finding])),
        counts: newest?.counts ?? null,
        publish: events.map(({ publish }) => publish),
      };
    },
  };
}

/** Within the gateway's bounds, regardless of the evidence held: one odd name must not cost a scan its results. */
function toStored(result: CheckResult, finding: Finding): FindingBody {
  const { status, reason, resource, expected, actual, detail, fingerprint, automated, advisory } = finding;
  return {
    fingerprint,
    check: result.check,
    status,
    reason,
    severity: result.severity,
    resource_type: toLine(resource.type, maxNameChars),
    resource_id: toLine(resource.id, maxNameChars),
    resource_name: toLine(resource.name, maxNameChars),
    expected: toLine(expected, maxDetailChars),
    actual: toLine(actual, maxDetailChars),
    detail: toLine(detail, maxDetailChars),
    automated,
    cause: finding.cause,
    ...mapNotes(() => null),
    ...notesOf(finding, maxDetailChars),
    advisory,
  };
}

/** Carries the whole finding, so that nobody has to read it again, unless its long texts do not fit into an event. */
function publishFinding(to: ScanEventFunctions, scan: RegisteredScan, finding: FindingBody): Promise<void> {
  const whole = { scan_id: scan.id, ...finding };
  if (Buffer.byteLength(JSON.stringify(whole)) <= maxPayloadBytes) {
    return to.publishFindingCreated(scan.channel, whole);
  }
  const { scan_id, check, status, reason, severity, resource_name, detail, fingerprint, automated, advisory } = whole;
  const short = { scan_id, check, status, reason, severity, resource_name, detail, fingerprint, automated, advisory };
  return to.publishFindingCreated(scan.channel, short);
}
