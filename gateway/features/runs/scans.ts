import { sql } from "drizzle-orm";
import { audit } from "../../../drizzle/audit.ts";
import { isUnfinishedScan, runs } from "../../../drizzle/schema.ts";
import { readOne, type TenantDatabase } from "../../../drizzle/transactions.ts";
import { AppError, NotFound } from "../../../shared/app_error.ts";
import { isUuid, lowerCaseUuids } from "../../../shared/channel_name.ts";
import { storedFindingSchema } from "../../../shared/schemas/finding.ts";
import { originOf } from "../../../shared/schemas/web_address.ts";
import { scanSchema, newScanSchema, scanUpdateSchema, type NewScan } from "../../../shared/schemas/scan.ts";
import type { Principal } from "../../auth/principal.ts";
import { component, json, problem } from "../../description/operation.ts";
import { isText, listByTime } from "../../http/query.ts";
import type { Call, Resource } from "../../http/resource.ts";
import { defineEventStream, type ChannelsRequest } from "../../streaming/event_stream_definition.ts";
import { afterResponse, announceThrottled, announcing, tenantChannel } from "../announce.ts";
import { endContradicted } from "../decisions/decision_store.ts";
import type { FeatureDependencies } from "../features.ts";
import { announceOrganization } from "../organizations/organization.ts";
import { observeScan } from "../organizations/observe.ts";
import { toValues } from "../stored_rows.ts";
import { selectFindings, storeFindings, toFinding } from "./findings.ts";
import { defineReportRoutes } from "./reports.ts";
import { announceScanEnd, tenantEvents, toScan, toScanResource, type RunRow } from "./run.ts";
import { defineRuns, getChannels, getSnapshot } from "./runs.ts";
import { scanStore } from "./store.ts";

const Scan = component("Scan", scanSchema);
const Finding = component("Finding", storedFindingSchema);
const registration = {
  schema: newScanSchema,
  example: {
    org_url: "https://acme.okta.com",
    client_id: "0oa1b2c3d4",
    benchmark: "okta-idaas-stig-v1r2",
    checks_total: 29,
  },
  whenEmpty: {},
};
const registered = json(Scan, "Registered", ["Location"]);

/** A producer PATCHes its scan far more often. */
const staleSeconds = 15 * 60;

/** `GET /event-stream?scan_id=…&scan_id=…`: several scans, live, until the last one's `scan.end`. */
const scansEventStream = defineEventStream({
  prefix: "scan",
  path: "/event-stream",
  parameters: [
    {
      name: "scan_id",
      in: "query",
      description: "1 to 100 scans; the same one twice counts once",
      schema: { type: "array", items: { type: "string", format: "uuid" }, minItems: 1 },
    },
  ],
  isFor: (query) => query.has("scan_id"),
  getChannels: (request) => getChannels("scan", request.db, parseScanIds(request)),
  getSnapshot: async (request) => getSnapshot("scan", request.db, parseScanIds(request)),
  text: {
    operationId: "followTenant",
    summary: "Follow everything of the tenant, or some of its scans",
    description:
      "Without `scan_id`: all organizations, scans, monitors and decisions of the tenant, on a stream that outlives each of them; `scan.updated` comes " +
      "at most once a second for each scan from each process of the gateway, and its last state always comes. With `scan_id`: the events of those scans' own streams, " +
      "until the last of them has ended. One that is not visible is 404 for the whole.",
    what: "tenant",
    ended: "All named scans have ended: do not reconnect",
    notFound: "One of the scans does not exist",
  },
});

/** Scans, their findings, reports and streams. */
export const scans = defineRuns({
  kind: "scan",
  shown: Scan,
  texts: {
    tag: "Scans, findings and reports",
    deletion: {
      summary: "Delete a scan, its findings and its report",
      description:
        "Its streams end, and `scan.deleted` is published on the tenant's stream. A scan that still runs is ended first; its " +
        "scanner stops.",
    },
    stream:
      "Server-sent events until `scan.end`. Nothing is replayed: read the scan again on every `open`, or ask for it with " +
      "`snapshot=1`. `access_token` counts only when there is no Authorization header, and never holds an API key.",
  },
  onPublish: storeFindings,
  eventStreams: { "/": scansEventStream },
  defineRoutes,
  announceEnd: announceScanEnd,
  update: {
    summary: "Report progress, or the end",
    description:
      "Also the producer's heartbeat: after 15 minutes without one the scan is `expired`. The answer says in " +
      "`cancel_requested` whether to stop. With a status that ends the scan, the gateway publishes `scan.end`.",
    counts: "`checks_done`, and that no more than `checks_total`",
    schema: scanUpdateSchema,
    example: { status: "running", checks_done: 12, pass: 9, fail: 2, manual: 1, not_applicable: 0 },
    toChange: (update) => ({
      ...toValues(runs, update),
      ...(update.status !== undefined && { startedAt: sql`coalesce(${runs.startedAt}, now())` }),
    }),
    async onStored(db, { row }) {
      await observeScan(db, row);
      if (row.status === "completed") await endContradicted(db, row);
    },
    async announce({ c }, { row }, dependencies) {
      if (row.endedAt === null) return afterResponse(c, announceScanUpdated(row, dependencies));
      await announceScanEnd(row, dependencies);
      afterResponse(c, announceOrganization(dependencies, row));
    },
  },
  // After an outage of the gateway itself every producer has as long to come back as its run may be silent.
  silence: {
    due: "scans_silent_due",
    afterSeconds: staleSeconds,
    firstAfterMs: staleSeconds * 1000,
    everyMs: 60_000,
    isDue: sql`${isUnfinishedScan} and ${runs.updatedAt} < now() - make_interval(secs => ${staleSeconds})`,
    change: { status: "expired", endedAt: sql`now()` },
    announce: announceScanEnd,
  },
});

function defineRoutes(resource: Resource, dependencies: FeatureDependencies): void {
  const { publishScanCreated } = tenantEvents(announcing(dependencies));
  const announceCreated = (row: RunRow) => publishScanCreated(tenantChannel(row.tenantId), toScanResource(row));

  async function register({ c, principal, id, body, write }: Call<NewScan, unknown>): Promise<Response> {
    const { row, isNew } = await write((db) => putScan(db, principal, body, id));
    // Registered before, its creation may not have been published: the answer of the database was lost.
    afterResponse(c, isNew ? announceCreated(row) : announceScanUpdated(row, dependencies));
    if (isNew) afterResponse(c, announceOrganization(dependencies, row));
    return c.json(toScan(row), isNew ? 201 : 200, { location: `/api/v1/scans/${row.id}` });
  }

  resource.on("POST /scans", "createScan", {
    allow: "register",
    summary: "Register a scan",
    body: registration,
    answers: {
      201: registered,
      409: problem("The tenant has as many unfinished scans, or organizations, as it may"),
    },
    handle: register,
  });

  resource.on("PUT /scans/:id", "putScan", {
    allow: "publish",
    summary: "Register a scan with an id that the client chooses",
    description: "Sending the same body again returns the same scan, so a client can retry.",
    body: registration,
    answers: {
      200: json(Scan, "Registered before, with the same body", ["Location"]),
      201: registered,
      409: problem("Registered before, with another body"),
    },
    handle: register,
  });

  resource.on("POST /scans/:id/cancel", "cancelScan", {
    allow: "register",
    summary: "Ask the scanner to stop",
    answers: { 202: json(Scan, "Requested now or earlier"), 409: problem("The scan has ended") },
    handle: async ({ c, id, write }) => {
      const row = await write((db) => requestCancel(db, id));
      afterResponse(c, announceScanUpdated(row, dependencies));
      return toScan(row);
    },
  });

  resource.list("GET /scans/:id/findings", "listFindings", {
    allow: "read",
    summary: "List a scan's findings",
    list: { ...listByTime(toFinding, "fingerprint", isText), sizeOf: ({ size }) => size },
    of: [Finding, "FindingPage"],
    select: ({ id, page, read }) => read((db) => selectFindings(db, id, page)),
  });

  defineReportRoutes(resource);
}

/** As it is stored then. Never rejects. */
export function announceScanUpdated(
  { id, tenantId }: Pick<RunRow, "id" | "tenantId">,
  dependencies: FeatureDependencies,
): Promise<void> {
  // Another tenant may have chosen the same id.
  return announceThrottled(dependencies, `${tenantId} ${id}`, async () => {
    const [row] = await readOne(dependencies.database, { tenantId }, (db) => scanStore.byId(db, id));
    // Its end is published by the code that ended it.
    if (row?.endedAt !== null) return;
    await tenantEvents(dependencies).publishScanUpdated(tenantChannel(tenantId), toScanResource(row));
  });
}

/**
 * Registers a scan; without an id it gets one. Under an id that its producer made, the same request again gives the same scan. Rejects with
 * `AppError("conflict")` for an id that was registered with another body.
 */
export async function putScan(
  db: TenantDatabase,
  principal: Principal,
  scan: NewScan,
  id = "",
): Promise<{ readonly row: RunRow; readonly isNew: boolean }> {
  const { org_url: orgUrl = null, client_id: clientId = null, benchmark = null, checks_total: checksTotal } = scan;
  const registeredAs = JSON.stringify([orgUrl, clientId, benchmark, checksTotal ?? null]);
  const { tenantId, id: createdBy } = principal;
  const origin = orgUrl && originOf(orgUrl);
  const values = { tenantId, orgUrl, origin, createdBy, registration: registeredAs, ...toValues<RunRow>(runs, scan) };
  const created = await scanStore.insert(db, id === "" ? values : { ...values, id });
  if (created !== null) return { row: created, isNew: true };
  const row = await scanStore.select(db, id);
  if (row.registration === registeredAs) return { row, isNew: false };
  throw new AppError("conflict", "Another scan is registered under this id: expected the same body, or a new UUID");
}

/** Asks the producer to stop; it learns it from the answer to its next report. Rejects with `NotFound` or `AppError("conflict")`. */
async function requestCancel(db: TenantDatabase, scanId: string): Promise<RunRow> {
  const before = await scanStore.lockOpen(db, scanId);
  if (before.cancelRequested) return before;
  const row = await scanStore.updateOpen(db, scanId, { cancelRequested: true });
  const detail = { cancel_requested: { from: false, to: true } };
  await audit(db, [{ tenantId: row.tenantId, action: "scan.cancel_requested", targetId: scanId, detail }]);
  return row;
}

const maxScans = 100;

/** Each once. Throws `NotFound` for one that can name no scan, `AppError("malformed")` for too many. */
function parseScanIds({ queryAll }: Pick<ChannelsRequest, "queryAll">): readonly string[] {
  const ids = [...new Set(queryAll("scan_id").map(lowerCaseUuids))];
  if (!ids.every(isUuid)) throw new NotFound("No such scan");
  if (ids.length <= maxScans) return ids;
  throw new AppError("malformed", `The query names ${ids.length} scans: expected at most ${maxScans}`);
}
