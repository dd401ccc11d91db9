import { Hono } from "hono";
import { sql } from "drizzle-orm";
import { audit } from "../../../drizzle/audit.ts";
import { scans as table } from "../../../drizzle/schema.ts";
import type { TenantDatabase } from "../../../drizzle/transactions.ts";
import { AppError } from "../../../shared/app_error.ts";
import { storedFindingSchema } from "../../../shared/schemas/finding.ts";
import { scanSchema, newScanSchema, scanUpdateSchema, type NewScan } from "../../../shared/schemas/scan.ts";
import { component, json, problem } from "../../description/operation.ts";
import type { Allowed } from "../../http/allow.ts";
import { listOf } from "../../http/paging.ts";
import { defineResource } from "../../http/resource.ts";
import type { Principal } from "../../auth/principal.ts";
import { afterResponse } from "../announce.ts";
import { endContradicted } from "../decisions/decision_store.ts";
import { defineFeature, type FeatureDependencies } from "../features.ts";
import { announceOrganization } from "../organizations/announce_updates.ts";
import { observeScan } from "../organizations/observe.ts";
import { toValues } from "../stored_fields.ts";
import { announceScanCreated, announceScanEnd, announceScanUpdated } from "./announce_runs.ts";
import { findingExample, newScanExample, scanExample, scanUpdateExample } from "../examples.ts";
import { selectFindings, storeFindings, toFinding, type FindingRow } from "./findings.ts";
import { defineReportRoutes } from "./reports.ts";
import { defineRunRoutes } from "./routes.ts";
import { scanKind, toScan, type ScanRow } from "./run.ts";
import { scanStore } from "./store.ts";
import { scanEventStream, scansEventStream } from "./streams.ts";
import { expiringScans } from "./sweep.ts";

const Scan = component("Scan", scanSchema);
const Finding = component("Finding", storedFindingSchema);
const registration = { schema: newScanSchema, example: newScanExample, whenEmpty: {} };
const registered = json(Scan, "Registered", { headers: ["Location"], example: scanExample });
const findingList = listOf(
  "findings",
  ({ createdAt, fingerprint }: FindingRow) => [createdAt, fingerprint],
  toFinding,
  {
    sizeOf: ({ size }) => size,
  },
);

/** Scans, their findings, reports and streams. */
export const scans = defineFeature({
  prefix: scanKind.name,
  tags: [{ name: "scans", description: "Scans, findings and reports" }],
  isEndedByGatewayAlone: true,
  onPublish: storeFindings,
  routes: scanRoutes,
  eventStreams: { "/scans": scanEventStream, "/": scansEventStream },
  tasks: [expiringScans],
});

function scanRoutes(dependencies: FeatureDependencies): Hono<Allowed> {
  const routes = new Hono<Allowed>();
  const resource = defineResource(routes, { tag: "scans", what: "scan" });

  resource.on(
    "POST /scans",
    {
      allow: "register",
      operationId: "createScan",
      summary: "Register a scan",
      body: registration,
      answers: {
        201: registered,
        409: problem("The tenant has as many unfinished scans, or organizations, as it may"),
      },
    },
    async ({ c, principal, body, write }) => {
      const { row } = await write((db) => putScan(db, principal, body));
      afterResponse(c, announceScanCreated(row, dependencies));
      afterResponse(c, announceOrganization(dependencies, row));
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
      const { row, isNew } = await write((db) => putScan(db, principal, body, id));
      // Registered before, its creation may not have been published: the answer of the database was lost.
      afterResponse(c, isNew ? announceScanCreated(row, dependencies) : announceScanUpdated(row, dependencies));
      if (isNew) afterResponse(c, announceOrganization(dependencies, row));
      return c.json(toScan(row), isNew ? 201 : 200, { location: `/api/v1/scans/${row.id}` });
    },
  );

  defineRunRoutes(resource, dependencies, {
    kind: scanKind,
    store: scanStore,
    shown: Scan,
    example: scanExample,
    toResource: toScan,
    update: {
      summary: "Report progress, or the end",
      description:
        "Also the producer's heartbeat: after 15 minutes without one the scan is `expired`. The answer says in " +
        "`cancel_requested` whether to stop. With a status that ends the scan, the gateway publishes `scan.end`.",
      schema: scanUpdateSchema,
      example: scanUpdateExample,
      toChange: (update) => ({
        ...toValues(table, update),
        ...(update.status !== undefined && { startedAt: sql`coalesce(${table.startedAt}, now())` }),
      }),
      async onStored(db, { row }) {
        await observeScan(db, row);
        if (row.status === "completed") await endContradicted(db, row);
      },
      async announce(c, { row }) {
        if (row.endedAt === null) return afterResponse(c, announceScanUpdated(row, dependencies));
        await announceScanEnd(row, dependencies);
        afterResponse(c, announceOrganization(dependencies, row));
      },
    },
    deletion: {
      summary: "Delete a scan, its findings and its report",
      description:
        "Its streams end, and `scan.deleted` is published on the tenant's stream. A scan that still runs is ended first; its " +
        "scanner stops.",
      announceEnd: (row) => announceScanEnd(row, dependencies),
    },
  });

  resource.on(
    "POST /scans/:id/cancel",
    {
      allow: "register",
      operationId: "cancelScan",
      summary: "Ask the scanner to stop",
      answers: { 202: json(Scan, "Requested now or earlier"), 409: problem("The scan has ended") },
    },
    async ({ c, id, write }) => {
      const row = await write((db) => requestCancel(db, id));
      afterResponse(c, announceScanUpdated(row, dependencies));
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
      example: findingExample,
    },
    ({ id, page, read }) => read((db) => selectFindings(db, id, page)),
  );

  defineReportRoutes(resource);
  return routes;
}

/**
 * Registers a scan. Under an id that its producer made, the same request again gives the same scan. Rejects with
 * `AppError("conflict")` for an id that was registered with another body.
 */
export async function putScan(
  db: TenantDatabase,
  principal: Principal,
  scan: NewScan,
  id?: string,
): Promise<{ readonly row: ScanRow; readonly isNew: boolean }> {
  const { org_url: orgUrl = null, client_id: clientId = null, benchmark = null, checks_total: checksTotal } = scan;
  const registeredAs = JSON.stringify([orgUrl, clientId, benchmark, checksTotal ?? null]);
  const { tenantId, id: createdBy } = principal;
  const values = { tenantId, createdBy, registration: registeredAs, ...toValues<ScanRow>(table, scan) };
  const created = await scanStore.insert(db, id === undefined ? values : { ...values, id });
  if (created !== null) return { row: created, isNew: true };
  const row = await scanStore.select(db, id ?? "");
  if (row.registration === registeredAs) return { row, isNew: false };
  throw new AppError("conflict", "Another scan is registered under this id: expected the same body, or a new UUID");
}

/** Asks the producer to stop; it learns it from the answer to its next report. Rejects with `NotFound` or `AppError("conflict")`. */
export async function requestCancel(db: TenantDatabase, scanId: string): Promise<ScanRow> {
  const before = await scanStore.lockOpen(db, scanId);
  if (before.cancelRequested) return before;
  const row = await scanStore.updateOpen(db, scanId, { cancelRequested: true });
  const detail = { cancel_requested: { from: false, to: true } };
  await audit(db, [{ tenantId: row.tenantId, action: "scan.cancel_requested", targetId: scanId, detail }]);
  return row;
}
