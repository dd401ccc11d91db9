import type { Attestation, CheckResult } from "../../shared/report.ts";
import { toLine } from "../../shared/text.ts";
import { personsPart } from "./answers.ts";
import type { Checklist } from "./checklist.ts";
import type { ChecklistStatus } from "./status.ts";

const attested: Readonly<Record<Exclude<ChecklistStatus, "not_reviewed">, Attestation["status"]>> = {
  open: "FAIL",
  not_a_finding: "PASS",
  not_applicable: "NOT_APPLICABLE",
};
const maxReasonLength = 400;

/** The results with what a person answered in the checklist: it attests the rules that the scan and the attestations leave open. */
export function withChecklistAnswers(
  results: readonly CheckResult[],
  checklist: Pick<Checklist, "answers" | "name"> | null,
): readonly CheckResult[] {
  if (checklist === null) return results;
  return results.map((result) => {
    const answer = checklist.answers.get(result.vuln_id);
    const isOpen = result.status === "MANUAL" && result.attestation === null;
    if (answer === undefined || !isOpen) return result;
    const { status, text, comments } = personsPart(answer);
    if (status === "not_reviewed") return result;
    const reason = [text, comments].map((words) => toLine(words, maxReasonLength).trim()).find((words) => words !== "");
    return {
      ...result,
      attestation: {
        status: attested[status],
        reason: reason ?? "no words were written with the answer",
        by: checklist.name,
        expires: null,
        source: "checklist",
      },
    };
  });
}
