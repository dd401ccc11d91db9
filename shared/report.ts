/** The types of a report, of which `schemas/report.ts` is the source and `report.schema.json` the JSON Schema. */
export type { ManualReason, Severity, Status } from "./schemas/finding.ts";
export type * from "./schemas/report.ts";
