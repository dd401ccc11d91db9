import { compareFindings, type ComparedFinding, type FindingComparison } from "../../../shared/finding_diff.ts";
import type { FindingRecord, Scan } from "../scan_wire.ts";
import { formatOrg } from "./format.ts";
import type { Api } from "./api.ts";

/** What differs between two stored scans of one organization. */
export interface ScanComparison {
  readonly before: Scan;
  readonly after: Scan;
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
  const [before, after] = await Promise.all([api.getScan(ids.before, signal), api.getScan(ids.after, signal)]);
  if (formatOrg(before) !== formatOrg(after)) return { before, after, comparison: null };
  const [old, now] = await Promise.all([
    listAllFindings(api, ids.before, signal),
    listAllFindings(api, ids.after, signal),
  ]);
  return { before, after, comparison: compareFindings(old.map(toCompared), now.map(toCompared)) };
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
  const { check, severity, fingerprint, status, reason, resourceType, resourceId, resourceName } = finding;
  return {
    check,
    severity,
    fingerprint,
    status,
    reason,
    resource_type: resourceType ?? "",
    resource_id: resourceId ?? fingerprint,
    resource_name: resourceName,
    expected: finding.expected ?? "",
    actual: finding.actual ?? "",
  };
}
