import { Hono } from "hono";
import { isUnavailable } from "../../../shared/app_error.ts";
import { scanPrefix } from "../../../shared/scan_events.ts";
import { storedFindingSchema } from "../../../shared/schemas/finding.ts";
import { scanSchema } from "../../../shared/schemas/scan.ts";
import { newScanSchema, scanUpdateSchema, type ScanUpdate } from "../../../shared/schemas/scan_requests.ts";
import { component, json, problem } from "../../description/operation.ts";
import type { Allowed } from "../../http/allowed.ts";
import type { FeatureDependencies } from "../features.ts";
import { listByTime, type List } from "../../http/paging.ts";
import type { Access } from "../../auth/membership.ts";
import { defineResource } from "../../http/resource.ts";
import { afterResponse } from "../after_response.ts";
import { announceDeleted } from "../announce_deleted.ts";
import { organizationAnnouncerOf } from "../organizations/announce_updates.ts";
import { createChangeAnnouncer } from "./announce_changes.ts";
import { announceEnd, type EndedScan } from "./announce_end.ts";
import { scanEventStream, scansEventStream } from "./channels.ts";
import { expiringScans } from "./expire_scans.ts";
import { findingExample, newScanExample, scanExample, scanUpdateExample } from "./examples.ts";
import { selectFindings, storePublished, toFinding, type FindingRow } from "./finding_store.ts";
import { defineReportRoutes } from "./report_routes.ts";
import { hasEnded, toScan, type ScanRow } from "./scan.ts";
import {
  deleteScan,
  insertScan,
  putScan,
  requestCancel,
  requireScan,
  scanById,
  selectScan,
  selectScans,
  updateScan,
} from "./scan_store.ts";

const scanList = listByTime("scans", toScan);
const findingList: List<FindingRow, unknown> = {
  name: "findings",
  isKey: (key) => key.length <= 200 && !key.includes("\0"),
  position: (row) => ({ createdAt: row.createdAt, key: row.fingerprint }),
  item: toFinding,
};

const Scan = component("Scan", scanSchema);
const Finding = component("Finding", storedFindingSchema);
const registration = { schema: newScanSchema, example: newScanExample, whenEmpty: {} };
const theScan = json(Scan, "The scan now", { example: scanExample });
const registered = json(Scan, "Registered", { headers: ["Location"], example: scanExample });
const hasEndedProblem = problem("The scan has ended");

/** Scans and their streams, as the gateway mounts them. */
export const scans = {
  prefix: scanPrefix,
  tags: [{ name: "scans", description: "Scans, findings and reports" }],
  isEndedByGatewayAlone: true,
  onPublish: storePublished,
  routes: scanRoutes,
  eventStreams: { "/scans": scanEventStream, "/": scansEventStream },
  tasks: [expiringScans],
} as const;

function scanRoutes(dependencies: FeatureDependencies): Hono<Allowed> {
  const routes = new Hono<Allowed>();
  const resource = defineResource(routes, { tag: "scans", what: "scan" });
  const announcer = createChangeAnnouncer(dependencies);
  const organizations = organizationAnnouncerOf(dependencies);

  resource.on(
    "POST /scans",
    {
      allow: "register",
      operationId: "createScan",
      summary: "Register a scan",
      body: registration,
      answers: { 201: registered },
    },
    async ({ c, principal, body, write }) => {
      const row = await write((db) => insertScan(db, principal, body));
      afterResponse(c, announcer.created(row));
      afterResponse(c, organizations.updated(row.tenantId, row));
      return c.json(toScan(row), 201, { location: `/api/v1/scans/${row.id}` });
    },
  );

  resource.on(
    "PUT /scans/:id",
    {
      allow: "publish",
      operationId: "putScan",
      summary: "Register a scan with an id that the client chooses",
      description: "Sending the same body again returns the same scan, so a client can retry.",
      body: registration,
      answers: {
        200: json(Scan, "Registered before, with the same body", { headers: ["Location"] }),
        201: registered,
        409: problem("Registered before, with another body"),
      },
    },
    async ({ c, principal, id, body, write }) => {
      const { row, isNew } = await write((db) => putScan(db, principal, { scanId: id, scan: body }));
      // Registered before, its creation may not have been published: the answer of the database was lost.
      afterResponse(c, isNew ? announcer.created(row) : announcer.updated(row));
      if (isNew) afterResponse(c, organizations.updated(row.tenantId, row));
      return c.json(toScan(row), isNew ? 201 : 200, { location: `/api/v1/scans/${row.id}` });
    },
  );

  resource.list(
    "GET /scans",
    {
      allow: "read",
      operationId: "listScans",
      summary: "List scans, newest first",
      list: scanList,
      of: [Scan, "ScanPage"],
      example: scanExample,
    },
    ({ page, readOne }) => readOne((db) => selectScans(db, page)),
  );

  resource.on(
    "GET /scans/:id",
    { allow: "read", operationId: "getScan", summary: "Read a scan", answers: { 200: theScan } },
    async ({ c, id, readOne }) => c.json(toScan(requireScan(await readOne((db) => scanById(db, id))))),
  );

  resource.on(
    "PATCH /scans/:id",
    {
      allow: "publish",
      operationId: "updateScan",
      summary: "Report progress, or the end",
      description:
        "Also the producer's heartbeat: after 15 minutes without one the scan is `expired`. The answer says in " +
        "`cancel_requested` whether to stop. With a status that ends the scan, the gateway publishes `scan.end`. " +
        "`pass`, `fail`, `manual` and `not_applicable` are together no more than `checks_done`, and that no more than `checks_total` " +
        "unless it is 0, which means: not known. What is left out is judged by what is stored.",
      body: { schema: scanUpdateSchema, example: scanUpdateExample },
      answers: { 200: theScan, 409: hasEndedProblem },
    },
    async ({ c, id, body, read, write }) => {
      const row = await store({ read, write }, id, body);
      const { status } = row;
      if (hasEnded(status)) {
        await announceEnd({ ...row, status, not_applicable: row.notApplicable }, dependencies);
        afterResponse(c, organizations.updated(row.tenantId, row));
      } else afterResponse(c, announcer.updated(row));
      return c.json(toScan(row));
    },
  );

  resource.on(
    "DELETE /scans/:id",
    {
      allow: "decide",
      operationId: "deleteScan",
      summary: "Delete a scan, its findings and its report",
      description:
        "Its streams end, and `scan.deleted` is published on the tenant's stream. A scan that still runs is ended first; its " +
        "scanner stops.",
      answers: { 204: { description: "Deleted" } },
    },
    async ({ c, id, write }) => {
      const onEnd = (scan: EndedScan) => announceEnd(scan, dependencies);
      const deleted = await deleteScan(write, id, onEnd);
      await announceDeleted({ kind: "scan", ...deleted }, dependencies);
      afterResponse(c, organizations.updated(deleted.tenantId, deleted));
      return c.body(null, 204);
    },
  );

  resource.on(
    "POST /scans/:id/cancel",
    {
      allow: "register",
      operationId: "cancelScan",
      summary: "Ask the scanner to stop",
      answers: { 202: json(Scan, "Requested now or earlier"), 409: hasEndedProblem },
    },
    async ({ c, id, write }) => {
      const row = await write((db) => requestCancel(db, id));
      afterResponse(c, announcer.updated(row));
      return c.json(toScan(row), 202);
    },
  );

  resource.list(
    "GET /scans/:id/findings",
    {
      allow: "read",
      operationId: "listFindings",
      summary: "List a scan's findings",
      list: findingList,
      of: [Finding, "FindingPage"],
      example: { ...findingExample, created_at: scanExample.created_at },
    },
    ({ id, page, read }) =>
      read(async (db) => {
        const found = await selectFindings(db, id, page);
        // No finding is an answer only when there is such a scan.
        if (found.length === 0) await selectScan(db, id);
        return found;
      }),
  );

  defineReportRoutes(resource);
  return routes;
}

/** The database may store an end and lose its answer: then it is looked up, because no other request would publish it. */
async function store(
  { read, write }: Pick<Access, "read" | "write">,
  scanId: string,
  update: ScanUpdate,
): Promise<ScanRow> {
  try {
    return await write((db) => updateScan(db, scanId, update));
  } catch (error) {
    if (!isUnavailable(error) || update.status === undefined || !hasEnded(update.status)) throw error;
    const row = await read((db) => selectScan(db, scanId));
    if (row.status === update.status) return row;
    throw error;
  }
}
