import { Hono, type Context } from "hono";
import type { TenantDatabase } from "../../../drizzle/with_tenant.ts";
import { AppError } from "../../../shared/app_error.ts";
import type { Publisher } from "../../../shared/broker.ts";
import { isUuid } from "../../../shared/channel_name.ts";
import { newChangesSchema, type NewChange } from "../../../shared/schemas/change.ts";
import type { MonitorEvents } from "../../../shared/schemas/monitor.ts";
import { monitorUpdateSchema, newMonitorSchema, type MonitorUpdate } from "../../../shared/schemas/monitor_requests.ts";
import { withPrincipal } from "../../auth/membership.ts";
import type { AllowedPrincipal } from "../../auth/principal.ts";
import { createAllow, readsMuch, type Allowed } from "../../http/allow.ts";
import { parseBody, readJson } from "../../http/body.ts";
import type { Dependencies } from "../../http/dependencies.ts";
import { parsePageRequest, toPage, type List } from "../../http/paging.ts";
import { pathId } from "../../http/path_id.ts";
import { textParameter } from "../../http/query_parameter.ts";
import { checkParameter } from "../check_parameter.ts";
import { organizationAnnouncerOf } from "../organizations/announce_updates.ts";
import { afterResponse } from "../after_response.ts";
import { announce } from "../announce.ts";
import { selectChanges, selectPresentFindings, selectStored, storeChanges, type ChangeFilter } from "./change_store.ts";
import { monitorEventStream } from "./channels.ts";
import { tenantChannel } from "../tenant_events.ts";
import { createDoorbell, createRingAnnouncer, doorbellPath, doorbellRoutes } from "./doorbell.ts";
import {
  monitorChannel,
  monitorPrefix,
  publishFindingUpdated,
  publishMonitorEnd,
  publishMonitorError,
  publishMonitorStart,
  publishMonitorUpdated,
} from "./events.ts";
import { toChange, toFindingUpdated, toMonitor, toMonitorUpdated, type ChangeRow, type MonitorRow } from "./monitor.ts";
import {
  deleteMonitor,
  putDoorbell,
  putMonitor,
  requestLook,
  selectMonitor,
  selectMonitors,
  updateMonitor,
  type UpdatedMonitor,
} from "./monitor_store.ts";

const maxBodyBytes = 65_536;
/** Five hundred changes, each with the log events that explain it. */
const maxChangesBytes = 8 * 1024 * 1024;
const maxChangesValues = 300_000;
const maxFilterLength = 200;
/** With this the end is still published while the producer waits. */
const beforeEndMs = 500;

const changeList: List<ChangeRow, unknown> = {
  name: "changes",
  isKey: (key) => /^\d{1,15}$/.test(key),
  position: (row) => ({ createdAt: row.createdAt, key: String(row.number) }),
  item: toChange,
};

const findingList: List<ChangeRow, unknown> = {
  name: "monitor_findings",
  isKey: (key) => key.length <= 200 && !key.includes("\0"),
  position: (row) => ({ createdAt: row.createdAt, key: row.fingerprint }),
  item: toChange,
};

/** Monitors, their changes, streams and doorbells, as the gateway mounts them. */
export const monitors = {
  prefix: monitorPrefix,
  routes: monitorRoutes,
  eventStreams: { "/monitors": monitorEventStream },
  hooks: doorbellRoutes,
};

type Publish = (publisher: Publisher, channel: string) => Promise<void>;

/** The REST resources of monitors. The client is authenticated before any of the request's body is read. */
function monitorRoutes(dependencies: Dependencies): Hono<Allowed> {
  const { database, publisher, log, nowMs, webhooks } = dependencies;
  const allow = createAllow(dependencies);
  const routes = new Hono<Allowed>();
  const organizations = organizationAnnouncerOf(dependencies);
  const announceRing = createRingAnnouncer(dependencies);
  const monitorList: List<MonitorRow, unknown> = {
    name: "monitors",
    isKey: isUuid,
    position: (row) => ({ createdAt: row.createdAt, key: row.id }),
    item: (row) => toMonitor(row, nowMs()),
  };

  routes.put("/monitors/:id", allow("publish"), async (c) => {
    const principal = c.get("principal");
    const monitorId = pathId(c, "monitor");
    const monitor = parseBody(newMonitorSchema, await readJson(c.req.raw, { maxBytes: maxBodyBytes }));
    const { row, isNew } = await query(principal, (db) => putMonitor(db, principal, { monitorId, monitor }));
    const start = { monitor_id: row.id, org_url: row.orgUrl, interval_seconds: row.intervalSeconds };
    await publishStored(row, [(to, channel) => publishMonitorStart(to, channel, start)]);
    afterResponse(c, organizations.updated(row.tenantId, row));
    return c.json(toMonitor(row, nowMs()), isNew ? 201 : 200, { location: `/api/v1/monitors/${row.id}` });
  });

  routes.get("/monitors", allow("read"), async (c) => {
    const principal = c.get("principal");
    const page = parsePageRequest(c.req.url, monitorList);
    const rows = await query(principal, (db) => selectMonitors(db, page));
    return c.json(toPage(rows, page.limit, monitorList));
  });

  routes.get("/monitors/:id", allow("read"), async (c) => {
    const principal = c.get("principal");
    const monitorId = pathId(c, "monitor");
    return c.json(toMonitor(await query(principal, (db) => selectMonitor(db, monitorId)), nowMs()));
  });

  routes.patch("/monitors/:id", allow("publish"), async (c) => {
    const principal = c.get("principal");
    const monitorId = pathId(c, "monitor");
    const update = parseBody(monitorUpdateSchema, await readJson(c.req.raw, { maxBytes: maxBodyBytes }));
    const { row, previousErrorCode, previousStatus } = await storeUpdate(principal, monitorId, update);
    const error = toMonitorError(row, update, previousErrorCode);
    const reports: Publish[] = [(to, channel) => publishMonitorUpdated(to, channel, toMonitorUpdated(row))];
    if (error !== null) reports.push((to, channel) => publishMonitorError(to, channel, error));
    await publishStored(row, reports, { waitMs: row.status === "ended" ? beforeEndMs : undefined });
    if (row.status === "ended") await publishEnd(row, "ended");
    if (previousStatus !== row.status) afterResponse(c, organizations.updated(row.tenantId, row));
    if (error !== null) afterResponse(c, webhooks.sendDue());
    return c.json(toMonitor(row, nowMs()));
  });

  routes.delete("/monitors/:id", allow("delete"), async (c) => {
    const principal = c.get("principal");
    const id = pathId(c, "monitor");
    const { tenantId } = await query(principal, (db) => deleteMonitor(db, id));
    await publishEnd({ id, tenantId }, "deleted");
    afterResponse(c, organizations.updated(tenantId, { monitorId: id }));
    return c.body(null, 204);
  });

  routes.post("/monitors/:id/check", allow("register"), async (c) => {
    const principal = c.get("principal");
    const monitorId = pathId(c, "monitor");
    const isFirst = await query(principal, (db) => requestLook(db, monitorId));
    await announceRing(c, { tenantId: principal.tenantId, monitorId, isFirst });
    return c.body(null, 204);
  });

  routes.post("/monitors/:id/changes", allow("publish"), async (c) => {
    const principal = c.get("principal");
    const id = pathId(c, "monitor");
    const { changes } = parseBody(
      newChangesSchema,
      await readJson(c.req.raw, { maxBytes: maxChangesBytes, maxValues: maxChangesValues }),
    );
    const created = await storeNewChanges(principal, id, changes);
    await publishStored(
      { id, tenantId: principal.tenantId },
      created
        .filter(({ cause }) => cause !== "start")
        .map((change) => (to, channel) => publishFindingUpdated(to, channel, toFindingUpdated(id, change))),
      { isForTenant: false },
    );
    if (created.length > 0) {
      afterResponse(c, organizations.updated(principal.tenantId, { monitorId: id }));
      afterResponse(c, webhooks.sendDue());
    }
    return c.json({ received: changes.length, created: created.length });
  });

  routes.get("/monitors/:id/changes", allow("read"), readsMuch, async (c) => {
    const principal = c.get("principal");
    const monitorId = pathId(c, "monitor");
    const page = parsePageRequest(c.req.url, changeList);
    const filter = parseChangeFilter(c);
    const rows = await query(principal, async (db) => {
      const found = await selectChanges(db, monitorId, { page, filter });
      // No change is an answer only when there is such a monitor.
      if (found.length === 0) await selectMonitor(db, monitorId);
      return found;
    });
    return c.json(toPage(rows, page.limit, changeList));
  });

  routes.get("/monitors/:id/findings", allow("read"), readsMuch, async (c) => {
    const principal = c.get("principal");
    const monitorId = pathId(c, "monitor");
    const page = parsePageRequest(c.req.url, findingList);
    const rows = await query(principal, async (db) => {
      const found = await selectPresentFindings(db, monitorId, page);
      if (found.length === 0) await selectMonitor(db, monitorId);
      return found;
    });
    return c.json(toPage(rows, page.limit, findingList));
  });

  routes.put("/monitors/:id/doorbell", allow("publish"), async (c) => {
    const principal = c.get("principal");
    const monitorId = pathId(c, "monitor");
    const { secret, hash } = await createDoorbell();
    await query(principal, (db) => putDoorbell(db, monitorId, hash));
    const url = new URL(doorbellPath(monitorId), c.req.url);
    // A proxy that ends TLS: the provider calls no hook without it. Only the key's holder reads it.
    if (c.req.header("x-forwarded-proto") === "https") url.protocol = "https:";
    return c.json({ url: url.href, secret });
  });

  return routes;

  function publishEnd(row: Pick<MonitorRow, "id" | "tenantId">, reason: MonitorEvents["monitor.end"]["reason"]) {
    return publishStored(row, [(to, channel) => publishMonitorEnd(to, channel, { monitor_id: row.id, reason })]);
  }

  /** Stored before published: a client that reads the resource after an event finds what the event said. */
  async function publishStored(
    { id, tenantId }: Pick<MonitorRow, "id" | "tenantId">,
    publish: readonly Publish[],
    { waitMs, isForTenant = true }: { readonly waitMs?: number | undefined; readonly isForTenant?: boolean } = {},
  ): Promise<void> {
    if (publish.length === 0) return;
    const channels = [monitorChannel(tenantId, id), ...(isForTenant ? [tenantChannel(tenantId)] : [])];
    await announce(
      {
        publish: publish.flatMap((each) => channels.map((channel) => (to: Publisher) => each(to, channel))),
        failure: { fields: { monitor_id: id }, message: "events of a monitor could not be published" },
      },
      { publisher, log, waitMs },
    );
  }

  /** The database may store an end and lose its answer: then it is looked up, because no other request would publish it. */
  async function storeUpdate(
    principal: AllowedPrincipal,
    monitorId: string,
    update: MonitorUpdate,
  ): Promise<UpdatedMonitor> {
    try {
      return await query(principal, (db) => updateMonitor(db, monitorId, update));
    } catch (error) {
      if (!isLost(error) || update.status !== "ended") throw error;
      const row = await query(principal, (db) => selectMonitor(db, monitorId));
      if (row.status === "ended") return { row, previousErrorCode: row.errorCode, previousStatus: null };
      throw error;
    }
  }

  /** As with an end: the same request again would find nothing new to publish. */
  async function storeNewChanges(
    principal: AllowedPrincipal,
    monitorId: string,
    changes: readonly NewChange[],
  ): Promise<readonly NewChange[]> {
    try {
      return await query(principal, (db) => storeChanges(db, monitorId, changes));
    } catch (error) {
      if (!isLost(error)) throw error;
      const stored = await query(principal, (db) => selectStored(db, monitorId, changes));
      if (stored.length > 0) return stored;
      throw error;
    }
  }

  function query<Result>(principal: AllowedPrincipal, work: (db: TenantDatabase) => Promise<Result>): Promise<Result> {
    return withPrincipal(database, principal, work);
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

function isLost(error: unknown): boolean {
  return error instanceof AppError && error.code === "unavailable";
}

/** Throws `AppError("malformed")`. */
function parseChangeFilter(c: Context): ChangeFilter {
  return { fingerprint: textParameter(c, "fingerprint", maxFilterLength), check: checkParameter(c) };
}
