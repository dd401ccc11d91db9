import { compareFindings, type ComparedFinding, type FindingComparison } from "../../../shared/finding_diff.ts";
import type { Change } from "../monitor_wire.ts";
import type { FindingRecord, Page, Scan } from "../scan_wire.ts";
import { formatOrg } from "./format.ts";
import { ApiError, type Api } from "./api.ts";
import { toFinding } from "./change_view.ts";

/** What is compared: a scan, or what a monitor sees now. */
export interface ComparedSide {
  readonly id: string;
  readonly orgUrl: string | null;
  /** Null: not known. */
  readonly atMs: number | null;
  readonly isMonitor: boolean;
}

/** What differs between two states of one organization. */
export interface ScanComparison {
  readonly before: ComparedSide;
  readonly after: ComparedSide;
  /** Null: they are of two organizations. */
  readonly comparison: FindingComparison | null;
}

const pageSize = 200;

/** Rejects with `ApiError`, or the signal's reason. */
export async function compareScans(
  api: Api,
  ids: { readonly before: string; readonly after: string },
  signal: AbortSignal,
): Promise<ScanComparison> {
  const [before, after] = await Promise.all([readSide(api, ids.before, signal), readSide(api, ids.after, signal)]);
  if (formatOrg(before) !== formatOrg(after)) return { before, after, comparison: null };
  const [old, now] = await Promise.all([listSide(api, before, signal), listSide(api, after, signal)]);
  return { before, after, comparison: compareFindings(old.map(toCompared), now.map(toCompared)) };
}

/** An address may name a scan or a monitor. */
async function readSide(api: Api, id: string, signal: AbortSignal): Promise<ComparedSide> {
  try {
    const { orgUrl, createdAtMs } = await api.getScan(id, signal);
    return { id, orgUrl, atMs: createdAtMs, isMonitor: false };
  } catch (error) {
    if (!(error instanceof ApiError && error.status === 404)) throw error;
    const monitor = await api.getMonitor(id, signal).catch((second: unknown) => {
      throw second instanceof ApiError && second.status === 404 ? error : second;
    });
    return { id, orgUrl: monitor.orgUrl, atMs: monitor.lastLookAtMs, isMonitor: true };
  }
}

async function listSide(
  api: Api,
  { id, isMonitor }: ComparedSide,
  signal: AbortSignal,
): Promise<readonly FindingRecord[]> {
  if (!isMonitor) return listAllFindings(api, id, signal);
  const found: FindingRecord[] = [];
  let cursor: string | null = null;
  do {
    const page: Page<Change> = await api.listVerdicts(id, { limit: pageSize, cursor, signal });
    found.push(...page.items.flatMap((change, index) => toFinding(change, index) ?? []));
    cursor = page.nextCursor;
  } while (cursor !== null);
  return found;
}

/** The newest scan of the same organization that ended before this one; null without any. */
export function previousScan(scans: readonly Scan[], current: Scan): Scan | null {
  const earlier = scans.filter(
    ({ id, orgUrl, status, createdAtMs }) =>
      id !== current.id &&
      status === "completed" &&
      orgUrl !== null &&
      orgUrl === current.orgUrl &&
      (createdAtMs ?? 0) < (current.createdAtMs ?? 0),
  );
  return earlier.toSorted((one, other) => (other.createdAtMs ?? 0) - (one.createdAtMs ?? 0))[0] ?? null;
}

/** Rejects with `ApiError`, or the signal's reason. */
export async function listAllFindings(
  api: Api,
  scanId: string,
  signal: AbortSignal,
): Promise<readonly FindingRecord[]> {
  const found: FindingRecord[] = [];
  let cursor: string | null = null;
  do {
    const page = await api.listFindings(scanId, { limit: pageSize, cursor, signal });
    found.push(...page.items);
    cursor = page.nextCursor;
  } while (cursor !== null);
  return found;
}

function toCompared(finding: FindingRecord): ComparedFinding {
  return {
    ...finding,
    resource_type: finding.resource_type ?? "",
    resource_id: finding.resource_id ?? finding.fingerprint,
    expected: finding.expected ?? "",
    actual: finding.actual ?? "",
  };
}
