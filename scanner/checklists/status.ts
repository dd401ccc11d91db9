import type { RuleState } from "../../shared/rule_result.ts";

/**
 * The statuses of a rule in a checklist, by their words in CKLB: the state of a rule that has it, the words for people and in CKL, and the
 * result that a person attests with it.
 */
export const checklistStatuses = {
  not_reviewed: { state: "manual", label: "Not Reviewed", ckl: "Not_Reviewed", attests: null },
  open: { state: "fail", label: "Open", ckl: "Open", attests: "FAIL" },
  not_a_finding: { state: "pass", label: "Not a Finding", ckl: "NotAFinding", attests: "PASS" },
  not_applicable: {
    state: "not_applicable",
    label: "Not Applicable",
    ckl: "Not_Applicable",
    attests: "NOT_APPLICABLE",
  },
} as const;

export type ChecklistStatus = keyof typeof checklistStatuses;
export const statusNames = Object.keys(checklistStatuses) as readonly ChecklistStatus[];

export function findStatus(kind: "state" | "label" | "ckl", word: string | undefined): ChecklistStatus | null {
  return statusNames.find((status) => checklistStatuses[status][kind] === word) ?? null;
}

/** The status of a rule in this state. */
export function statusOf(state: RuleState): ChecklistStatus {
  return findStatus("state", state) ?? "not_reviewed";
}
