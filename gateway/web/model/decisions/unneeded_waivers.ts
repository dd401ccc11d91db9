import type { Decision } from "../../../../shared/schemas/decision.ts";
import type { Scan } from "../../scan_wire.ts";
import { listAllFindings, type Api } from "../api.ts";
import { indexDecisions, toOrigin } from "./decision_index.ts";

/** For this many organizations the newest scan is read. */
const maxScans = 10;

/**
 * The ids of those waivers that nothing open needs any more: in the newest completed scan of each of their organizations, as far
 * as it evaluated the check, what they waived passes or is gone. Rejects with `ApiError`, or the signal's reason.
 */
export async function findUnneeded(
  api: Api,
  { waivers, scans }: { readonly waivers: readonly Decision[]; readonly scans: readonly Scan[] },
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  const needed = new Set<string>();
  const evaluated = new Set<string>();
  for (const scan of newestOfEach(scans)) {
    const orgUrl = toOrigin(scan.orgUrl);
    const about = waivers.filter(({ org_url: of }) => of === null || of === orgUrl);
    if (about.length === 0) continue;
    const findings = Map.groupBy(await listAllFindings(api, scan.id, signal), ({ check }) => check);
    for (const waiver of about) {
      const ofCheck = findings.get(waiver.check) ?? [];
      const index = indexDecisions([waiver], { orgUrl, nowMs: api.nowMs() });
      if (ofCheck.length > 0) evaluated.add(waiver.id);
      if (ofCheck.some((finding) => index.waiverOf(finding) !== null)) needed.add(waiver.id);
    }
  }
  return new Set([...evaluated].filter((id) => !needed.has(id)));
}

function newestOfEach(scans: readonly Scan[]): readonly Scan[] {
  const newest = new Map<string, Scan>();
  for (const scan of scans) {
    const origin = toOrigin(scan.orgUrl);
    const known = origin === null ? undefined : newest.get(origin);
    const isNewer = (scan.createdAtMs ?? 0) > (known?.createdAtMs ?? -1);
    if (origin !== null && scan.status === "completed" && isNewer) newest.set(origin, scan);
  }
  return [...newest.values()].slice(0, maxScans);
}
