import * as v from "valibot";
import { decisionSchema } from "./decision.ts";
import { monitorEventSchemas, monitorSchema } from "./monitor.ts";
import { organizationEventSchemas } from "./organization.ts";
import { count, uuid, type Output } from "./primitives.ts";
import { scanSchema, scanEventSchemas } from "./scan.ts";

/** A scan as `GET /scans/{id}` shows it, with its id as events name it. */
const scanResourceSchema = v.object({ scan_id: uuid(), ...scanSchema.entries });

/** The payloads of the events of a tenant's stream, by type. */
export const tenantEventSchemas = {
  "tenant.snapshot": v.object({ tenant_id: uuid(), count, monitors: count, organizations: count }),
  "scan.snapshot": scanResourceSchema,
  "monitor.snapshot": monitorSchema,
  ...organizationEventSchemas,
  "scan.created": scanResourceSchema,
  "scan.updated": scanResourceSchema,
  "scan.deleted": v.object({ scan_id: uuid() }),
  "scan.end": scanEventSchemas["scan.end"],
  ...monitorEventSchemas,
  "decision.created": decisionSchema,
  "decision.updated": decisionSchema,
};

export type ScanResource = Output<typeof scanResourceSchema>;

/** The event map of a tenant's stream, for `subscribe<TenantEvents>`. */
export type TenantEvents = {
  readonly [Type in keyof typeof tenantEventSchemas]: Output<(typeof tenantEventSchemas)[Type]>;
};
