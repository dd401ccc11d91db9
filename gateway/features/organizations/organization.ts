import { isUnreadable, type RuleResult, type RunObservation } from "../../../shared/history/observation.ts";
import { countStates } from "../../../shared/rule_result.ts";
import { stigRuleNames } from "../../../shared/rule_names.ts";
import type { Organization, OrganizationDetails, OrganizationResource } from "../../../shared/schemas/organization.ts";
import { presentStatus } from "../runs/run.ts";
import type { OrganizationRow } from "./organization_store.ts";

export interface SeenRun extends RunObservation {
  readonly kind: "scan" | "monitor";
  /** False: the scan was deleted. */
  readonly isKept: boolean;
}

/** Returns the organization as the events of its tenant carry it: flat, its id also under the name that events have for it. */
export function toOrganizationResource(row: OrganizationRow, nowMs: number): OrganizationResource {
  return { organization_id: row.stored.id, ...toOrganization(row, nowMs) };
}

export function toOrganization({ stored, monitor, seen }: OrganizationRow, nowMs: number): Organization {
  const runs: readonly SeenRun[] = JSON.parse(seen);
  const monitorStatus = monitor === null ? null : presentStatus(monitor, nowMs);
  const results = presentResults({ monitor, seen }, nowMs);
  const known = [...results.values()];
  const lastScan = runs.find(({ kind }) => kind === "scan");
  const openOf = (severity: RuleResult["severity"]) =>
    known.filter((result) => result.status === "FAIL" && result.severity === severity).length;
  return {
    id: stored.id,
    org_url: stored.orgUrl,
    name: stored.orgUrl.replace(/^https?:\/\//, ""),
    ...countStates(known.filter((result) => !isUnreadable(result))),
    unknown: known.filter(isUnreadable).length,
    not_evaluated: stigRuleNames.filter(({ check }) => !results.has(check)).length,
    cat1_open: openOf("high"),
    cat2_open: openOf("medium"),
    cat3_open: openOf("low"),
    last_scan_id: lastScan?.isKept === true ? lastScan.runId : null,
    last_scan_at: lastScan === undefined ? null : new Date(lastScan.to).toISOString(),
    monitor_id: monitor?.id ?? null,
    monitor_status: monitorStatus,
  };
}

/** Returns the organization with the present result of each rule. */
export function toOrganizationDetails(row: OrganizationRow, nowMs: number): OrganizationDetails {
  const runs: readonly SeenRun[] = JSON.parse(row.seen);
  const results = [...presentResults(row, nowMs)].map(([check, { run, status, reason = null, severity }]) => {
    const scan = runs.find(({ kind, results }) => kind === "scan" && check in results);
    const scan_id = scan?.isKept === true ? scan.runId : null;
    return { check, status, reason, severity, monitor_id: run.kind === "monitor" ? run.runId : null, scan_id };
  });
  return { ...toOrganization(row, nowMs), results };
}

/** The end of the timeline of each rule, by its check: the result that a run knew until the latest time, and that run. */
export function presentResults(
  { monitor, seen }: Pick<OrganizationRow, "monitor" | "seen">,
  nowMs: number,
): ReadonlyMap<string, RuleResult & { readonly run: SeenRun }> {
  const liveId = monitor !== null && presentStatus(monitor, nowMs) === "running" ? monitor.id : null;
  // A monitor that runs knows the present, and a scan no more than the time until its end.
  const runs = (JSON.parse(seen) as readonly SeenRun[]).map((run) =>
    run.runId === liveId ? { ...run, to: Infinity } : run,
  );
  const latestLast = runs.toSorted((one, other) => one.to - other.to || one.began - other.began);
  const results = latestLast.flatMap((run) =>
    Object.entries(run.results).map(([check, result]) => [check, { ...result, run }] as const),
  );
  return new Map(results.filter(([, { reason }]) => reason !== "interrupted"));
}
