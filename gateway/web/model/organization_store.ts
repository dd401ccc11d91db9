import { changeSchema, type Change } from "../../../shared/schemas/change.ts";
import type { RuleHistory } from "../../../shared/schemas/history.ts";
import {
  organizationDetailsSchema,
  organizationHistorySchema,
  type Organization,
  type OrganizationDetails,
} from "../../../shared/schemas/organization.ts";
import { pageOf } from "../../../shared/schemas/primitives.ts";
import { type Api, toMonitorPath, toOrganizationPath, toScanPath } from "./api.ts";
import { isFinal, toProblem } from "./connection.ts";
import { findingSchema, toFinding, type Finding } from "./finding.ts";
import { dayMs } from "./format.ts";
import { oneAtATime, type Tenant } from "./tenant_store.ts";

/** One organization that is open: its findings as of now or of a run, what moved, and 90 days. Its functions are the same in every snapshot. */
export interface OpenOrganization {
  readonly findings: readonly Finding[];
  /** Results whose findings may have been deleted with their scan; none as of a scan. */
  readonly results: Results;
  /** The newest changes that the monitor saw, newest first, without the first state. */
  readonly changes: readonly Change[];
  /** A day each for 90 days, keyed by check; null: not read. */
  readonly history: ReadonlyMap<string, RuleHistory> | null;
  /** The findings were read once. */
  readonly isRead: boolean;
  /** Why they could not be read. */
  readonly problem: string | null;
  /** Up to 400 days of one rule. Rejects as `Api` does. */
  readonly readHistory: (check: string, signal: AbortSignal) => Promise<RuleHistory | null>;
}

type Results = OrganizationDetails["results"];

export interface OrganizationTarget {
  /** Null: the scan's organization is not known. */
  readonly organizationId: string | null;
  readonly monitorId: string | null;
  /** The last scan, which explains the failures that a monitor knows. */
  readonly scanId: string | null;
  /** True: each rule's findings are of the run that knew it last. False: they are the scan's. */
  readonly isPresent: boolean;
}

/** True where a monitor or a completed scan says how it is. */
export function hasPresent({ monitor_id: monitorId, last_scan_at: scannedAt }: Organization): boolean {
  return monitorId !== null || scannedAt !== null;
}

/** All that is known of it now. */
export function presentOf({ id, monitor_id: monitorId, last_scan_id: scanId }: Organization): OrganizationTarget {
  return { organizationId: id, monitorId, scanId, isPresent: true };
}

export const shownDays = 90;
const maxDays = 400;
const maxChanges = 200;
const retryEveryMs = 5000;

interface Source {
  readonly api: Api;
  readonly tenant: Pick<Tenant, "listen">;
  readonly onChange: () => void;
  /** End of the scan whose results are shown: what came later is not their history. Default: now. */
  readonly until?: string | null;
}

export function openOrganization({ api, tenant, onChange, until = null }: Source, target: OrganizationTarget) {
  const { organizationId, monitorId, scanId, isPresent } = target;
  const closing = new AbortController();
  const { signal } = closing;
  /** The findings of the scan, by fingerprint; those of a monitor take from them what a monitor does not say. */
  const scanned = new Map<string, Finding>();
  /** The findings of earlier scans, by the scan's id: the last one may have evaluated a few rules only. */
  const earlier = new Map<string, readonly Finding[]>();
  /** The last change of each finding of the monitor, by fingerprint. */
  const watched = new Map<string, Change>();
  let results: Results | null = isPresent ? null : [];
  /** Start of the last page of the scan's findings: later findings are found from there on. */
  let tail: string | null = null;
  let isStale = true;
  let retry: ReturnType<typeof setTimeout> | undefined;
  let current: OpenOrganization = {
    findings: [],
    results: [],
    changes: [],
    history: null,
    isRead: false,
    problem: null,
    async readHistory(check, signal) {
      const [rule = null] = await listHistory({ days: maxDays, check, signal });
      return rule;
    },
  };

  /** The days of all rules, or of one. */
  async function listHistory(given: { readonly days: number; readonly check?: string; readonly signal: AbortSignal }) {
    if (organizationId === null) return [];
    const { days, check, signal } = given;
    const toMs = until === null ? api.nowMs() : Date.parse(until);
    const query = {
      resolution: "day",
      from: new Date(toMs - (days - 1) * dayMs).toISOString(),
      limit: "200",
      ...(until !== null && { to: until }),
      ...(check !== undefined && { rule: check }),
    };
    const path = `${toOrganizationPath(organizationId)}/history`;
    const found: RuleHistory[] = [];
    for await (const { organizations } of api.pages(path, organizationHistorySchema, { query, signal })) {
      found.push(...organizations.flatMap(({ rules }) => rules));
    }
    return found;
  }

  function change(changed: Partial<OpenOrganization>): void {
    current = { ...current, ...changed };
    if (!signal.aborted) onChange();
  }

  const read = oneAtATime(async () => {
    clearTimeout(retry);
    try {
      const isWhole = isStale;
      isStale = false;
      const readRun = () => (isWhole ? readAll() : monitorId === null ? readScan() : readChanges(monitorId));
      await Promise.all([readResults(), readRun()]);
      show();
      change({ isRead: true, problem: null });
    } catch (error) {
      isStale = true;
      if (signal.aborted) return;
      change({ problem: toProblem(error) });
      if (!isFinal(error)) retry = setTimeout(read, retryEveryMs);
    }
  });

  async function readAll(): Promise<void> {
    tail = null;
    if (monitorId === null) return readScan();
    // A scan that was deleted explains nothing; the verdicts are the monitor's own.
    const [{ items }, present] = await Promise.all([
      readNewest(monitorId),
      api.list(`${toMonitorPath(monitorId)}/findings`, changeSchema, { signal }),
      readScan().catch(() => undefined),
    ]);
    watched.clear();
    applyChanges(present);
    change({ changes: withoutStart(items) });
  }

  /** Reads the present results, and the findings of their scans that are not read yet. */
  async function readResults(): Promise<void> {
    if (!isPresent || organizationId === null) return;
    const known = await api.get(toOrganizationPath(organizationId), organizationDetailsSchema, signal);
    for (const id of new Set(known.results.map(({ scan_id: of }) => of))) {
      if (id === null || id === scanId || earlier.has(id)) continue;
      earlier.set(id, await api.list(`${toScanPath(id)}/findings`, findingSchema, { signal }));
    }
    results = known.results;
  }

  /** Reads the scan from the last known page on. */
  async function readScan(): Promise<void> {
    if (scanId === null) return;
    const query = { limit: "200", ...(tail !== null && { cursor: tail }) };
    const pages = api.pages(`${toScanPath(scanId)}/findings`, pageOf(findingSchema), { query, signal });
    for await (const { items, next_cursor: next } of pages) {
      for (const finding of items) scanned.set(finding.fingerprint, finding);
      if (monitorId === null) show();
      tail = next ?? tail;
    }
  }

  /** Shows the findings of each rule from the run that knew it last; as of a scan all that it has. */
  function show(): void {
    if (results === null) return;
    const known = new Map(results.map((result) => [result.check, result]));
    const ofScans = [[scanId, [...scanned.values()]] as const, ...earlier].flatMap(([id, own]) =>
      own.filter(({ check }) => !isPresent || known.get(check)?.scan_id === id),
    );
    const byFingerprint = new Map(ofScans.map((finding) => [finding.fingerprint, finding]));
    const ofMonitor = [...watched.values()].flatMap((one) => toFinding(one, byFingerprint.get(one.fingerprint)) ?? []);
    const isWatched = ({ check }: Finding) => (known.get(check)?.monitor_id ?? null) !== null;
    const findings = [...ofScans.filter((one) => !isWatched(one)), ...ofMonitor.filter(isWatched)];
    change({ results, findings });
  }

  function readNewest(id: string) {
    return api.get(`${toMonitorPath(id)}/changes?limit=${maxChanges}`, pageOf(changeSchema), signal);
  }

  /** Reads the newest changes; when they do not reach what is known, everything. */
  async function readChanges(id: string): Promise<void> {
    const { items, next_cursor: next } = await readNewest(id);
    const [known] = current.changes;
    if (next !== null && !items.some((one) => one.id === known?.id)) return readAll();
    applyChanges(items.toReversed());
    change({ changes: withoutStart(items) });
  }

  function applyChanges(changes: readonly Change[]): void {
    for (const one of changes) watched.set(one.fingerprint, one);
  }

  function readAgain(): void {
    isStale = true;
    read();
    listHistory({ days: shownDays, signal }).then(
      (rules) => change({ history: new Map(rules.map((rule) => [rule.check, rule])) }),
      // The rows are complete without it.
      () => undefined,
    );
  }

  const stopListening = tenant.listen((event) => {
    if (event === null) return readAgain();
    const { type, data } = event;
    // Events only say that there is something to read.
    const isOwn =
      ((type === "scan.updated" || type === "scan.end") && monitorId === null && data.scan_id === scanId) ||
      (type === "finding.updated" && data.monitor_id === monitorId) ||
      (type === "organization.updated" && isPresent && data.id === organizationId);
    if (type === "scan.end") isStale ||= isOwn;
    if (isOwn) read();
  });
  readAgain();
  return {
    get current() {
      return current;
    },
    close() {
      clearTimeout(retry);
      stopListening();
      closing.abort();
    },
  };
}

/** The first state of a monitor is not a change. */
function withoutStart(changes: readonly Change[]): readonly Change[] {
  return changes.filter(({ cause }) => cause !== "start");
}
