import { and, desc, eq, getTableColumns, sql, type SQL } from "drizzle-orm";
import { changes } from "../../../drizzle/schema.ts";
import type { TenantDatabase } from "../../../drizzle/transactions.ts";
import { NotFound } from "../../../shared/app_error.ts";
import { isUuid, type ChannelName } from "../../../shared/channel_name.ts";
import type { CheckedEvent } from "../../../shared/event.ts";
import { toCheckName } from "../../../shared/rule_names.ts";
import type { NewChange } from "../../../shared/schemas/change.ts";
import { monitorEventSchemas, type FindingUpdated } from "../../../shared/schemas/monitor.ts";
import { toChange } from "../../../shared/finding_updated.ts";
import type { ChannelEvent } from "../../streaming/published.ts";
import { tenantChannel } from "../tenant_events.ts";
import { parseBody } from "../../http/body.ts";
import { InvalidBody } from "../../http/problem.ts";
import { rowsOfPage, type PageRequest } from "../../http/paging.ts";
import type { ChangeRow } from "./monitor.ts";
import { organizationUpdated } from "../organizations/announce_updates.ts";
import { observeChanges } from "../organizations/observe.ts";
import { ended, selectMonitor } from "./monitor_store.ts";

/**
 * Stores the changes that are published of a monitor that has not ended, in their order and each once by its id, and returns them
 * for the tenant's stream, but for the first state. One statement, so that the monitor cannot end in between. Rejects with
 * `NotFound`, `AppError("conflict")` or `InvalidBody`.
 */
export async function storePublished(
  db: TenantDatabase,
  events: readonly CheckedEvent[],
  { resourceId: monitorId, tenantId }: ChannelName,
): Promise<readonly ChannelEvent[]> {
  if (!isUuid(monitorId)) throw new NotFound("No such monitor");
  const changed = events.filter(({ type }) => type === "finding.updated");
  const given = changed.map(({ payload }) => toChange(requireUpdate(payload, monitorId)));
  const lines = [...new Map(given.map((change) => [change.id, change])).values()];
  // The first state is not a move.
  const lastChangeAt = lines.findLast(({ cause }) => cause !== "start")?.seen_at;
  const { rows: stored } = await db.execute<{ id: string }>(sql`
    with monitor as (
      update monitors set last_change_number = last_change_number + ${lines.length}::integer,
        last_change_at = coalesce(${lastChangeAt === undefined ? null : toInstant(lastChangeAt)}::timestamptz, last_change_at)
      where id = ${monitorId}::uuid and status <> 'ended'
      returning tenant_id, id, last_change_number - ${lines.length}::integer as number
    ), given as (
      select * from jsonb_to_recordset(${JSON.stringify(lines.map(toRow))}::jsonb) as row (
        id uuid, position integer, "check" text, fingerprint text, resource_type text, resource_id text,
        resource_name text, from_status text, from_reason text, to_status text, to_reason text,
        from_waived boolean, to_waived boolean, expected text, actual text, to_pass text,
        rule_status text, rule_reason text, rule_severity text, seen_at timestamptz, cause text, explained_by jsonb, also jsonb)
    ), stored as (
      insert into changes (tenant_id, monitor_id, id, number, "check", fingerprint, resource_type, resource_id,
        resource_name, from_status, from_reason, to_status, to_reason, from_waived, to_waived, expected, actual, to_pass,
        rule_status, rule_reason, rule_severity, seen_at, cause, explained_by, also)
      select monitor.tenant_id, monitor.id, given.id, monitor.number + given.position, given."check",
        given.fingerprint, given.resource_type, given.resource_id, given.resource_name, given.from_status,
        given.from_reason, given.to_status, given.to_reason, given.from_waived, given.to_waived, given.expected, given.actual, given.to_pass, given.rule_status, given.rule_reason,
        given.rule_severity, given.seen_at, given.cause, given.explained_by, given.also
      from monitor, given
      on conflict (tenant_id, monitor_id, id) do nothing
      returning id
    )
    select id from stored`);
  const monitor = await selectMonitor(db, monitorId);
  if (monitor.endedAt !== null) throw ended();
  const ids = new Set(stored.map(({ id }) => id));
  const created = lines.filter(({ id }) => ids.has(id));
  await observeChanges(db, monitor, created);
  const updated = created.length === 0 ? [] : await organizationUpdated(db, monitor);
  const moved = changed.filter(({ payload }) => payload["cause"] !== "start");
  return [...moved.map((event) => ({ ...event, channel: tenantChannel(tenantId) })), ...updated];
}

function requireUpdate(payload: unknown, monitorId: string): FindingUpdated {
  const update = parseBody(monitorEventSchemas["finding.updated"], payload, "/data");
  if (update.monitor_id !== monitorId) {
    throw new InvalidBody([
      { pointer: "/data/monitor_id", detail: `expected ${monitorId}, the monitor of the channel` },
    ]);
  }
  if (update.from !== null || update.to !== null) return update;
  throw new InvalidBody([{ pointer: "/data/to", detail: "is null as from is: expected a status before or after" }]);
}

export interface ChangeFilter {
  readonly fingerprint: string | null;
  readonly check: string | null;
}

/** Newest first, one row beyond the limit, or beyond what a page may weigh. */
export async function selectChanges(
  db: TenantDatabase,
  monitorId: string,
  { page, filter }: { readonly page: PageRequest; readonly filter: ChangeFilter },
): Promise<readonly ChangeRow[]> {
  const condition = and(
    eq(changes.monitorId, monitorId),
    page.after === null ? undefined : sql`${changes.number} < ${page.after.key}::bigint`,
    filter.fingerprint === null ? undefined : eq(changes.fingerprint, filter.fingerprint),
    filter.check === null ? undefined : eq(changes.check, filter.check),
  );
  const order = desc(changes.number);
  const candidates = sql`
    select *, ${bytesOfChange} as bytes from ${changes}
    where ${condition} order by ${order} limit ${page.limit + 1}::integer`;
  return db
    .select(getTableColumns(changes))
    .from(rowsOfPage(changes, candidates, order))
    .orderBy(order);
}

const bytesOfChange = sql`octet_length(${changes.expected}) + octet_length(${changes.actual})
  + octet_length(coalesce(${changes.toPass}, '')) + octet_length(${changes.explainedBy}::text) + octet_length(${changes.also}::text)`;

/** The last change of every finding that is still there, by fingerprint from the end, one row beyond the limit, or beyond what a page may weigh. */
export async function selectPresentFindings(
  db: TenantDatabase,
  monitorId: string,
  page: PageRequest,
): Promise<readonly ChangeRow[]> {
  const { fingerprint, number } = changes;
  const beforePage = page.after === null ? sql`` : sql`and ${fingerprint} < ${page.after.key}`;
  // One look into an index for each finding, from the end: a page costs what it holds, however often its findings changed. The last
  // change of a finding that is gone is looked at and left out.
  const last = sql`array(
    with recursive last as (
      (${newestOf(monitorId, beforePage)})
      union all
      select next.* from last cross join lateral (${newestOf(monitorId, sql`and ${fingerprint} < last.fingerprint`)}) as next
    )
    select number from last where to_status is not null limit ${page.limit + 1}::integer)`;
  const order = desc(fingerprint);
  const candidates = sql`
    select *, ${bytesOfChange} as bytes from ${changes}
    where ${changes.monitorId} = ${monitorId}::uuid and ${number} = any (${last})`;
  return db
    .select(getTableColumns(changes))
    .from(rowsOfPage(changes, candidates, order))
    .orderBy(order);
}

/** The newest change of the last finding, by fingerprint, of the ones that the condition leaves. */
function newestOf(monitorId: string, condition: SQL): SQL {
  return sql`select ${changes.fingerprint}, ${changes.number}, ${changes.toStatus} from ${changes}
    where ${changes.monitorId} = ${monitorId}::uuid ${condition}
    order by ${changes.fingerprint} desc, ${changes.number} desc limit 1`;
}

function toRow(change: NewChange, index: number) {
  return {
    id: change.id,
    position: index + 1,
    check: toCheckName(change.check),
    fingerprint: change.fingerprint,
    resource_type: change.resource.type,
    resource_id: change.resource.id,
    resource_name: change.resource.name,
    from_status: change.from?.status ?? null,
    from_reason: change.from?.reason ?? null,
    to_status: change.to?.status ?? null,
    to_reason: change.to?.reason ?? null,
    from_waived: change.from_waived,
    to_waived: change.to_waived,
    expected: change.expected,
    actual: change.actual,
    to_pass: change.to_pass,
    rule_status: change.rule.status,
    rule_reason: change.rule.reason,
    rule_severity: change.rule.severity,
    seen_at: toInstant(change.seen_at),
    cause: change.cause,
    explained_by: change.explained_by,
    also: change.also,
  };
}

/** Postgres takes fewer forms of a time than JavaScript does. */
function toInstant(time: string): string {
  return new Date(time).toISOString();
}
