import { eq } from "drizzle-orm";
import { organizations } from "../../../drizzle/schema.ts";
import { readOne, type TenantDatabase } from "../../../drizzle/transactions.ts";
import { isUnreadable, type RuleResult } from "../../../shared/history/observation.ts";
import { countStates } from "../../../shared/rule_result.ts";
import { stigRuleNames } from "../../../shared/rule_names.ts";
import type { Organization, OrganizationDetails, OrganizationResource } from "../../../shared/schemas/organization.ts";
import type { Publisher } from "../../../shared/send_event.ts";
import type { ChannelEvent } from "../../streaming/published.ts";
import { announceThrottled, tenantChannel } from "../announce.ts";
import type { FeatureDependencies } from "../features.ts";
import { presentStatus, type RunRow } from "../runs/run.ts";
import { selectOrganizationRows, type OrganizationRow, type SeenRun } from "./organization_store.ts";

/** Returns the organization as the events of its tenant carry it: flat, its id also under the name that events have for it. */
export function toOrganizationResource(row: OrganizationRow): OrganizationResource {
  return { organization_id: row.stored.id, ...toOrganization(row) };
}

export function toOrganization(row: OrganizationRow): Organization {
  const { stored, monitor, seen } = row;
  const results = presentResults(row);
  const known = [...results.values()];
  const lastScan = seen.find(({ kind }) => kind === "scan");
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
    monitor_status: monitor && presentStatus(monitor),
  };
}

/** Returns the organization with the present result of each rule. */
export function toOrganizationDetails(row: OrganizationRow): OrganizationDetails {
  const results = [...presentResults(row)].map(([check, { run, status, reason = null, severity }]) => {
    const scan = row.seen.find(({ kind, results }) => kind === "scan" && check in results);
    const scan_id = scan?.isKept === true ? scan.runId : null;
    return { check, status, reason, severity, monitor_id: run.kind === "monitor" ? run.runId : null, scan_id };
  });
  return { ...toOrganization(row), results };
}

/** The end of the timeline of each rule, by its check: the result that a run knew until the latest time, and that run. */
export function presentResults({
  monitor,
  seen,
}: OrganizationRow): ReadonlyMap<string, RuleResult & { readonly run: SeenRun }> {
  const liveId = monitor !== null && presentStatus(monitor) === "running" ? monitor.id : null;
  // A monitor that runs knows the present, and a scan no more than the time until its end.
  const runs = seen.map((run) => (run.runId === liveId ? { ...run, to: Infinity } : run));
  const latestLast = runs.toSorted((one, other) => one.to - other.to || one.began - other.began);
  const revision = latestLast.at(-1)?.benchmark ?? null;
  // A rule that only another revision of the STIG has would stay as it was.
  const isOther = ({ benchmark }: SeenRun) => benchmark !== null && revision !== null && benchmark !== revision;
  const results = latestLast.flatMap((run) =>
    isOther(run) ? [] : Object.entries(run.results).map(([check, result]) => [check, { ...result, run }] as const),
  );
  return new Map(results.filter(([, { reason }]) => reason !== "interrupted"));
}

/** The events of organizations on their tenant's stream, each after it was stored. */
export const organizationEvents = ({ sendEvent }: Publisher) => ({
  publishOrganizationUpdated: (channel: string, payload: OrganizationResource) =>
    sendEvent(channel, "organization.updated", payload),
  publishOrganizationDeleted: (channel: string, payload: { readonly organization_id: string }) =>
    sendEvent(channel, "organization.deleted", payload),
});

type OrganizationOfRun = Pick<RunRow, "tenantId" | "origin">;

/** Tells the tenant's stream of an organization after something of it was stored. Resolves when it was published; never rejects. */
export async function announceOrganization(
  dependencies: FeatureDependencies,
  { tenantId, origin }: OrganizationOfRun,
): Promise<void> {
  if (origin === null) return;
  await announceThrottled(dependencies, `${tenantId} ${origin}`, async () => {
    const [row] = await readOne(dependencies.database, { tenantId }, (db) => selectOfOrigin(db, origin));
    if (row === undefined) return;
    const { publishOrganizationUpdated } = organizationEvents(dependencies);
    await publishOrganizationUpdated(tenantChannel(tenantId), toOrganizationResource(row));
  });
}

/** The organization as a transaction has left it, for the tenant's stream; none without an organization. */
export async function organizationUpdated(
  db: TenantDatabase,
  { tenantId, origin }: OrganizationOfRun,
): Promise<readonly ChannelEvent[]> {
  const rows = origin === null ? [] : await selectOfOrigin(db, origin);
  const channel = tenantChannel(tenantId);
  return rows.map((row) => ({ channel, type: "organization.updated", payload: toOrganizationResource(row) }));
}

function selectOfOrigin(db: TenantDatabase, origin: string) {
  return selectOrganizationRows(db, { condition: eq(organizations.orgUrl, origin), limit: 1 });
}
