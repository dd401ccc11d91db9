import { pageOf } from "../../../shared/schemas/page.ts";
import * as v from "valibot";
import { reportSchema } from "../../../shared/schemas/report.ts";
import { scanPrefix } from "../../../shared/scan_events.ts";
import { storedFindingSchema } from "../../../shared/schemas/finding.ts";
import { count, uuid } from "../../../shared/schemas/primitives.ts";
import { scanSchema } from "../../../shared/schemas/scan.ts";
import { scanEventSchemas } from "../../../shared/schemas/scan_events.ts";
import { newFindingsSchema, newScanSchema, scanUpdateSchema } from "../../../shared/schemas/scan_requests.ts";
import {
  bodyRefusals,
  component,
  emptyResponse,
  json,
  jsonBody,
  keyOnly,
  listAnswer,
  pageParameters,
  pathParameter,
  problem,
  refusals,
  snapshotParameter,
  streamAnswer,
  streamSecurity,
  type FeatureDescription,
} from "../../http/docs/feature_description.ts";

const scanId = "7c9e6679-7425-40de-944b-e07fc1f90ae7";
const tenantId = "0b0e7a52-6f0c-4f65-9a52-0d3c1c0a9b11";
const startedAt = "2026-11-22T09:30:00.000Z";

const scanExample = {
  id: scanId,
  tenant_id: tenantId,
  channel: `scan:${tenantId}:${scanId}`,
  event_stream: `/api/v1/scans/${scanId}/event-stream`,
  status: "running",
  org_url: "https://acme.okta.com",
  client_id: "0oa1b2c3d4",
  benchmark: "okta-idaas-stig-v1r2",
  checks_total: 29,
  checks_done: 12,
  pass: 9,
  fail: 2,
  manual: 1,
  not_applicable: 0,
  cancel_requested: false,
  created_at: startedAt,
  updated_at: "2026-11-22T09:30:07.412Z",
  started_at: startedAt,
  ended_at: null,
};
const newScanExample = { org_url: scanExample.org_url, client_id: scanExample.client_id, checks_total: 29 };
const findingExample = {
  fingerprint: "mfa-for-admins:00p1a2b3",
  check: "mfa-for-admins",
  status: "FAIL",
  reason: null,
  severity: "high",
  resource_type: "policy",
  resource_id: "00p1a2b3",
  resource_name: "Okta Admin Console",
  expected: "Every rule requires two factors",
  actual: "The rule “Catch-all” allows a password alone",
  detail: "The Admin Console can be opened with a password alone",
  coverage: "full",
  coverage_reason: null,
  cause: "ac037fcf29ae",
  to_pass:
    'In rule "Catch-all" of the authentication policy of "Okta Admin Console": set "User must authenticate with" to a choice of two factor types',
  evaluation:
    '→ "Catch-all" (priority 99): ALLOW, for everybody who gets here; decides\nRead with GET /api/v1/policies/{id}/rules',
  advisory: false,
};

const Scan = component("Scan", scanSchema);
const Finding = component("Finding", storedFindingSchema);
const ScanPage = component("ScanPage", pageOf(Scan));
const FindingPage = component("FindingPage", pageOf(Finding));
const StoredFindings = component("StoredFindings", v.object({ received: count, created: count, updated: count }));

const StoredReport = component("StoredReport", v.object({ scan_id: uuid(), size_bytes: count }));
const Report = component("Report", reportSchema);

const parameters = [pathParameter("id", "The scan's id", uuid())];
const noSuchScan = { 404: problem("No such scan in this tenant") };
const hasEnded = { 409: problem("The scan has ended") };
const registration = { ...jsonBody(newScanSchema, newScanExample), required: false };

export const scansDescription: FeatureDescription = {
  tags: [{ name: "scans", description: "Scans and what they found" }],
  operations: {
    "POST /api/v1/scans": {
      operationId: "createScan",
      tags: ["scans"],
      summary: "Register a scan",
      requestBody: registration,
      responses: {
        201: json(Scan, "Registered", { headers: ["Location"], example: scanExample }),
        ...bodyRefusals,
      },
    },
    "GET /api/v1/scans": {
      operationId: "listScans",
      tags: ["scans"],
      summary: "List scans, newest first",
      parameters: pageParameters,
      responses: listAnswer(ScanPage, scanExample),
    },
    "GET /api/v1/scans/:id": {
      operationId: "getScan",
      tags: ["scans"],
      summary: "Read a scan",
      parameters,
      responses: {
        200: json(Scan, "The scan now", { example: scanExample }),
        ...refusals(401, 403, 503),
        ...noSuchScan,
      },
    },
    "PUT /api/v1/scans/:id": {
      operationId: "putScan",
      tags: ["scans"],
      summary: "Register a scan under an id of the client's",
      description:
        "Sent again with the same body, it is the same scan: a request whose answer was lost makes no second one.",
      security: keyOnly,
      parameters,
      requestBody: registration,
      responses: {
        200: json(Scan, "Registered before, with the same body", { headers: ["Location"] }),
        201: json(Scan, "Registered", { headers: ["Location"], example: scanExample }),
        ...bodyRefusals,
        ...noSuchScan,
        409: problem("Registered before, with another body"),
        410: problem("The scan was deleted: its id is not used again"),
      },
    },
    "PATCH /api/v1/scans/:id": {
      operationId: "updateScan",
      tags: ["scans"],
      summary: "Report progress, or the end",
      description:
        "Also the producer's heartbeat: after 15 minutes without one the scan is `expired`. The answer says in " +
        "`cancel_requested` whether to stop. With a status that ends the scan, the gateway publishes `scan.end`. " +
        "`pass`, `fail`, `manual` and `not_applicable` are together no more than `checks_done`, and that no more than `checks_total` " +
        "unless it is 0, which means: not known. What is left out is judged by what is stored.",
      security: keyOnly,
      parameters,
      requestBody: jsonBody(scanUpdateSchema, {
        status: "running",
        checks_done: 12,
        checks_total: 29,
        pass: 9,
        fail: 2,
        manual: 1,
        not_applicable: 0,
      }),
      responses: {
        200: json(Scan, "The scan now", { example: scanExample }),
        ...bodyRefusals,
        ...noSuchScan,
        ...hasEnded,
      },
    },
    "DELETE /api/v1/scans/:id": {
      operationId: "deleteScan",
      tags: ["scans"],
      summary: "Delete a scan, its findings and its report",
      description:
        "Its streams end, `scan.deleted` is published on the tenant's stream, and its id is not used again. A scan that still " +
        "runs is ended first; its scanner stops.",
      parameters,
      responses: {
        204: emptyResponse("Deleted"),
        ...refusals(401, 403, 503),
        ...noSuchScan,
      },
    },
    "POST /api/v1/scans/:id/cancel": {
      operationId: "cancelScan",
      tags: ["scans"],
      summary: "Request that the scanner stops",
      parameters,
      responses: {
        202: json(Scan, "Requested, now or before"),
        ...refusals(401, 403, 503),
        ...noSuchScan,
        ...hasEnded,
      },
    },
    "GET /api/v1/scans/:id/findings": {
      operationId: "listFindings",
      tags: ["scans"],
      summary: "List a scan's findings",
      parameters: [...parameters, ...pageParameters],
      responses: {
        ...listAnswer(FindingPage, { ...findingExample, created_at: startedAt }),
        ...noSuchScan,
      },
    },
    "POST /api/v1/scans/:id/findings": {
      operationId: "storeFindings",
      tags: ["scans"],
      summary: "Store findings",
      description: "Idempotent by `fingerprint`: the same again replaces what was stored under it.",
      security: keyOnly,
      parameters,
      requestBody: jsonBody(newFindingsSchema, { findings: [findingExample] }),
      responses: {
        200: json(StoredFindings, "Stored", { example: { received: 1, created: 1, updated: 0 } }),
        ...bodyRefusals,
        ...noSuchScan,
        ...hasEnded,
      },
    },
    "PUT /api/v1/scans/:id/report": {
      operationId: "storeReport",
      tags: ["scans"],
      summary: "Store the finished report",
      description:
        "A `scanstream.report/1` of 32 MiB at most whose `scan.id` is the scan's, also after the scan has ended. It is stored " +
        "once: the same body again changes nothing, another one is refused.",
      security: keyOnly,
      parameters,
      requestBody: jsonBody(Report, undefined),
      responses: {
        200: json(StoredReport, "Stored before, with the same body", { headers: ["ETag"] }),
        201: json(StoredReport, "Stored", { headers: ["ETag"], example: { scan_id: scanId, size_bytes: 48_213 } }),
        ...bodyRefusals,
        ...noSuchScan,
        409: problem("Another report of this scan is stored"),
      },
    },
    "GET /api/v1/scans/:id/report": {
      operationId: "getReport",
      tags: ["scans"],
      summary: "Read the finished report",
      description: "As it was sent, byte for byte. With its ETag in `If-None-Match`: 304.",
      parameters,
      responses: {
        200: json(Report, "The report", { headers: ["ETag"] }),
        304: emptyResponse("The one that the client has", ["ETag"]),
        ...refusals(401, 403, 503),
        404: problem("No such scan in this tenant, or no report of it"),
      },
    },
    "GET /api/v1/scans/:id/event-stream": {
      operationId: "followScan",
      tags: ["streams"],
      summary: "Follow a scan",
      description:
        "Server-sent events until `scan.end`; see /asyncapi.json. Nothing is replayed: read the scan again on every " +
        "`open`, or ask for it with `snapshot=1`. `access_token` counts only when there is no Authorization header, and never holds an API key.",
      security: streamSecurity,
      parameters: [...parameters, snapshotParameter],
      responses: {
        ...streamAnswer("The scan has ended: do not reconnect"),
        ...noSuchScan,
      },
    },
  },
  channels: [
    {
      prefix: scanPrefix,
      resource: "scan_id",
      title: "One scan",
      description: "Read at /api/v1/scans/{scan_id}/event-stream, written at /api/v1/channels/{channel}/events.",
      events: {
        "scan.start": { summary: "The scan has begun", schema: scanEventSchemas["scan.start"] },
        "scan.progress": { summary: "A check was evaluated", schema: scanEventSchemas["scan.progress"] },
        "finding.created": { summary: "A check has a finding", schema: scanEventSchemas["finding.created"] },
        "scan.error": {
          summary: "Something kept the scan from an answer",
          schema: scanEventSchemas["scan.error"],
        },
        "scan.end": { summary: "The last event: the stream closes after it", schema: scanEventSchemas["scan.end"] },
      } satisfies Record<keyof typeof scanEventSchemas, unknown>,
    },
  ],
};
