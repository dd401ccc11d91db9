import { defineEventStream } from "../../streaming/event_stream_definition.ts";
import { toOrganizationResource } from "../organizations/organization.ts";
import { selectOrganizationRows } from "../organizations/organization_store.ts";
import { toSnapshot } from "../runs/run.ts";
import { monitorStore, selectUnfinishedScans } from "../runs/store.ts";
import { tenantChannel, tenantPrefix } from "../announce.ts";

/** More are left to the lists, which have pages. */
const maxSnapshots = 1000;

/** `GET /event-stream`: all scans, monitors and organizations of the tenant. It outlives each of them. */
export const tenantEventStream = defineEventStream({
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
