import { Hono } from "hono";
import type { TenantDatabase } from "../../../drizzle/with_tenant.ts";
import { tenantNameSchema, type ExportHeader } from "../../../shared/schemas/tenant.ts";
import { withPrincipal } from "../../auth/membership.ts";
import type { AllowedPrincipal } from "../../auth/principal.ts";
import { createAllow, type Allowed } from "../../http/allow.ts";
import { accountOf } from "../../http/budget.ts";
import { parseBody, readJson } from "../../http/body.ts";
import type { Dependencies } from "../../http/dependencies.ts";
import { deleteInBatches } from "../delete_in_batches.ts";
import { tenantEventStream } from "./channels.ts";
import { tenantPrefix } from "../tenant_events.ts";
import { exportTenant, readExportPage } from "./export_tenant.ts";
import { requireExportedTable } from "./exported_tables.ts";
import { deleteTenantStep, renameTenant, selectTenant } from "./tenant_store.ts";

const maxBodyBytes = 65_536;

/** The caller's tenant and its stream, as the gateway mounts them. */
export const tenant = {
  prefix: tenantPrefix,
  isPublishedByGatewayAlone: true,
  routes: tenantRoutes,
  eventStreams: { "/": tenantEventStream },
} as const;

function tenantRoutes(dependencies: Dependencies): Hono<Allowed> {
  const { database, log, nowMs, retentionDays } = dependencies;
  const allow = createAllow(dependencies);
  const routes = new Hono<Allowed>();

  routes.get("/tenant", allow("manage"), async (c) => {
    const found = await query(c.get("principal"), (db) => selectTenant(db));
    return c.json({ ...found, retention_days: retentionDays });
  });

  routes.patch("/tenant", allow("manage"), async (c) => {
    const { name } = parseBody(tenantNameSchema, await readJson(c.req.raw, { maxBytes: maxBodyBytes }));
    const found = await query(c.get("principal"), async (db) => {
      await renameTenant(db, name);
      return selectTenant(db);
    });
    return c.json({ ...found, retention_days: retentionDays });
  });

  routes.delete("/tenant", allow("manage"), async (c) => {
    const principal = c.get("principal");
    const { name } = parseBody(tenantNameSchema, await readJson(c.req.raw, { maxBytes: maxBodyBytes }));
    await deleteInBatches(
      (maxRows) => query(principal, (db) => deleteTenantStep(db, name, maxRows)),
      (isGone) => isGone,
    );
    // Its audit trail went with it.
    const actor = { actor_kind: principal.kind, actor_id: principal.id };
    log.warn({ tenant_id: principal.tenantId, name, ...actor }, "a tenant was deleted");
    return c.body(null, 204);
  });

  routes.get("/tenant/export", allow("disclose"), async (c) => {
    const principal = c.get("principal");
    const account = accountOf(c.req.raw);
    const body = await account.holdUntilRead(heldBytes, async () => {
      const { id, name } = await query(principal, (db) => selectTenant(db));
      const exportedAt = new Date(nowMs()).toISOString();
      const header: ExportHeader = { schema: "scanstream.export/1", tenant_id: id, name, exported_at: exportedAt };
      return toStream(
        exportTenant(header, ({ table, after }) =>
          account.readLarge(() => query(principal, (db) => readExportPage(db, requireExportedTable(table), after))),
        ),
      );
    });
    return c.body(body, 200, {
      "content-type": "application/x-ndjson",
      "content-disposition": `attachment; filename="tenant-${principal.tenantId}.ndjson"`,
    });
  });

  return routes;

  function query<Result>(principal: AllowedPrincipal, work: (db: TenantDatabase) => Promise<Result>): Promise<Result> {
    return withPrincipal(database, principal, work);
  }
}

/** A page of the largest rows, in the gateway and on its way to a client that reads slowly. */
const heldBytes = 4 * 1_048_576;

/** A page is read when the client has taken the one before; an error breaks the answer off before its last line. */
function toStream(lines: AsyncGenerator<string>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await lines.next();
      if (done === true) controller.close();
      else controller.enqueue(encoder.encode(value));
    },
    async cancel() {
      await lines.return(undefined);
    },
  });
}
