import * as v from "valibot";
import { changeSchema, type Change } from "../../../shared/schemas/change.ts";
import { historySchema, type RuleHistory } from "../../../shared/schemas/history.ts";
import { listAll, type Api, type Page } from "./api.ts";
import { toFinalError, toProblem } from "./connection.ts";
import { findingSchema, toFinding, type Finding } from "./finding.ts";
import { toMonitorPath, toOrganizationPath, toScanPath, type TenantStore } from "./tenant_store.ts";

/** One organization that is open: its findings as of now or of a run, what moved, and 90 days. */
export interface OrganizationStore {
  /** By fingerprint; it changes in place. */
  readonly findings: ReadonlyMap<string, Finding>;
  /** Changes that the monitor saw, newest first, without the first state. */
  readonly changes: readonly Change[];
  readonly hasMore: boolean;
  loadMore(): void;
  /** By check, a day each for 90 days; null: not read. */
  readonly history: ReadonlyMap<string, RuleHistory> | null;
  /** The check that was evaluated last, while a scan runs. */
  readonly lastCheck: string | null;
  readonly scanProblems: readonly string[];
  /** Takes an event of a running scan of the organization, whose stream is followed elsewhere. */
  applyScanEvent(scanId: string, type: string, fields: Readonly<Record<string, unknown>>): void;
  /** The findings were read once. */
  readonly isRead: boolean;
  /** Why they could not be read. */
  readonly problem: string | null;
  /** Up to 400 days of one rule. Rejects as `Api` does. */
  readHistory(check: string, signal: AbortSignal): Promise<RuleHistory | null>;
  retryNow(): void;
  close(): void;
}

export interface OrganizationTarget {
  /** Null: the scan's organization is not known. */
  readonly organizationId: string | null;
  /** Null: the findings are a scan's. */
  readonly monitorId: string | null;
  /** The last scan of a monitored organization, which explains the failures. */
  readonly scanId: string | null;
}

const dayMs = 86_400_000;
const shownDays = 90;
const maxDays = 400;
const timelineLimit = 50;
const maxChanges = 1000;
const retryEveryMs = 5000;
const pageLimit = 200;
const historyPage = v.object({ ...historySchema.entries, next_cursor: v.nullable(v.string()) });

export function openOrganization(
  { api, tenant, onChange }: { readonly api: Api; readonly tenant: TenantStore; readonly onChange: () => void },
  target: OrganizationTarget,
): OrganizationStore {
  const { organizationId, monitorId, scanId } = target;
  const closing = new AbortController();
  const { signal } = closing;
  const findings = new Map<string, Finding>();
  const scanned = new Map<string, Finding>();
  const scanProblems: string[] = [];
  let changes: readonly Change[] = [];
  let nextCursor: string | null = null;
  let history: ReadonlyMap<string, RuleHistory> | null = null;
  let lastCheck: string | null = null;
  let isRead = false;
  let problem: string | null = null;
  let due: "all" | "new" | null = null;
  let isBusy = false;
  let retry: ReturnType<typeof setTimeout> | undefined;
  /** Start of the last page of a scan's findings: later findings are found from there on. */
  let tail: string | null = null;

  /** Reads one after the other; of what is asked for meanwhile, all contains what is new. */
  async function request(kind: "all" | "new"): Promise<void> {
    clearTimeout(retry);
    due = due === "all" ? "all" : kind;
    if (isBusy) return;
    isBusy = true;
    try {
      while (due !== null) {
        const next: "all" | "new" = due;
        due = null;
        await (next === "all" ? readAll() : readNew());
      }
      isRead = true;
      problem = null;
    } catch (error) {
      due = null;
      if (!signal.aborted) {
        problem = toProblem(error);
        if (toFinalError(error) === null) retry = setTimeout(() => void request("all"), retryEveryMs);
      }
    }
    isBusy = false;
    if (!signal.aborted) onChange();
  }

  async function readScan(from: string | null): Promise<void> {
    if (scanId === null) return;
    let cursor = from;
    do {
      const request = { limit: pageLimit, cursor, signal };
      const page: Page<Omit<Finding, "sinceMs">> = await api.list(
        `${toScanPath(scanId)}/findings`,
        findingSchema,
        request,
      );
      tail = cursor;
      for (const finding of page.items) {
        scanned.set(finding.fingerprint, { ...finding, sinceMs: null });
        if (monitorId === null) findings.set(finding.fingerprint, { ...finding, sinceMs: null });
      }
      onChange();
      cursor = page.nextCursor;
    } while (cursor !== null);
  }

  function apply(change: Change): void {
    const finding = toFinding(change, scanned.get(change.fingerprint));
    if (finding === null) findings.delete(change.fingerprint);
    else findings.set(change.fingerprint, finding);
  }

  async function readAll(): Promise<void> {
    if (monitorId === null) return readScan(null);
    const path = toMonitorPath(monitorId);
    const request = { limit: timelineLimit, cursor: null, signal };
    // A scan that was deleted explains nothing; the verdicts are the monitor's own.
    const [first, present] = await Promise.all([
      api.list(`${path}/changes`, changeSchema, request),
      listAll(api, `${path}/findings`, { schema: changeSchema, signal }),
      readScan(null).catch(() => undefined),
    ]);
    changes = first.items.filter(({ cause }) => cause !== "start");
    nextCursor = first.items.at(-1)?.cause === "start" ? null : first.nextCursor;
    findings.clear();
    for (const change of present) apply(change);
  }

  /** Reads what is new; more than one page of changes means reading everything again. */
  async function readNew(): Promise<void> {
    if (monitorId === null) return readScan(tail);
    const request = { limit: timelineLimit, cursor: null, signal };
    const page: Page<Change> = await api.list(`${toMonitorPath(monitorId)}/changes`, changeSchema, request);
    const known = new Set(changes.map(({ id }) => id));
    const end = page.items.findIndex(({ id, cause }) => known.has(id) || cause === "start");
    if (end === -1 && page.nextCursor !== null) return readAll();
    const fresh = end === -1 ? page.items : page.items.slice(0, end);
    for (const change of fresh.toReversed()) apply(change);
    changes = [...fresh, ...changes].slice(0, maxChanges);
    onChange();
  }

  async function readDays(): Promise<void> {
    if (organizationId === null) return;
    const rules = await listHistory(api, organizationId, { days: shownDays, signal });
    history = new Map(rules.map((rule) => [rule.check, rule]));
    onChange();
  }

  const readAgain = () => {
    void request("all");
    // The rows are complete without it.
    readDays().catch(() => undefined);
  };

  let openedAtMs = tenant.connection.refetchedAtMs;
  const stopListening = tenant.listen((type, data) => {
    const fields = data as Readonly<Record<string, unknown>>;
    const isOwn = fields["monitor_id"] === monitorId || fields["id"] === organizationId;
    if (monitorId !== null && isOwn && ["finding.updated", "organization.updated"].includes(type)) {
      void request("new");
    }
  });
  const watching = setInterval(() => {
    const { refetchedAtMs } = tenant.connection;
    if (refetchedAtMs === openedAtMs) return;
    openedAtMs = refetchedAtMs;
    readAgain();
  }, 250);

  readAgain();
  return {
    findings,
    get changes() {
      return changes;
    },
    get hasMore() {
      return nextCursor !== null && changes.length < maxChanges;
    },
    loadMore() {
      if (monitorId === null || nextCursor === null) return;
      const cursor = nextCursor;
      const request = { limit: timelineLimit, cursor, signal };
      api.list(`${toMonitorPath(monitorId)}/changes`, changeSchema, request).then(
        ({ items, nextCursor: next }) => {
          if (cursor !== nextCursor) return;
          changes = [...changes, ...items.filter(({ cause }) => cause !== "start")];
          nextCursor = items.at(-1)?.cause === "start" ? null : next;
          onChange();
        },
        () => undefined,
      );
    },
    get history() {
      return history;
    },
    get lastCheck() {
      return lastCheck;
    },
    scanProblems,
    applyScanEvent(id, type, fields) {
      if (type === "scan.progress") lastCheck = String(fields["check"]);
      if (type === "scan.error") scanProblems.push(String(fields["detail"] || fields["code"]));
      // Events of the scan that is shown only say that there is something to read.
      const isShown = monitorId === null && id === scanId;
      if (isShown && type === "finding.created") void request("new");
      if (isShown && type === "scan.end") void request("all");
      onChange();
    },
    get isRead() {
      return isRead;
    },
    get problem() {
      return problem;
    },
    async readHistory(check, signal) {
      if (organizationId === null) return null;
      const [rule = null] = await listHistory(api, organizationId, { days: maxDays, check, signal });
      return rule;
    },
    retryNow: readAgain,
    close() {
      clearInterval(watching);
      clearTimeout(retry);
      stopListening();
      closing.abort();
    },
  };
}

async function listHistory(
  api: Api,
  organizationId: string,
  { days, check, signal }: { readonly days: number; readonly check?: string; readonly signal: AbortSignal },
): Promise<readonly RuleHistory[]> {
  const from = new Date(api.nowMs() - (days - 1) * dayMs).toISOString();
  const found: RuleHistory[] = [];
  let cursor: string | null = null;
  do {
    const query = new URLSearchParams({ resolution: "day", from, limit: "200" });
    if (check !== undefined) query.set("rule", check);
    if (cursor !== null) query.set("cursor", cursor);
    const path = `${toOrganizationPath(organizationId)}/history?${query}`;
    const page: v.InferOutput<typeof historyPage> = await api.get(path, historyPage, signal);
    found.push(...page.organizations.flatMap(({ rules }) => rules));
    cursor = page.next_cursor;
  } while (cursor !== null);
  return found;
}
