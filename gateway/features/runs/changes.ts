import { and, desc, eq, isNotNull, lt, sql, type SQL } from "drizzle-orm";
import { changes, runs } from "../../../drizzle/schema.ts";
import type { TenantDatabase } from "../../../drizzle/transactions.ts";
import { NotFound } from "../../../shared/app_error.ts";
import { isUuid, type ChannelName } from "../../../shared/channel_name.ts";
import { toMovedFinding } from "../../../shared/finding_updated.ts";
import { toCheckName } from "../../../shared/rule_names.ts";
import { changeSchema, type Change } from "../../../shared/schemas/change.ts";
import { monitorEventSchemas, type FindingUpdated } from "../../../shared/schemas/monitor.ts";
import { described, text } from "../../../shared/schemas/primitives.ts";
import { parseBody } from "../../http/body.ts";
import { invalidField } from "../../http/problem.ts";
import { checkParameter, maxPageLength, type PageRequest, type QueryValues } from "../../http/query.ts";
import type { Call } from "../../http/resource.ts";
import type { ChannelEvent, PublishedEvent } from "../../streaming/published.ts";
import { tenantChannel } from "../announce.ts";
import { observeChanges } from "../organizations/observe.ts";
import { organizationUpdated } from "../organizations/organization.ts";
import { emptyRow, insertRows, selectUpTo, toFields } from "../stored_rows.ts";
import { monitorStore } from "./store.ts";

export type ChangeRow = typeof changes.$inferSelect;

/**
 * Stores the changes that are published of a monitor that has not ended, in their order and each once by its id, and returns them
 * for the tenant's stream, but for the first state. Rejects with `NotFound`, `AppError("conflict")` or `InvalidBody`.
 */
export async function storeChanges(
  db: TenantDatabase,
  events: readonly PublishedEvent[],
  { resourceId: monitorId, tenantId }: ChannelName,
): Promise<readonly ChannelEvent[]> {
  if (!isUuid(monitorId)) throw new NotFound("No such monitor");
  const changed = events.filter(({ type }) => type === "finding.updated");
  const given = changed.map((event) => requireUpdate(event, monitorId));
  const updates = [...new Map(given.map((update) => [update.id, update])).values()];
  // The first state is not a move.
  const lastMove = updates.findLast(({ cause }) => cause !== "start");
  const monitor = await monitorStore.updateOpen(db, monitorId, {
    lastChangeNumber: sql`${runs.lastChangeNumber} + ${updates.length}::integer`,
    ...(lastMove !== undefined && { lastChangeAt: new Date(lastMove.seen_at) }),
  });
  const firstNumber = monitor.lastChangeNumber - updates.length + 1;
  const rows = updates.map((update, index) => ({ ...toRow(tenantId, update), number: firstNumber + index }));
  const stored = await db.execute<{ id: string }>(
    sql`${insertRows(changes, rows)} on conflict (tenant_id, monitor_id, id) do nothing returning id`,
  );
  const ids = new Set(stored.rows.map(({ id }) => id));
  const created = updates.filter(({ id }) => ids.has(id));
  await observeChanges(db, monitor, created.map(toMovedFinding));
  const organization = created.length === 0 ? [] : await organizationUpdated(db, monitor);
  const moved = changed.filter(({ payload }) => payload["cause"] !== "start");
  return [...moved.map((event) => ({ ...event, channel: tenantChannel(tenantId) })), ...organization];
}

function requireUpdate({ payload, pointer }: PublishedEvent, monitorId: string): FindingUpdated {
  const update = parseBody(monitorEventSchemas["finding.updated"], payload, pointer);
  if (update.monitor_id !== monitorId) {
    throw invalidField(`${pointer}/monitor_id`, `expected ${monitorId}, the monitor of the channel`);
  }
  for (const list of ["event_types", "event_objects", "actors"] as const) {
    const [given, expected] = [update[list].length, update.event_ids.length];
    if (given === expected) continue;
    throw invalidField(`${pointer}/${list}`, `has ${given} entries: expected ${expected}, one for each of event_ids`);
  }
  if (update.from !== null || update.to !== null) return update;
  throw invalidField(`${pointer}/to`, "is null as from is: expected a status before or after");
}

function toRow(tenantId: string, update: FindingUpdated): object {
  const { rule, explained_by } = toMovedFinding(update);
  return {
    ...emptyRow(changes),
    ...update,
    tenant_id: tenantId,
    check: toCheckName(update.check),
    from_status: update.from,
    to_status: update.to,
    rule_severity: rule.severity,
    // Postgres takes fewer forms of a time than JavaScript does.
    seen_at: new Date(update.seen_at).toISOString(),
    not_before: update.not_before && new Date(update.not_before).toISOString(),
    explained_by,
  };
}

export const changeQuery = {
  fingerprint: described(text(1, 200), "One finding"),
  check: checkParameter("One check"),
};

/** Newest first, one row beyond the limit. */
export async function selectChanges(
  db: TenantDatabase,
  monitorId: string,
  { page: { after, limit }, parameters }: Pick<Call<unknown, QueryValues<typeof changeQuery>>, "page" | "parameters">,
): Promise<readonly ChangeRow[]> {
  const { number, fingerprint, check } = changes;
  const condition = and(
    eq(changes.monitorId, monitorId),
    after === null ? undefined : lt(number, Number(after.key)),
    parameters.fingerprint === null ? undefined : eq(fingerprint, parameters.fingerprint),
    parameters.check === null ? undefined : eq(check, parameters.check),
  );
  return selectPage(db, monitorId, changes, { where: condition, by: desc(number), limit });
}

/** The last change of every finding that is still there, by fingerprint from the end, one row beyond the limit. */
export async function selectPresentFindings(
  db: TenantDatabase,
  monitorId: string,
  { after, limit }: PageRequest,
): Promise<readonly ChangeRow[]> {
  const isNext = after === null ? undefined : lt(changes.fingerprint, after.key);
  const last = lastChanges(db, and(eq(changes.monitorId, monitorId), isNext));
  return selectPage(db, monitorId, last, { where: isNotNull(changes.toStatus), by: desc(changes.fingerprint), limit });
}

/** The newest change of each finding of each monitor, of the changes that meet the condition. */
export function lastChanges(db: TenantDatabase, condition: SQL | undefined) {
  const { monitorId, fingerprint, number } = changes;
  return db
    .selectDistinctOn([monitorId, fingerprint])
    .from(changes)
    .where(condition)
    .orderBy(desc(monitorId), desc(fingerprint), desc(number))
    .as("changes");
}

/** Rejects with `NotFound`. */
async function selectPage(
  db: TenantDatabase,
  monitorId: string,
  rows: typeof changes | ReturnType<typeof lastChanges>,
  list: { readonly where: SQL | undefined; readonly by: SQL; readonly limit: number },
): Promise<readonly ChangeRow[]> {
  const { expected, actual, toPass, explainedBy, also } = changes;
  const size = sql`octet_length(concat(${expected}, ${actual}, ${toPass}, ${explainedBy}, ${also}))`;
  // A character of the page has three bytes at most.
  const maxSize = 3 * maxPageLength;
  const found = await selectUpTo(db, changes, { ...list, from: rows as typeof changes, size, maxSize });
  return monitorStore.ofRun(db, monitorId, found);
}

export function toChange(row: ChangeRow): Change {
  const { fromStatus, fromReason, toStatus, toReason } = row;
  return toFields(
    changeSchema,
    { table: changes, row },
    {
      schema: "scanstream.change/1",
      resource: { type: row.resourceType, id: row.resourceId, name: row.resourceName },
      from: fromStatus === null ? null : { status: fromStatus, reason: fromReason },
      to: toStatus === null ? null : { status: toStatus, reason: toReason },
      rule: { status: row.ruleStatus, reason: row.ruleReason, severity: row.ruleSeverity },
    },
  );
}
