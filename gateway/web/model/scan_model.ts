import type { Severity, StatusCounts } from "../../../shared/report.ts";
import { countStates, ruleStates, stateOf, type RuleState, type Verdict } from "../../../shared/rule_result.ts";
import { mapNotes } from "../../../shared/schemas/finding_notes.ts";
import {
  isEnded,
  parseFinding,
  parseVerdict,
  toCounts,
  toRecord,
  toText,
  type FindingRecord,
  type Scan,
  type ScanStatus,
} from "../scan_wire.ts";

export interface Finding extends FindingRecord {
  /** Its place in the order of arrival. */
  readonly order: number;
  /** Since when a monitor knows this verdict; null: since it began to look. */
  readonly sinceMs?: number | null;
}

export interface CheckState {
  readonly check: string;
  readonly state: RuleState;
  readonly severity: Severity | null;
  readonly findingCount: number;
  readonly order: number;
}

export interface ScanProblem {
  readonly code: string;
  readonly detail: string;
}

/**
 * What the page knows of one scan, put together from state (REST) and events. State wins where both speak of the same
 * finding, because it says more; an event that arrives later wins again, because it is newer.
 */
export interface ScanModel {
  readonly scan: Scan | null;
  readonly findings: ReadonlyMap<string, Finding>;
  readonly checks: ReadonlyMap<string, CheckState>;
  readonly problems: readonly ScanProblem[];
  /** Some findings came as events only and lack what REST knows of them. */
  readonly isIncomplete: boolean;
  setScan(scan: Scan): void;
  mergeFindings(findings: readonly FindingRecord[]): void;
  applyEvent(type: string, data: object): void;
}

/** What does not apply is worse than a pass: a check of both has not been shown to pass. */
const worstFirst: readonly RuleState[] = ["fail", "manual", "not_applicable", "pass"];
const maxProblems = 50;

/** The state of a check whose findings are in these. */
export function worstState(states: readonly RuleState[]): RuleState {
  return worstFirst.find((state) => states.includes(state)) ?? "manual";
}

export function createScanModel(): ScanModel {
  const findings = new Map<string, Finding>();
  const checks = new Map<string, CheckState>();
  const statusCounts = new Map<string, Record<RuleState | "advisory", number>>();
  const problems: ScanProblem[] = [];
  const incomplete = new Set<string>();
  let scan: Scan | null = null;

  function mergeFinding(record: FindingRecord): void {
    const known = findings.get(record.fingerprint);
    const merged =
      known === undefined
        ? record
        : {
            ...record,
            expected: record.expected ?? known.expected,
            actual: record.actual ?? known.actual,
            resource_type: record.resource_type ?? known.resource_type,
            resource_id: record.resource_id ?? known.resource_id,
            ...(record.expected === null && onlyStored(known)),
          };
    if (merged.expected === null) incomplete.add(record.fingerprint);
    else incomplete.delete(record.fingerprint);
    if (known !== undefined) count(known, -1);
    count(record, 1);
    findings.set(record.fingerprint, { ...merged, order: known?.order ?? findings.size });
    updateCheck(record.check, record.severity, null);
  }

  function count(finding: FindingRecord, step: number): void {
    const { check, advisory } = finding;
    const counts = statusCounts.get(check) ?? noFindings();
    counts[advisory ? "advisory" : stateOf(finding)] += step;
    statusCounts.set(check, counts);
  }

  /** A check is as bad as its worst finding; what a progress event said counts only while no finding is known. */
  function updateCheck(check: string, severity: Severity | null, said: Verdict | null): void {
    const known = checks.get(check);
    const counts = statusCounts.get(check) ?? noFindings();
    const found = worstFirst.find((candidate) => counts[candidate] > 0);
    const state = found ?? (said === null ? (known?.state ?? "manual") : stateOf(said));
    checks.set(check, {
      check,
      state,
      severity: severity ?? known?.severity ?? null,
      findingCount: sum(Object.values(counts)),
      order: known?.order ?? checks.size,
    });
  }

  return {
    get scan() {
      return scan;
    },
    findings,
    checks,
    problems,
    get isIncomplete() {
      return incomplete.size > 0;
    },
    setScan(next) {
      scan = scan === null ? next : mergeScan(scan, next);
    },
    mergeFindings(records) {
      for (const record of records) mergeFinding(record);
    },
    applyEvent(type, data) {
      const fields = toRecord(data);
      if (type === "finding.created") mergeFinding(parseFinding(data));
      const said = type === "scan.progress" ? parseVerdict(fields) : null;
      if (said !== null) updateCheck(toText(fields["check"]) ?? "unknown", null, said);
      if (type === "scan.error" && problems.length < maxProblems) {
        problems.push({ code: toText(fields["code"]) ?? "error", detail: toText(fields["detail"]) ?? "" });
      }
      if (scan !== null) scan = applyToScan(scan, type, fields);
    },
  };
}

/** What an event without its expectation does not say. */
function onlyStored({ reason, automated, cause, ...finding }: FindingRecord) {
  return { reason, automated, cause, ...mapNotes((name) => finding[name]) };
}

function noFindings(): Record<RuleState | "advisory", number> {
  return { ...countStates([]), advisory: 0 };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

export interface CheckCounts extends StatusCounts {
  readonly done: number;
}

/** The scan's own counts once it ended; before that whichever knows more, because progress events carry no counts. */
export function countChecks(model: ScanModel, scan: Scan): CheckCounts {
  const seen = { ...countStates([]) };
  for (const { state } of model.checks.values()) seen[state] += 1;
  const reported = toCounts(scan);
  const counts = countDone(reported) > (isEnded(scan.status) ? 0 : model.checks.size) ? reported : seen;
  return { ...counts, done: Math.max(countDone(counts), scan.checksDone) };
}

/** How many rules are counted. */
export function countDone(counts: StatusCounts): number {
  return sum(ruleStates.map((state) => counts[state]));
}

/** Two readings of one scan, of which neither need be the newer: nothing that was reached is taken back. */
export function mergeScan(known: Scan, next: Scan): Scan {
  if (isEnded(known.status) && !isEnded(next.status)) return known;
  if (isEnded(next.status)) return next;
  const isNewer = next.checksDone >= known.checksDone;
  const { pass, fail, manual, notApplicable } = isNewer ? next : known;
  return {
    ...next,
    status: known.status === "running" ? "running" : next.status,
    checksDone: Math.max(known.checksDone, next.checksDone),
    checksTotal: Math.max(known.checksTotal, next.checksTotal),
    cancelRequested: known.cancelRequested || next.cancelRequested,
    pass,
    fail,
    manual,
    notApplicable,
  };
}

/** The scan as an event leaves it; an ended one stays as it is. */
export function applyToScan(scan: Scan, type: string, fields: Readonly<Record<string, unknown>>): Scan {
  const number = (name: string, fallback: number) => {
    const value = fields[name];
    return typeof value === "number" && Number.isFinite(value) ? value : fallback;
  };
  if (isEnded(scan.status)) return scan;
  switch (type) {
    case "scan.start":
      return { ...scan, status: "running", checksTotal: number("checks_total", scan.checksTotal) };
    case "scan.progress":
      return {
        ...scan,
        status: "running",
        checksDone: Math.max(scan.checksDone, number("checks_done", 0)),
        checksTotal: number("checks_total", scan.checksTotal),
      };
    case "scan.end":
      return {
        ...scan,
        status: toEndStatus(fields["status"]),
        pass: number("pass", scan.pass),
        fail: number("fail", scan.fail),
        manual: number("manual", scan.manual),
        notApplicable: number("not_applicable", scan.notApplicable),
      };
    default:
      return scan;
  }
}

function toEndStatus(value: unknown): ScanStatus {
  return value === "cancelled" || value === "failed" || value === "expired" ? value : "completed";
}
