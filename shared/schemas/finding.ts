import * as v from "valibot";
import { decisionSchema, decisionEnd } from "./decision.ts";
import { mapNotes } from "./finding_notes.ts";
import { described, oneOf, text, time, type Output } from "./primitives.ts";

export const statusSchema = oneOf("PASS", "FAIL", "MANUAL");
export const severitySchema = oneOf("high", "medium", "low");

/** Why evidence could not be obtained; becomes the reason of every MANUAL that rests on it. */
export const missingReasons = [
  "missing_scope",
  "missing_role",
  "not_available",
  "provider_error",
  "unreadable",
] as const;

/**
 * Why a verdict could not be given; set with MANUAL and only then. `interrupted`: the scan ended before the check was evaluated.
 * `not_applicable`: the rule does not apply, which is counted apart from what needs manual review. `rule_changed`: this revision
 * of the STIG has another text for the rule than its check was written for. `not_automated`: no check judges the rule.
 * `partly_automated`: nothing speaks against the rule in what the API shows, and a person verifies the rest.
 *
 * Reasons that a person can repair come first, and the first one that a finding has is the rule's.
 */
export const manualReasonSchema = v.picklist(
  [
    ...missingReasons,
    "interrupted",
    "needs_review",
    "rule_changed",
    "not_automated",
    "partly_automated",
    "not_applicable",
  ],
  "expected a reason of the report schema, or null",
);

/** With reason `partly_automated`. */
export const automatedSchema = described(
  v.nullable(v.literal("PASS", "expected PASS, or null")),
  "PASS: everything that the API shows meets the rule; `detail` ends with what a person verifies, unless the rule fails",
);
const name = text(0, 2048);
const longText = text(0, 65_536);

/** Decisions that the run itself had, in a file, a checklist or as its own limits: those of the gateway are kept there, and may end there. */
export const waiverEntries = {
  waiver_reason: described(v.nullable(longText), "Why the run's own file or limits waive it; null: they do not"),
  waiver_by: described(v.nullable(name), "Null: nobody, as it meets the organization's own limit"),
  waiver_expires: described(v.nullable(decisionEnd), "Null: never"),
};
export const ownDecisionEntries = {
  ...waiverEntries,
  attestation_status: described(
    decisionSchema.entries.status,
    "As the run's own file or checklist attests its check; null: they do not",
  ),
  attestation_reason: v.nullable(longText),
  attestation_by: v.nullable(name),
  attestation_expires: described(v.nullable(decisionEnd), "Null: never"),
};

/** A finding as the gateway stores and shows it: flat, with its check. */
export const findingEntries = {
  fingerprint: text(1, 200),
  check: text(1, 200),
  status: statusSchema,
  reason: v.nullable(manualReasonSchema),
  severity: severitySchema,
  resource_type: name,
  resource_id: name,
  resource_name: name,
  expected: longText,
  actual: longText,
  detail: longText,
  automated: automatedSchema,
  cause: described(
    v.nullable(text(1, 64)),
    "The id of the object whose change makes it pass, the same for all findings that this change closes",
  ),
  ...mapNotes((_, { description }) => described(v.nullable(longText), `${description}; null: not known`)),
  advisory: described(v.boolean("expected true or false"), "true: it does not change the check's status"),
  ...ownDecisionEntries,
};

export const storedFindingSchema = v.object({ ...findingEntries, created_at: time });

export type Status = Output<typeof statusSchema>;
export type Severity = Output<typeof severitySchema>;
export type ManualReason = Output<typeof manualReasonSchema>;
export type OwnDecisions = Pick<StoredFinding, keyof typeof ownDecisionEntries>;
export type FindingWaiver = Pick<StoredFinding, keyof typeof waiverEntries>;
export type StoredFinding = Output<typeof storedFindingSchema>;
