import { Hono } from "hono";
import { isUnavailable } from "../../../shared/app_error.ts";
import { monitorSchema, type MonitorEvents } from "../../../shared/schemas/monitor.ts";
import { monitorUpdateSchema, newMonitorSchema, type MonitorUpdate } from "../../../shared/schemas/monitor_requests.ts";
import { component, json, problem } from "../../description/operation.ts";
import type { Allowed } from "../../http/allowed.ts";
import type { FeatureDependencies } from "../features.ts";
import { listByTime } from "../../http/paging.ts";
import type { Access } from "../../auth/membership.ts";
import { defineResource } from "../../http/resource.ts";
import { organizationAnnouncerOf } from "../organizations/announce_updates.ts";
import { afterResponse } from "../after_response.ts";
import { announceDeleted } from "../announce_deleted.ts";
import { createMonitorAnnouncer, type Publish } from "./announce_monitor.ts";
import { defineChangeRoutes } from "./change_routes.ts";
import { storePublished } from "./change_store.ts";
import { monitorEventStream } from "./channels.ts";
import { monitorEvents, monitorPrefix } from "./events.ts";
import { monitorExample, monitorUpdateExample, newMonitorExample } from "./examples.ts";
import { markingStale } from "./mark_stale.ts";
import { toMonitor, toMonitorUpdated, type MonitorRow } from "./monitor.ts";
import {
  deleteMonitor,
  putMonitor,
  monitorById,
  requireMonitor,
  selectMonitor,
  selectMonitors,
  updateMonitor,
  type UpdatedMonitor,
} from "./monitor_store.ts";

/** With this the end is still published while the producer waits. */
const beforeEndMs = 500;

const Monitor = component("Monitor", monitorSchema);
const theMonitor = json(Monitor, "The monitor now", { example: monitorExample });

/** Monitors, their changes and streams, as the gateway mounts them. */
export const monitors = {
  prefix: monitorPrefix,
  tags: [{ name: "monitors", description: "The current results of an org, and their changes" }],
  isEndedByGatewayAlone: true,
  onPublish: storePublished,
  routes: monitorRoutes,
  eventStreams: { "/monitors": monitorEventStream },
  tasks: [markingStale],
} as const;

function monitorRoutes(dependencies: FeatureDependencies): Hono<Allowed> {
  const { nowMs } = dependencies;
  const { publishStored, publishEnd } = createMonitorAnnouncer(dependencies);
  const { publishMonitorError, publishMonitorStart, publishMonitorUpdated } = monitorEvents(dependencies);
  const routes = new Hono<Allowed>();
  const resource = defineResource(routes, { tag: "monitors", what: "monitor" });
  const organizations = organizationAnnouncerOf(dependencies);

  resource.on(
    "PUT /monitors/:id",
    {
      allow: "publish",
      operationId: "putMonitor",
      summary: "Start a monitor",
      description:
        "Under an id that the client made and keeps: sent again it is a restart of the same monitor, with another " +
        "interval where the body has one. Publishes `monitor.start`.",
      body: { schema: newMonitorSchema, example: newMonitorExample },
      answers: {
        200: json(Monitor, "Started again", { headers: ["Location"] }),
        201: json(Monitor, "Registered", { headers: ["Location"], example: monitorExample }),
        409: problem("The monitor has ended, or follows another org"),
      },
    },
    async ({ c, principal, id: monitorId, body: monitor, write }) => {
      const { row, isNew } = await write((db) => putMonitor(db, principal, { monitorId, monitor }));
      const start = { monitor_id: row.id, org_url: row.orgUrl, interval_seconds: row.intervalSeconds };
      await publishStored(row, [(channel) => publishMonitorStart(channel, start)]);
      afterResponse(c, organizations.updated(row.tenantId, row));
      return c.json(toMonitor(row, nowMs()), isNew ? 201 : 200, { location: `/api/v1/monitors/${row.id}` });
    },
  );

  resource.list(
    "GET /monitors",
    {
      allow: "read",
      operationId: "listMonitors",
      summary: "List monitors, newest first",
      list: listByTime("monitors", (row: MonitorRow) => toMonitor(row, nowMs())),
      of: [Monitor, "MonitorPage"],
      example: monitorExample,
    },
    ({ page, readOne }) => readOne((db) => selectMonitors(db, page)),
  );

  resource.on(
    "GET /monitors/:id",
    { allow: "read", operationId: "getMonitor", summary: "Read a monitor", answers: { 200: theMonitor } },
    async ({ c, id, readOne }) =>
      c.json(toMonitor(requireMonitor(await readOne((db) => monitorById(db, id))), nowMs())),
  );

  resource.on(
    "PATCH /monitors/:id",
    {
      allow: "publish",
      operationId: "updateMonitor",
      summary: "Report that the producer is alive, what it counts, or the end",
      description:
        "A running monitor without a report for three intervals, at least 60 s, is `stale`. Publishes " +
        "`monitor.updated`; with an `error_code` that is new, or a gap, `monitor.error`; with the status `ended` " +
        "`monitor.end`. A stopped monitor goes on with the next PUT. `pass`, `fail`, `manual` and `not_applicable` are together no more " +
        "than `checks_total` unless it is 0, which means: not known. What is left out is judged by what is stored.",
      body: { schema: monitorUpdateSchema, example: monitorUpdateExample },
      answers: { 200: theMonitor, 409: problem("The monitor has ended") },
    },
    async ({ c, id, body: update, read, write }) => {
      const { row, previousErrorCode, previousStatus } = await storeUpdate({ read, write }, id, update);
      const error = toMonitorError(row, update, previousErrorCode);
      const reports: Publish[] = [(channel) => publishMonitorUpdated(channel, toMonitorUpdated(row))];
      if (error !== null) reports.push((channel) => publishMonitorError(channel, error));
      await publishStored(row, reports, { waitMs: row.status === "ended" ? beforeEndMs : undefined });
      if (row.status === "ended") await publishEnd(row, "ended");
      // Counts follow the changes that explain them.
      if (previousStatus !== row.status || update.fail !== undefined)
        afterResponse(c, organizations.updated(row.tenantId, row));
      return c.json(toMonitor(row, nowMs()));
    },
  );

  resource.on(
    "DELETE /monitors/:id",
    {
      allow: "decide",
      operationId: "deleteMonitor",
      summary: "Delete a monitor and its changes",
      description: "Its streams end with `monitor.end`. A PUT under its id makes a new monitor.",
      answers: { 204: { description: "Deleted" } },
    },
    async ({ c, id, write }) => {
      const deleted = await deleteMonitor(write, id, (row) => publishEnd(row, "deleted"));
      await announceDeleted({ ...deleted, kind: "monitor" }, dependencies);
      afterResponse(c, organizations.updated(deleted.tenantId, deleted));
      return c.body(null, 204);
    },
  );

  defineChangeRoutes(resource);

  return routes;
}

/** The database may store an end and lose its answer: then it is looked up, because no other request would publish it. */
async function storeUpdate(
  { read, write }: Pick<Access, "read" | "write">,
  monitorId: string,
  update: MonitorUpdate,
): Promise<UpdatedMonitor> {
  try {
    return await write((db) => updateMonitor(db, monitorId, update));
  } catch (error) {
    if (!isUnavailable(error) || update.status !== "ended") throw error;
    const row = await read((db) => selectMonitor(db, monitorId));
    if (row.status === "ended") return { row, previousErrorCode: row.errorCode, previousStatus: null };
    throw error;
  }
}

/** Once for each new error, and for each gap in what was read of the log; null: nothing to publish. */
function toMonitorError(
  row: MonitorRow,
  { error_code: code, gap_from: gapFrom, gap_to: gapTo }: MonitorUpdate,
  previousErrorCode: string | null,
): MonitorEvents["monitor.error"] | null {
  if (typeof code !== "string" || (code === previousErrorCode && gapFrom === undefined)) return null;
  return {
    monitor_id: row.id,
    code,
    detail: row.errorDetail ?? "",
    ...(gapFrom === undefined ? {} : { gap_from: new Date(gapFrom).toISOString() }),
    ...(gapTo === undefined ? {} : { gap_to: new Date(gapTo).toISOString() }),
  };
}
