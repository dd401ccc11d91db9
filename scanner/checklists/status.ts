import type { RuleState } from "../../shared/rule_result.ts";

/** The status of a rule in a checklist, in the words of CKLB. */
export const checklistStatuses = ["not_reviewed", "open", "not_a_finding", "not_applicable"] as const;
export type ChecklistStatus = (typeof checklistStatuses)[number];

/** The status that a scan gives a rule. */
export const statusOfState: Readonly<Record<RuleState, ChecklistStatus>> = {
  pass: "not_a_finding",
  fail: "open",
  manual: "not_reviewed",
  not_applicable: "not_applicable",
};

/** As people read it. */
export const statusLabels: Readonly<Record<ChecklistStatus, string>> = {
  not_reviewed: "Not Reviewed",
  open: "Open",
  not_a_finding: "Not a Finding",
  not_applicable: "Not Applicable",
};

/** In the words of CKL. */
export const cklStatuses: Readonly<Record<ChecklistStatus, string>> = {
  not_reviewed: "Not_Reviewed",
  open: "Open",
  not_a_finding: "NotAFinding",
  not_applicable: "Not_Applicable",
};
