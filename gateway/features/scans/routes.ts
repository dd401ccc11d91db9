import { Hono } from "hono";
import { AppError } from "../../../shared/app_error.ts";
import { isUuid } from "../../../shared/channel_name.ts";
import { scanPrefix } from "../../../shared/scan_events.ts";
import {
  newFindingsSchema,
  newScanSchema,
  scanUpdateSchema,
  type ScanUpdate,
} from "../../../shared/schemas/scan_requests.ts";
import type { TenantDatabase } from "../../../drizzle/with_tenant.ts";
import { withPrincipal } from "../../auth/membership.ts";
import { createAllow, readsMuch, type Allowed } from "../../http/allow.ts";
import { parseBody, readJson } from "../../http/body.ts";
import type { Dependencies } from "../../http/dependencies.ts";
import { parsePageRequest, toPage, type List } from "../../http/paging.ts";
import { pathId } from "../../http/path_id.ts";
import type { AllowedPrincipal } from "../../auth/principal.ts";
import { afterResponse } from "../after_response.ts";
import { organizationAnnouncerOf } from "../organizations/announce_updates.ts";
import { createChangeAnnouncer } from "./announce_changes.ts";
import { announceDeleted } from "./announce_deleted.ts";
import { announceEnd } from "./announce_end.ts";
import { scanEventStream, scansEventStream } from "./channels.ts";
import { reportRoutes } from "./report/report_routes.ts";
import { selectFindings, storeFindings, toFinding, type FindingRow } from "./finding_store.ts";
import { hasEnded, toScan, type ScanRow } from "./scan.ts";
import { deleteScan, insertScan, putScan, requestCancel, selectScan, selectScans, updateScan } from "./scan_store.ts";

const maxBodyBytes = 65_536;
/** A thousand findings, each with a few kilobytes of text. */
const maxFindingsBytes = 8 * 1024 * 1024;
const maxFindingsValues = 100_000;

const scanList: List<ScanRow, unknown> = {
  name: "scans",
  isKey: isUuid,
  position: (row) => ({ createdAt: row.createdAt, key: row.id }),
  item: toScan,
};

const findingList: List<FindingRow, unknown> = {
  name: "findings",
  isKey: (key) => key.length <= 200 && !key.includes("\0"),
  position: (row) => ({ createdAt: row.createdAt, key: row.fingerprint }),
  item: toFinding,
};

/** Scans and their streams, as the gateway mounts them. */
export const scans = {
  prefix: scanPrefix,
  routes: scanRoutes,
  eventStreams: { "/scans": scanEventStream, "/": scansEventStream },
};

/** The REST resources of scans. The client is authenticated before any of the request's body is read. */
function scanRoutes(dependencies: Dependencies): Hono<Allowed> {
  const { database, publisher, log, webhooks } = dependencies;
  const allow = createAllow(dependencies);
  const routes = new Hono<Allowed>();
  const announcer = createChangeAnnouncer(dependencies);
  const organizations = organizationAnnouncerOf(dependencies);

  routes.post("/scans", allow("register"), async (c) => {
    const principal = c.get("principal");
    const scan = parseBody(newScanSchema, await readJson(c.req.raw, { maxBytes: maxBodyBytes, whenEmpty: {} }));
    const row = await query(principal, (db) => insertScan(db, principal, scan));
    afterResponse(c, announcer.created(row));
    afterResponse(c, organizations.updated(row.tenantId, row));
    return c.json(toScan(row), 201, { location: `/api/v1/scans/${row.id}` });
  });

  routes.put("/scans/:id", allow("publish"), async (c) => {
    const principal = c.get("principal");
    const scanId = pathId(c, "scan");
    const scan = parseBody(newScanSchema, await readJson(c.req.raw, { maxBytes: maxBodyBytes, whenEmpty: {} }));
    const { row, isNew } = await query(principal, (db) => putScan(db, principal, { scanId, scan }));
    // Registered before, its creation may not have been published: the answer of the database was lost.
    afterResponse(c, isNew ? announcer.created(row) : announcer.updated(row));
    if (isNew) afterResponse(c, organizations.updated(row.tenantId, row));
    return c.json(toScan(row), isNew ? 201 : 200, { location: `/api/v1/scans/${row.id}` });
  });

  routes.get("/scans", allow("read"), async (c) => {
    const principal = c.get("principal");
    const page = parsePageRequest(c.req.url, scanList);
    const rows = await query(principal, (db) => selectScans(db, page));
    return c.json(toPage(rows, page.limit, scanList));
  });

  routes.get("/scans/:id", allow("read"), async (c) => {
    const principal = c.get("principal");
    const scanId = pathId(c, "scan");
    return c.json(toScan(await query(principal, (db) => selectScan(db, scanId))));
  });

  routes.patch("/scans/:id", allow("publish"), async (c) => {
    const principal = c.get("principal");
    const scanId = pathId(c, "scan");
    const update = parseBody(scanUpdateSchema, await readJson(c.req.raw, { maxBytes: maxBodyBytes }));
    const row = await store(principal, scanId, update);
    const { status } = row;
    if (hasEnded(status)) {
      await announceEnd({ ...row, status, not_applicable: row.notApplicable }, { publisher, log });
      afterResponse(c, organizations.updated(row.tenantId, row));
      afterResponse(c, webhooks.sendDue());
    } else afterResponse(c, announcer.updated(row));
    return c.json(toScan(row));
  });

  routes.delete("/scans/:id", allow("delete"), async (c) => {
    const principal = c.get("principal");
    const scanId = pathId(c, "scan");
    const deleted = await query(principal, (db) => deleteScan(db, scanId));
    await announceDeleted(deleted, { publisher, log });
    afterResponse(c, organizations.updated(deleted.tenantId, { lastScanId: scanId }));
    // One that ran has ended with it.
    afterResponse(c, webhooks.sendDue());
    return c.body(null, 204);
  });

  routes.post("/scans/:id/cancel", allow("register"), async (c) => {
    const principal = c.get("principal");
    const scanId = pathId(c, "scan");
    const row = await query(principal, (db) => requestCancel(db, scanId));
    afterResponse(c, announcer.updated(row));
    return c.json(toScan(row), 202);
  });

  routes.get("/scans/:id/findings", allow("read"), readsMuch, async (c) => {
    const principal = c.get("principal");
    const scanId = pathId(c, "scan");
    const page = parsePageRequest(c.req.url, findingList);
    const rows = await query(principal, async (db) => {
      const found = await selectFindings(db, scanId, page);
      // No finding is an answer only when there is such a scan.
      if (found.length === 0) await selectScan(db, scanId);
      return found;
    });
    return c.json(toPage(rows, page.limit, findingList));
  });

  routes.post("/scans/:id/findings", allow("publish"), async (c) => {
    const principal = c.get("principal");
    const scanId = pathId(c, "scan");
    const { findings } = parseBody(
      newFindingsSchema,
      await readJson(c.req.raw, { maxBytes: maxFindingsBytes, maxValues: maxFindingsValues }),
    );
    const counts = await query(principal, (db) => storeFindings(db, scanId, findings));
    return c.json({ received: findings.length, ...counts });
  });

  routes.route("/", reportRoutes(dependencies));
  return routes;

  /** The database may store an end and lose its answer: then it is looked up, because no other request would publish it. */
  async function store(principal: AllowedPrincipal, scanId: string, update: ScanUpdate): Promise<ScanRow> {
    try {
      return await query(principal, (db) => updateScan(db, scanId, update));
    } catch (error) {
      const isLost = error instanceof AppError && error.code === "unavailable";
      if (!isLost || update.status === undefined || !hasEnded(update.status)) throw error;
      const row = await query(principal, (db) => selectScan(db, scanId));
      if (row.status === update.status) return row;
      throw error;
    }
  }

  function query<Result>(principal: AllowedPrincipal, work: (db: TenantDatabase) => Promise<Result>): Promise<Result> {
    return withPrincipal(database, principal, work);
  }
}
