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

interface ReadScan {
  /** By fingerprint. */
  readonly findings: Map<string, Finding>;
  /** Start of its last page: later findings are found from there on. */
  tail: string | null;
  isWhole: boolean;
}

type Results = OrganizationDetails["results"];

export interface OrganizationTarget {
  /** Null: the scan's organization is not known. */
  readonly organizationId: string | null;
  readonly monitorId: string | null;
  /** The scan as of which it is shown; null: each rule's findings are of the run that knew it last. */
  readonly scanId: string | null;
}

/** True where a monitor or a completed scan says how it is. */
export function hasPresent({ monitor_id: monitorId, last_scan_at: scannedAt }: Organization): boolean {
  return monitorId !== null || scannedAt !== null;
}

/** All that is known of it now. */
export function presentOf({ id, monitor_id: monitorId }: Organization): OrganizationTarget {
  return { organizationId: id, monitorId, scanId: null };
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
  const { organizationId, monitorId, scanId } = target;
  const closing = new AbortController();
  const { signal } = closing;
  /** The scans that were read, by id; the findings of a monitor take from them what a monitor does not say. */
  const scans = new Map<string, ReadScan>();
  /** The last change of each finding of the monitor, by fingerprint. */
  const watched = new Map<string, Change>();
  let results: Results | null = scanId === null ? null : [];
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
      await Promise.all([readScans(isWhole), monitorId !== null && readMonitor(monitorId, isWhole)]);
      show();
      change({ isRead: true, problem: null });
    } catch (error) {
      isStale = true;
      if (signal.aborted) return;
      change({ problem: toProblem(error) });
      if (!isFinal(error)) retry = setTimeout(read, retryEveryMs);
    }
  });

  /** Reads the scan that is shown, or the present results and the scans that they are of. */
  async function readScans(isWhole: boolean): Promise<void> {
    if (scanId !== null) return readScan(scanId, isWhole);
    if (organizationId === null) return;
    const known = await api.get(toOrganizationPath(organizationId), organizationDetailsSchema, signal);
    // The first findings are shown while more are read; later ones with the results that they belong to.
    results ??= known.results;
    for (const id of new Set(known.results.map(({ scan_id: of }) => of))) {
      if (id !== null && scans.get(id)?.isWhole !== true) await readScan(id, false);
    }
    results = known.results;
  }

  /** Reads a scan, or its findings from the last known page on. */
  async function readScan(id: string, isFromStart: boolean): Promise<void> {
    const scan = scans.get(id) ?? { findings: new Map(), tail: null, isWhole: false };
    scans.set(id, scan);
    const query = { limit: "200", ...(!isFromStart && scan.tail !== null && { cursor: scan.tail }) };
    const pages = api.pages(`${toScanPath(id)}/findings`, pageOf(findingSchema), { query, signal });
    for await (const { items, next_cursor: next } of pages) {
      for (const finding of items) scan.findings.set(finding.fingerprint, finding);
      if (monitorId === null) show();
      scan.tail = next ?? scan.tail;
    }
    scan.isWhole = true;
  }

  /** Shows the findings of each rule from the run that knew it last; as of a scan all that it has. */
  function show(): void {
    if (results === null) return;
    const known = new Map(results.map((result) => [result.check, result]));
    const ofScans = [...scans].flatMap(([id, { findings }]) =>
      [...findings.values()].filter(({ check }) => scanId !== null || known.get(check)?.scan_id === id),
    );
    const byFingerprint = new Map(ofScans.map((finding) => [finding.fingerprint, finding]));
    const ofMonitor = [...watched.values()].flatMap((one) => toFinding(one, byFingerprint.get(one.fingerprint)) ?? []);
    const isWatched = ({ check }: Finding) => (known.get(check)?.monitor_id ?? null) !== null;
    const findings = [...ofScans.filter((one) => !isWatched(one)), ...ofMonitor.filter(isWatched)];
    change({ results, findings });
  }

  /** Reads the newest changes; when they do not reach what is known, everything. */
  async function readMonitor(id: string, isWhole: boolean): Promise<void> {
    const path = toMonitorPath(id);
    const [{ items, next_cursor: next }, present] = await Promise.all([
      api.get(`${path}/changes?limit=${maxChanges}`, pageOf(changeSchema), signal),
      isWhole ? api.list(`${path}/findings`, changeSchema, { signal }) : null,
    ]);
    const [known] = current.changes;
    if (present === null && next !== null && !items.some((one) => one.id === known?.id)) return readMonitor(id, true);
    if (present !== null) watched.clear();
    for (const one of present ?? items.toReversed()) watched.set(one.fingerprint, one);
    change({ changes: withoutStart(items) });
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
      ((type === "scan.updated" || type === "scan.end") && data.scan_id === scanId) ||
      (type === "finding.updated" && data.monitor_id === monitorId) ||
      (type === "organization.updated" && scanId === null && data.id === organizationId);
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
