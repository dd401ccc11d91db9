import { changeSchema, type Change } from "../../../shared/schemas/change.ts";
import type { RuleHistory } from "../../../shared/schemas/history.ts";
import { organizationHistorySchema } from "../../../shared/schemas/organization.ts";
import { pageOf } from "../../../shared/schemas/primitives.ts";
import { type Api, toMonitorPath, toOrganizationPath, toScanPath } from "./api.ts";
import { isFinal, toProblem } from "./connection.ts";
import { findingSchema, toFinding, type Finding } from "./finding.ts";
import { dayMs } from "./format.ts";
import { oneAtATime } from "./one_at_a_time.ts";
import type { Tenant } from "./tenant_store.ts";

/** One organization that is open: its findings as of now or of a run, what moved, and 90 days. Its functions are the same in every snapshot. */
export interface OpenOrganization {
  /** Keys are fingerprints. */
  readonly findings: ReadonlyMap<string, Finding>;
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
  readonly readAgain: () => void;
}

export interface OrganizationTarget {
  /** Null: the scan's organization is not known. */
  readonly organizationId: string | null;
  /** Null: the findings are a scan's. */
  readonly monitorId: string | null;
  /** The last scan of a monitored organization, which explains the failures. */
  readonly scanId: string | null;
}

const shownDays = 90;
const maxDays = 400;
const maxChanges = 200;
const retryEveryMs = 5000;

export function openOrganization(
  {
    api,
    tenant,
    onChange,
  }: { readonly api: Api; readonly tenant: Pick<Tenant, "listen">; readonly onChange: () => void },
  { organizationId, monitorId, scanId }: OrganizationTarget,
) {
  const closing = new AbortController();
  const { signal } = closing;
  /** The findings of the scan; those of a monitor take from them what a monitor does not say. */
  const scanned = new Map<string, Finding>();
  /** Start of the last page of the scan's findings: later findings are found from there on. */
  let tail: string | null = null;
  let isStale = true;
  let retry: ReturnType<typeof setTimeout> | undefined;
  let current: OpenOrganization = {
    findings: new Map(),
    changes: [],
    history: null,
    isRead: false,
    problem: null,
    async readHistory(check, signal) {
      if (organizationId === null) return null;
      const [rule = null] = await listHistory(api, organizationId, { days: maxDays, check, signal });
      return rule;
    },
    readAgain,
  };

  function change(changed: Partial<OpenOrganization>): void {
    current = { ...current, ...changed };
    if (!signal.aborted) onChange();
  }

  const read = oneAtATime(async () => {
    clearTimeout(retry);
    try {
      const isWhole = isStale;
      isStale = false;
      await (isWhole ? readAll() : monitorId === null ? readScan() : readChanges(monitorId));
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
      api.list(`${toMonitorPath(monitorId)}/findings`, changeSchema, signal),
      readScan().catch(() => undefined),
    ]);
    change({ changes: withoutStart(items), findings: withChanges(new Map(), present) });
  }

  /** Reads the scan from the last known page on. */
  async function readScan(): Promise<void> {
    if (scanId === null) return;
    const query = { limit: "200", ...(tail !== null && { cursor: tail }) };
    const pages = api.pages(`${toScanPath(scanId)}/findings`, pageOf(findingSchema), { query, signal });
    for await (const { items, next_cursor: next } of pages) {
      for (const finding of items) scanned.set(finding.fingerprint, { ...finding, sinceMs: null });
      if (monitorId === null) change({ findings: new Map(scanned) });
      tail = next ?? tail;
    }
  }

  function readNewest(id: string) {
    return api.get(`${toMonitorPath(id)}/changes?limit=${maxChanges}`, pageOf(changeSchema), signal);
  }

  /** Reads the newest changes; when they do not reach what is known, everything. */
  async function readChanges(id: string): Promise<void> {
    const { items, next_cursor: next } = await readNewest(id);
    const [known] = current.changes;
    if (next !== null && !items.some((one) => one.id === known?.id)) return readAll();
    change({ changes: withoutStart(items), findings: withChanges(new Map(current.findings), items.toReversed()) });
  }

  function withChanges(findings: Map<string, Finding>, changes: readonly Change[]): ReadonlyMap<string, Finding> {
    for (const one of changes) {
      const finding = toFinding(one, scanned.get(one.fingerprint));
      if (finding === null) findings.delete(one.fingerprint);
      else findings.set(one.fingerprint, finding);
    }
    return findings;
  }

  function readAgain(): void {
    isStale = true;
    read();
    if (organizationId === null) return;
    listHistory(api, organizationId, { days: shownDays, signal }).then(
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
      monitorId === null
        ? (type === "scan.updated" || type === "scan.end") && data.scan_id === scanId
        : (type === "finding.updated" && data.monitor_id === monitorId) ||
          (type === "organization.updated" && data.id === organizationId);
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

async function listHistory(
  api: Api,
  organizationId: string,
  { days, check, signal }: { readonly days: number; readonly check?: string; readonly signal: AbortSignal },
): Promise<readonly RuleHistory[]> {
  const from = new Date(api.nowMs() - (days - 1) * dayMs).toISOString();
  const query = { resolution: "day", from, limit: "200", ...(check !== undefined && { rule: check }) };
  const path = `${toOrganizationPath(organizationId)}/history`;
  const found: RuleHistory[] = [];
  for await (const page of api.pages(path, organizationHistorySchema, { query, signal })) {
    found.push(...page.organizations.flatMap(({ rules }) => rules));
  }
  return found;
}
