import type { Hono } from "hono";
import * as v from "valibot";
import { overviewSchema, seenSchema } from "./overview_schema.ts";
import { tenantSchema } from "../../../shared/schemas/team.ts";
import { tenantNameSchema } from "../team/team_schemas.ts";
import { answer, component, json, problem } from "../../description/operation.ts";
import type { Allowed } from "../../http/allow.ts";
import { accountOf } from "../../limits.ts";
import { pulledStream } from "../../http/pulled_stream.ts";
import { timeParameter } from "../../http/query.ts";
import { defineResource } from "../../http/resource.ts";
import { sessionOf } from "../../http/session_route.ts";
import { defineEventStream } from "../../streaming/event_stream_definition.ts";
import { deleteInBatches } from "../stored_rows.ts";
import { defineFeature, type Feature, type FeatureDependencies } from "../features.ts";
import { deletingByAge, type Keeping } from "../retention.ts";
import { tenantChannel, tenantPrefix } from "../announce.ts";
import { toOrganizationResource } from "../organizations/organization.ts";
import { selectOrganizationRows } from "../organizations/organization_store.ts";
import { toSnapshot } from "../runs/run.ts";
import { monitorStore, selectUnfinishedScans } from "../runs/store.ts";
import { exportTenant } from "./export_tenant.ts";
import { readOverview, storeSeen } from "./overview.ts";
import { deleteTenantStep, renameTenant, selectTenant } from "./tenant_store.ts";

const Tenant = component("Tenant", tenantSchema);
const wasDeleted = { 404: problem("The tenant was deleted") };
const nameBody = { schema: tenantNameSchema, example: { name: "Acme Inc." } };

/** More are left to the lists, which have pages. */
const maxSnapshots = 1000;

/** `GET /event-stream`: all scans, monitors and organizations of the tenant. It outlives each of them. */
const tenantEventStream = defineEventStream({
  prefix: tenantPrefix,
  path: "/event-stream",
  parameters: [],
  getChannels: ({ principal }) => [tenantChannel(principal.tenantId)],
  async getSnapshot({ db, principal }) {
    const [scanRows, monitorRows, organizationRows] = await Promise.all([
      selectUnfinishedScans(db, maxSnapshots),
      monitorStore.selectPage(db, { limit: maxSnapshots - 1, after: null }),
      selectOrganizationRows(db, { limit: maxSnapshots }),
    ]);
    return {
      events: [
        {
          type: "tenant.snapshot",
          data: {
            tenant_id: principal.tenantId,
            count: scanRows.length,
            monitors: monitorRows.length,
            organizations: organizationRows.length,
          },
        },
        ...[...scanRows, ...monitorRows].map(toSnapshot),
        ...organizationRows.map((row) => ({
          type: "organization.snapshot" as const,
          data: toOrganizationResource(row),
        })),
      ],
    };
  },
});

/** The caller's tenant and its stream, and how long what it stores is kept. */
export function tenantFeature(keeping: Keeping): Feature {
  return defineFeature({
    prefix: tenantPrefix,
    tags: [{ name: "tenant", description: "The caller's tenant" }],
    isPublishedByGatewayAlone: true,
    routes: (dependencies) => tenantRoutes(dependencies, keeping),
    eventStreams: { "/": tenantEventStream },
    tasks: deletingByAge(keeping),
  });
}

function tenantRoutes(dependencies: FeatureDependencies, { retentionDays }: Keeping): Hono<Allowed> {
  const { log } = dependencies;
  const resource = defineResource({ tag: "tenant", what: "tenant" });

  resource.on("GET /overview", "getOverview", {
    allow: "read",
    summary: "Read what the first view of the page shows, with the session, in one request",
    query: { since: timeParameter("Changes that were stored after it only") },
    answers: { 200: json(component("Overview", overviewSchema), "The tenant now") },
    handle: async ({ c, principal, parameters: { since }, read }) => {
      const overview = await read((db) => readOverview(db, { principal, since }));
      return { session: await sessionOf(c, principal), ...overview };
    },
  });

  resource.on("PUT /seen", "putSeen", {
    allow: "read",
    summary: "Store that the member has seen what there is now",
    description: "The page sends it when it is left. An API key has no membership to store it in.",
    answers: { 200: json(component("Seen", seenSchema), "When that was") },
    handle: async ({ principal, write }) => {
      const seenAt = await write((db) => storeSeen(db, principal));
      return { seen_at: seenAt?.toISOString() ?? null };
    },
  });

  resource.on("GET /tenant", "getTenant", {
    allow: "manage",
    summary: "Read the tenant, and its retention",
    answers: { 200: json(Tenant, "The tenant"), ...wasDeleted },
    handle: async ({ read }) => ({ ...(await read(selectTenant)), retention_days: retentionDays }),
  });

  resource.on("PATCH /tenant", "renameTenant", {
    allow: "manage",
    summary: "Rename the tenant",
    body: nameBody,
    answers: { 200: json(Tenant, "The tenant under its new name"), ...wasDeleted },
    handle: async ({ body: { name }, write }) => ({
      ...(await write((db) => renameTenant(db, name))),
      retention_days: retentionDays,
    }),
  });

  resource.on("DELETE /tenant", "deleteTenant", {
    allow: "manage",
    summary: "Delete the tenant and all its data",
    description:
      "Scans, monitors, members, keys and the audit trail; nothing brings them back. The body's `name` is the tenant's, to " +
      "confirm it. Where the request was interrupted, the same request again goes on. Open streams close within 30 seconds.",
    body: nameBody,
    answers: { 204: { description: "Deleted" } },
    handle: async ({ principal, body: { name }, write }) => {
      await deleteInBatches(() => write((db) => deleteTenantStep(db, name)));
      // Its audit trail went with it.
      const actor = { actor_kind: principal.kind, actor_id: principal.id };
      log.warn({ tenant_id: principal.tenantId, name, ...actor }, "a tenant was deleted");
    },
  });

  resource.on("GET /tenant/export", "exportTenant", {
    allow: "manage",
    summary: "Export the tenant",
    description:
      'Lines of JSON: a header, `{"table", "row"}` for each row, and how many rows there are; without that last line the file ' +
      "was cut. API keys are listed without what they are, and the audit trail stays here.",
    answers: { 200: answer("application/x-ndjson", v.string(), "The tenant"), ...wasDeleted },
    handle: async ({ c, principal, read }) => {
      const account = accountOf(c.req.raw);
      account.takeAnswer(heldBytes);
      const tenant = await read(selectTenant);
      return c.body(pulledStream(encoded(exportTenant(read, tenant)), account), 200, {
        "content-type": "application/x-ndjson",
        "content-disposition": `attachment; filename="tenant-${principal.tenantId}.ndjson"`,
      });
    },
  });

  return resource.routes;
}

/** A page of the largest rows, in the gateway and on its way to a client that reads slowly. */
const heldBytes = 12 * 1_048_576;

async function* encoded(lines: AsyncGenerator<string>): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const encoder = new TextEncoder();
  for await (const line of lines) yield encoder.encode(line);
}
