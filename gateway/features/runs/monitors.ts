import { sql } from "drizzle-orm";
import { isFreshMonitor, runs } from "../../../drizzle/schema.ts";
import type { TenantDatabase } from "../../../drizzle/transactions.ts";
import { AppError } from "../../../shared/app_error.ts";
import { changeSchema } from "../../../shared/schemas/change.ts";
import {
  monitorSchema,
  type MonitorEvents,
  monitorUpdateSchema,
  newMonitorSchema,
  type MonitorUpdate,
  type NewMonitor,
} from "../../../shared/schemas/monitor.ts";
import { originOf } from "../../../shared/schemas/web_address.ts";
import type { Principal } from "../../auth/principal.ts";
import { component, json, problem } from "../../description/operation.ts";
import { isNumber, isText, listByTime } from "../../http/query.ts";
import type { Resource } from "../../http/resource.ts";
import { afterResponse, alsoToTenant, announcing } from "../announce.ts";
import type { FeatureDependencies } from "../features.ts";
import { announceOrganization } from "../organizations/organization.ts";
import { observePoll } from "../organizations/observe.ts";
import { toValues } from "../stored_rows.ts";
import { changeQuery, selectChanges, selectPresentFindings, storeChanges, toChange } from "./changes.ts";
import { monitorEvents, runChannel, toMonitor, toMonitorUpdated, type RunRow } from "./run.ts";
import { defineRuns } from "./runs.ts";
import { findCountProblem, monitorStore, type Reported } from "./store.ts";

const Monitor = component("Monitor", monitorSchema);
const Change = component("Change", changeSchema);

/** Monitors, their changes and streams. */
export const monitors = defineRuns({
  kind: "monitor",
  shown: Monitor,
  texts: {
    tag: "The current results of an org, and their changes",
    deletion: {
      summary: "Delete a monitor and its changes",
      description: "Its streams end with `monitor.end`. A PUT under its id makes a new monitor.",
    },
    stream:
      "Server-sent events until `monitor.end`, over every restart of the producer. Nothing is replayed: read the monitor and " +
      "its findings again on every `open`.",
  },
  onPublish: storeChanges,
  defineRoutes,
  // The tenant's stream hears of a deletion when it is done.
  announceEnd: (row, dependencies) =>
    monitorEvents(announcing(dependencies)).publishMonitorEnd(runChannel(row), {
      monitor_id: row.id,
      reason: "deleted",
    }),
  update: {
    summary: "Report that the producer is alive, what it counts, or the end",
    description:
      "A running monitor without a report for three intervals, at least 60 s, is `stale`. Publishes " +
      "`monitor.updated`; with an `error_code` that is new, or a gap, `monitor.error`; with the status `ended` " +
      "`monitor.end`. A stopped monitor goes on with the next PUT.",
    counts: "`checks_total`",
    schema: monitorUpdateSchema,
    example: { status: "running", log_status: "reading", last_look_at: "2026-11-22T14:03:12.000Z", lag_seconds: 1.4 },
    toChange: (update) => ({
      ...toValues(runs, update),
      // The detail belongs to the code.
      ...(update.error_code === null && { errorDetail: null }),
      staleAt: null,
    }),
    async onStored(db, { row, before }, update) {
      const { lastLookAt: polledAt } = row;
      // While the log cannot be read, reports repeat an earlier time: they know nothing newer.
      if (polledAt !== null && polledAt > (before.lastLookAt ?? 0))
        await observePoll(db, row, { polledAt, hasGap: update.gap_to !== undefined });
    },
    async announce({ c, body }, reported, dependencies) {
      const { row, before } = reported;
      const { publishMonitorEnd, publishMonitorError, publishMonitorUpdated } = toBoth(dependencies);
      const channel = runChannel(row);
      const error = toMonitorError(reported, body);
      await Promise.all([
        publishMonitorUpdated(channel, toMonitorUpdated(row)),
        error && publishMonitorError(channel, error),
        row.endedAt && publishMonitorEnd(channel, { monitor_id: row.id, reason: "ended" }),
      ]);
      // The counts of the organization come with the changes that explain them.
      const isOther = row.endedAt !== null || before.status !== row.status || before.staleAt !== null;
      if (isOther) afterResponse(c, announceOrganization(dependencies, row));
    },
  },
  // Published once, until it reports again.
  silence: {
    due: "monitors_silent_due",
    firstAfterMs: 60_000,
    everyMs: 15_000,
    isDue: sql`${isFreshMonitor} and ${runs.staleFrom} <= now()`,
    change: { staleAt: sql`now()` },
    async announce(row, dependencies) {
      const { publishMonitorUpdated } = toBoth(dependencies);
      await publishMonitorUpdated(runChannel(row), { ...toMonitorUpdated(row), status: "stale" });
      await announceOrganization(dependencies, row);
    },
  },
});

/** The events of monitors, on the monitor's channel and on its tenant's. */
function toBoth(dependencies: FeatureDependencies) {
  return monitorEvents(alsoToTenant(announcing(dependencies)));
}

function defineRoutes(resource: Resource, dependencies: FeatureDependencies): void {
  resource.on("PUT /monitors/:id", "putMonitor", {
    allow: "publish",
    summary: "Start a monitor",
    description:
      "Under an id that the client made and keeps: sent again it is a restart of the same monitor, with another " +
      "interval where the body has one. Publishes `monitor.start`.",
    body: { schema: newMonitorSchema, example: { org_url: "https://acme.okta.com", interval_seconds: 10 } },
    answers: {
      200: json(Monitor, "Started again", ["Location"]),
      201: json(Monitor, "Registered", ["Location"]),
      409: problem("The monitor has ended, or follows another org"),
    },
    handle: async ({ c, principal, id, body, write }) => {
      const { row, isNew } = await write((db) => putMonitor(db, principal, id, body));
      const start = { monitor_id: row.id, org_url: body.org_url, interval_seconds: row.intervalSeconds };
      await toBoth(dependencies).publishMonitorStart(runChannel(row), start);
      afterResponse(c, announceOrganization(dependencies, row));
      const location = `/api/v1/monitors/${row.id}`;
      return c.json(toMonitor(row), isNew ? 201 : 200, { location });
    },
  });

  resource.list("GET /monitors/:id/changes", "listChanges", {
    allow: "read",
    summary: "List a monitor's changes, newest first",
    query: changeQuery,
    list: listByTime(toChange, "number", isNumber),
    of: [Change, "ChangePage"],
    select: ({ id, read, ...asked }) => read((db) => selectChanges(db, id, asked)),
  });

  resource.list("GET /monitors/:id/findings", "listMonitorFindings", {
    allow: "read",
    summary: "List a monitor's present findings",
    description:
      "The last change of each finding that is still there, by fingerprint; its `to` is the present verdict.",
    list: listByTime(toChange, "fingerprint", isText),
    of: [Change, "ChangePage"],
    select: ({ id, page, read }) => read((db) => selectPresentFindings(db, id, page)),
  });
}

/**
 * Registers a monitor under an id that its producer keeps; the same id again is a restart. Rejects with `AppError("conflict")` for one
 * that has ended or follows another org.
 */
export async function putMonitor(
  db: TenantDatabase,
  { tenantId }: Principal,
  id: string,
  monitor: NewMonitor,
): Promise<{ readonly row: RunRow; readonly isNew: boolean }> {
  const given = toValues<RunRow>(runs, monitor);
  const { org_url: orgUrl } = monitor;
  const own = { id, tenantId, orgUrl, origin: originOf(orgUrl) };
  const created = await monitorStore.insert(db, { ...given, ...own, status: "running", startedAt: sql`now()` });
  if (created !== null) return { row: created, isNew: true };
  const before = await monitorStore.lockOpen(db, id);
  if (before.orgUrl !== orgUrl) {
    throw new AppError("conflict", "The monitor follows another org: expected the same org_url, or a new UUID");
  }
  const row = await monitorStore.updateOpen(db, id, {
    status: "running",
    ...given,
    // Counts that no longer fit the total would refuse every later report that leaves them out.
    ...(findCountProblem({ ...before, ...given }) && { pass: 0, fail: 0, manual: 0, notApplicable: 0 }),
    // The last process's, of which this one knows nothing yet.
    logStatus: "unknown",
    errorCode: null,
    errorDetail: null,
    updatedAt: sql`now()`,
    startedAt: sql`now()`,
    staleAt: null,
  });
  return { row, isNew: false };
}

/** Once for each new error, and for each gap in what was read of the log; null: nothing to publish. */
function toMonitorError(
  { row, before }: Reported,
  { error_code: code, gap_from: gapFrom, gap_to: gapTo }: MonitorUpdate,
): MonitorEvents["monitor.error"] | null {
  if (typeof code !== "string" || (code === before.errorCode && gapFrom === undefined)) return null;
  return {
    monitor_id: row.id,
    code,
    detail: row.errorDetail ?? "",
    ...(gapFrom === undefined ? {} : { gap_from: new Date(gapFrom).toISOString() }),
    ...(gapTo === undefined ? {} : { gap_to: new Date(gapTo).toISOString() }),
  };
}
