import { tenantNameSchema, tenantSchema } from "../../../shared/schemas/tenant.ts";
import { uuid } from "../../../shared/schemas/primitives.ts";
import { tenantEventSchemas } from "../../../shared/schemas/tenant_events.ts";
import {
  bodyRefusals,
  component,
  emptyResponse,
  json,
  jsonBody,
  problem,
  refusals,
  response,
  snapshotParameter,
  streamAnswer,
  streamSecurity,
  toInlineSchema,
  type FeatureDescription,
} from "../../http/docs/feature_description.ts";
import { tenantPrefix } from "../tenant_events.ts";

const Tenant = component("Tenant", tenantSchema);
const tenantExample = {
  id: "8b9df7a5-3c1f-4f53-9a3e-0f6c1d6a2b11",
  name: "Acme Inc.",
  created_at: "2026-11-22T09:30:00.000Z",
  retention_days: 365,
};
const wasDeleted = { 404: problem("The tenant was deleted") };

export const tenantDescription: FeatureDescription = {
  tags: [{ name: "tenant", description: "The caller's tenant as a whole" }],
  operations: {
    "GET /api/v1/tenant": {
      operationId: "getTenant",
      tags: ["tenant"],
      summary: "Read the tenant, and how long it keeps what has ended",
      responses: {
        200: json(Tenant, "The tenant", { example: tenantExample }),
        ...refusals(401, 403, 503),
        ...wasDeleted,
      },
    },
    "PATCH /api/v1/tenant": {
      operationId: "renameTenant",
      tags: ["tenant"],
      summary: "Rename the tenant",
      requestBody: jsonBody(tenantNameSchema, { name: tenantExample.name }),
      responses: {
        200: json(Tenant, "The tenant under its new name", { example: tenantExample }),
        ...bodyRefusals,
        ...wasDeleted,
      },
    },
    "DELETE /api/v1/tenant": {
      operationId: "deleteTenant",
      tags: ["tenant"],
      summary: "Delete the tenant with everything that it has",
      description:
        "Scans, monitors, members, keys and the audit trail; nothing brings them back. The body's `name` is the tenant's, to " +
        "confirm it. Where the request was interrupted, the same request again goes on. Open streams close within 30 seconds.",
      requestBody: jsonBody(tenantNameSchema, { name: tenantExample.name }),
      responses: {
        204: emptyResponse("Deleted"),
        ...bodyRefusals,
      },
    },
    "GET /api/v1/tenant/export": {
      operationId: "exportTenant",
      tags: ["tenant"],
      summary: "Export the tenant",
      description:
        'Lines of JSON: a header, `{"table", "row"}` for each row, and how many rows there are; without that last line the file ' +
        "was cut. `scanstream admin tenant import` reads it. API keys are listed without what they are, and the audit trail stays here.",
      responses: {
        200: response("application/x-ndjson", "The tenant"),
        ...refusals(401, 403, 503),
        ...wasDeleted,
      },
    },
    "GET /api/v1/event-stream": {
      operationId: "followTenant",
      tags: ["streams"],
      summary: "Follow everything of the tenant, or some of its scans",
      description:
        "Without `scan_id`: all scans and monitors of the tenant and what is decided about findings, on a stream that outlives each of them; `scan.updated` comes " +
        "at most once a second for each scan from each process of the gateway, and its last state always comes. With `scan_id`: the events of those scans' own streams, " +
        "until the last of them has ended. One that is not visible is 404 for the whole.",
      security: streamSecurity,
      parameters: [
        {
          name: "scan_id",
          in: "query",
          description: "1 to 100 scans; the same one twice counts once",
          style: "form",
          explode: true,
          schema: { type: "array", minItems: 1, items: toInlineSchema(uuid()) as { type: "string" } },
        },
        snapshotParameter,
      ],
      responses: {
        ...streamAnswer("All scans that are named have ended: do not reconnect"),
        404: problem("One of the scans is not there"),
      },
    },
  },
  channels: [
    {
      prefix: tenantPrefix,
      resource: "tenant_id",
      title: "Everything of a tenant",
      description:
        "Read at /api/v1/event-stream. The snapshots come first, when `snapshot=1` asks for them, and are published nowhere.",
      events: {
        "tenant.snapshot": {
          summary:
            "How many snapshots follow, of scans, of monitors and of organizations; of the scans that have ended, the one that was created last; " +
            "how many scans were deleted so far",
          schema: tenantEventSchemas["tenant.snapshot"],
        },
        "scan.snapshot": {
          summary: "A scan as it is stored; also on the streams of scans",
          schema: tenantEventSchemas["scan.snapshot"],
        },
        "monitor.snapshot": {
          summary: "A monitor as it is stored; also on its own stream",
          schema: tenantEventSchemas["monitor.snapshot"],
        },
        "organization.snapshot": {
          summary: "An organization as it is stored, without its trend",
          schema: tenantEventSchemas["organization.snapshot"],
        },
        "organization.updated": {
          summary:
            "Something of an organization changed, its last scan was deleted, or it is new; at most once a second",
          schema: tenantEventSchemas["organization.updated"],
        },
        "organization.deleted": {
          summary: "An organization was deleted, with its history",
          schema: tenantEventSchemas["organization.deleted"],
        },
        "scan.created": { summary: "A scan was registered", schema: tenantEventSchemas["scan.created"] },
        "scan.updated": {
          summary: "A scan changed; nothing of it comes after its end",
          schema: tenantEventSchemas["scan.updated"],
        },
        "scan.deleted": {
          summary: "A scan was deleted, with its findings and its report",
          schema: tenantEventSchemas["scan.deleted"],
        },
        "decision.created": {
          summary: "A finding was waived or attested",
          schema: tenantEventSchemas["decision.created"],
        },
        "decision.updated": {
          summary: "A waiver or an attestation was withdrawn; one that a scan contradicted is read after `scan.end`",
          schema: tenantEventSchemas["decision.updated"],
        },
      },
      sharedEvents: ["scan.end", "monitor.start", "monitor.updated", "monitor.error", "monitor.end"],
    },
  ],
};
