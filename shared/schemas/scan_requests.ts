import * as v from "valibot";
import { findingEntries } from "./finding.ts";
import { mapNotes } from "./finding_notes.ts";
import { count, fieldMessage, text, type Output } from "./primitives.ts";
import { webAddress } from "./web_address.ts";

/** The bodies that the REST resources of scans take. */

export const newScanSchema = v.strictObject(
  {
    org_url: v.exactOptional(v.nullable(webAddress)),
    client_id: v.exactOptional(v.nullable(text(1, 200))),
    benchmark: v.exactOptional(v.nullable(text(1, 200))),
    checks_total: v.exactOptional(count),
  },
  fieldMessage,
);

export const scanUpdateSchema = v.strictObject(
  {
    /** Nothing goes back to `pending`. */
    status: v.exactOptional(
      v.picklist(["running", "completed", "cancelled", "failed"], "expected running, completed, cancelled or failed"),
    ),
    checks_done: v.exactOptional(count),
    checks_total: v.exactOptional(count),
    pass: v.exactOptional(count),
    fail: v.exactOptional(count),
    manual: v.exactOptional(count),
    not_applicable: v.exactOptional(count),
  },
  fieldMessage,
);

const { resource_type: name, ...finding } = findingEntries;

/** Other fields, like those a report's finding has, are ignored. */
const newFindingSchema = v.object(
  {
    ...finding,
    reason: v.optional(finding.reason),
    severity: v.optional(finding.severity, "medium"),
    resource_type: v.optional(name),
    resource_id: v.optional(name),
    resource_name: v.optional(name),
    resource: v.pipe(
      v.optional(
        v.object({ type: v.optional(name, ""), id: v.optional(name, ""), name: v.optional(name, "") }, fieldMessage),
      ),
      v.description("As a report writes it; the flat fields win"),
    ),
    expected: v.optional(finding.expected, ""),
    actual: v.optional(finding.actual, ""),
    detail: v.optional(finding.detail, ""),
    automated: v.optional(finding.automated, null),
    cause: v.optional(finding.cause),
    ...mapNotes((name) => v.optional(finding[name])),
    advisory: v.optional(finding.advisory, false),
  },
  fieldMessage,
);

const maxFindings = 1000;
const findingsMessage = `expected an array of at most ${maxFindings} findings`;

export const newFindingsSchema = v.strictObject(
  { findings: v.pipe(v.array(newFindingSchema, findingsMessage), v.maxLength(maxFindings, findingsMessage)) },
  fieldMessage,
);

export type NewScan = Output<typeof newScanSchema>;
export type ScanUpdate = Output<typeof scanUpdateSchema>;
export type NewFinding = Output<typeof newFindingSchema>;
