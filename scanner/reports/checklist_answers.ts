import type { Report } from "../../shared/report.ts";
import { stateOf, type RuleState } from "../../shared/rule_result.ts";
import { freshAnswer, mergeAnswer, type AutomatedAnswer, type MergedAnswers } from "../checklists/answers.ts";
import type { ResultEngine } from "../checklists/result_block.ts";
import type { ChecklistStatus } from "../checklists/status.ts";
import { benchmarkRules, type RuleOutcome } from "./benchmark_rules.ts";
import { revisionOf, type RenderOptions } from "./report_format.ts";

const statuses: Readonly<Record<RuleState, ChecklistStatus>> = {
  pass: "not_a_finding",
  fail: "open",
  manual: "not_reviewed",
  not_applicable: "not_applicable",
};

export interface ChecklistAnswers {
  readonly answers: MergedAnswers;
  /** What a person had answered and the scan decided otherwise. */
  readonly differences: readonly ChecklistDifference[];
}

export interface ChecklistDifference {
  readonly vulnId: string;
  readonly answered: ChecklistStatus;
  readonly status: ChecklistStatus;
}

/** What a checklist of this scan says at each rule of the benchmark, with the answers of one that people worked in. */
export function answersOf(
  report: Report,
  options: Pick<RenderOptions, "toolVersion" | "checklist" | "revision">,
): ChecklistAnswers {
  const { checklist } = options;
  const engine = engineOf(report, options);
  const answers = new Map(
    benchmarkRules(report, revisionOf(options)).map((outcome) => {
      const vulnId = outcome.rule.vuln_id;
      const before = checklist?.answers.get(vulnId);
      const result = automatedAnswer(outcome);
      const merged =
        checklist === undefined || before === undefined
          ? freshAnswer(result, engine)
          : mergeAnswer(before, result, { engine, checklist: checklist.name });
      return [vulnId, merged];
    }),
  );
  const differences = [...answers].flatMap(([vulnId, { differing, status }]) =>
    differing === null ? [] : [{ vulnId, answered: differing, status }],
  );
  return { answers, differences };
}

export function engineOf({ scan }: Report, { toolVersion }: Pick<RenderOptions, "toolVersion">): ResultEngine {
  return { toolVersion, time: scan.ended_at };
}

/** Null: this scan did not examine the rule. The answer that the checklist itself gave is not the scan's. */
function automatedAnswer({ check, ...outcome }: RuleOutcome): AutomatedAnswer | null {
  if (check === null) return null;
  const { details, comments } = outcome;
  const attestation = check.attestation?.source === "checklist" ? null : check.attestation;
  const state = stateOf({ ...check, attestation });
  // A MANUAL is for a person to answer, also where its reason says that the rule does not apply.
  const hasVerdict = state === "pass" || state === "fail" || (state === "not_applicable" && attestation !== null);
  return {
    status: statuses[state],
    details,
    comments: attestation === check.attestation ? comments : "",
    hasVerdict,
    attestedBy: check.status === "FAIL" || !hasVerdict ? null : (attestation?.by ?? null),
  };
}
