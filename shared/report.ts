import type { Status } from "./schemas/finding.ts";
import type { StatusCounts } from "./schemas/report.ts";

/** The types of a report, of which `schemas/report.ts` is the source and `report.schema.json` the JSON Schema. */
export type { Coverage, ManualReason, Severity, Status } from "./schemas/finding.ts";
export type * from "./schemas/report.ts";

/** FAIL if anything fails; else MANUAL if anything needs a person; else PASS. */
export function worstStatus(statuses: readonly Status[]): Status {
  if (statuses.includes("FAIL")) return "FAIL";
  return statuses.includes("MANUAL") ? "MANUAL" : "PASS";
}

export function countStatuses(results: readonly { readonly status: Status }[]): StatusCounts {
  const count = (status: Status) => results.filter((result) => result.status === status).length;
  return { pass: count("PASS"), fail: count("FAIL"), manual: count("MANUAL") };
}
