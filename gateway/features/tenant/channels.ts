import { defineEventStream } from "../../streaming/event_stream_definition.ts";
import { toOrganizationResource } from "../organizations/organization.ts";
import { selectOrganizationRows } from "../organizations/organization_store.ts";
import { monitorKind, scanKind } from "../runs/run.ts";
import { monitorStore, selectUnfinishedScans } from "../runs/store.ts";
import { tenantChannel, tenantPrefix } from "../announce.ts";

/** More are left to the lists, which have pages. */
const maxSnapshots = 1000;

/** `GET /event-stream`: all scans, monitors and organizations of the tenant. It outlives each of them. */
export const tenantEventStream = defineEventStream({
  prefix: tenantPrefix,
  path: "/event-stream",
  getChannels: ({ principal }) => [tenantChannel(principal.tenantId)],
  async getSnapshot({ db, principal }) {
    const [scanRows, monitorRows, organizationRows] = await Promise.all([
      selectUnfinishedScans(db, maxSnapshots),
      monitorStore.selectPage(db, { limit: maxSnapshots - 1, after: null }),
      selectOrganizationRows(db, { limit: maxSnapshots }),
    ]);
    const nowMs = Date.now();
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
        ...scanRows.map((row) => scanKind.toSnapshot(row, nowMs)),
        ...monitorRows.map((row) => monitorKind.toSnapshot(row, nowMs)),
        ...organizationRows.map((row) => ({
          type: "organization.snapshot" as const,
          data: toOrganizationResource(row, nowMs),
        })),
      ],
    };
  },
  text: {
    operationId: "followTenant",
    summary: "Follow everything of the tenant, or some of its scans",
    description:
      "Without `scan_id`: all scans and monitors of the tenant and what is decided about findings, on a stream that outlives each of them; `scan.updated` comes " +
      "at most once a second for each scan from each process of the gateway, and its last state always comes. With `scan_id`: the events of those scans' own streams, " +
      "until the last of them has ended. One that is not visible is 404 for the whole.",
    what: "tenant",
    ended: "All named scans have ended: do not reconnect",
    notFound: "One of the scans does not exist",
    parameters: [
      {
        name: "scan_id",
        in: "query",
        description: "1 to 100 scans; the same one twice counts once",
        style: "form",
        explode: true,
        schema: { type: "array", items: { type: "string", format: "uuid" }, minItems: 1 },
      },
    ],
  },
});
