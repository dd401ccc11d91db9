import type { ComponentChild } from "preact";
import { useState } from "preact/hooks";
import { stateOf, type ManualReason } from "../../../shared/report.ts";
import type { Decision, DecisionKind } from "../../../shared/schemas/decision.ts";
import { checkTitle, findCheck } from "../model/check_catalog.ts";
import type { Finding } from "../model/scan_model.ts";
import { Icon, StateTag } from "./basics.tsx";
import { DecisionBadge, toTerms, toVerb } from "./decisions/decision_words.tsx";
import { memo } from "./hooks.ts";

interface FindingRowProps {
  readonly finding: Finding;
  readonly onOpen: () => void;
  readonly more: ((finding: Finding) => ComponentChild) | undefined;
  /** The waiver of it, else the attestation of its check. */
  readonly decision: Decision | null;
  /** Undefined: nothing can be decided here. */
  readonly onDecide: ((kind: DecisionKind, finding: Finding) => void) | undefined;
}

/** One finding: a line, and what explains it while it is open. */
export const FindingRow = memo(({ finding, onOpen, more, decision, onDecide }: FindingRowProps) => {
  const [isOpen, setOpen] = useState(false);
  return (
    <details
      class="finding"
      onToggle={(event) => {
        setOpen(event.currentTarget.open);
        if (event.currentTarget.open) onOpen();
      }}
    >
      <summary>
        <span class="finding-status">
          <StateTag state={stateOf(finding)} />
        </span>
        <span class="finding-main stack grow">
          <span class="finding-head row spread">
            <span class="finding-name strong">
              {finding.resourceName === "" ? "Unnamed resource" : finding.resourceName}
            </span>
            <span class={finding.severity === "high" ? "severity inked tone-fail" : "severity"}>
              {finding.severity}
            </span>
          </span>
          <span class="text one-line">{finding.detail}</span>
          <span class="fine one-line">{checkTitle(finding.check)}</span>
          {decision !== null && (
            <span class="finding-decision">
              <DecisionBadge decision={decision} />
            </span>
          )}
        </span>
        <Icon name="chevron" />
      </summary>
      <div class="finding-inside stack text">
        {isOpen && (
          <>
            <Explanation finding={finding} isComplete={more !== undefined} />
            {decision !== null && <p>{`${toVerb(decision)} ${toTerms(decision)}`}</p>}
            <DecideButtons finding={finding} decision={decision} onDecide={onDecide} />
            {more?.(finding)}
          </>
        )}
      </div>
    </details>
  );
});

/** Open findings are waived; where the API shows too little, a person answers for the check. */
function DecideButtons({ finding, decision, onDecide }: Pick<FindingRowProps, "finding" | "decision" | "onDecide">) {
  const { coverageReason } = finding;
  const state = stateOf(finding);
  const mayWaive = (state === "fail" || state === "manual") && decision?.kind !== "waiver";
  const mayAttest = decision === null && (finding.status === "MANUAL" || (state === "pass" && coverageReason !== null));
  if (onDecide === undefined) return null;
  return (
    <div class="row wrap">
      {mayWaive && (
        <button type="button" class="button button-small" onClick={() => onDecide("waiver", finding)}>
          Waive…
        </button>
      )}
      {mayAttest && (
        <button type="button" class="button button-small" onClick={() => onDecide("attestation", finding)}>
          Attest…
        </button>
      )}
      {decision !== null && (
        <a class="button button-small" href="#/decisions">
          All decisions
        </a>
      )}
    </div>
  );
}

function Explanation({ finding, isComplete }: { readonly finding: Finding; readonly isComplete: boolean }) {
  const info = findCheck(finding.check);
  const resource = [finding.resourceType, finding.resourceId].filter((part) => part !== null && part !== "");
  return (
    <>
      <dl class="facts">
        {(finding.expected !== null || !isComplete) && (
          <Fact term="Expected" text={finding.expected ?? "Being read…"} class="fact-expected inked tone-pass" />
        )}
        <Fact term="Actual" text={finding.actual ?? "Being read…"} class="fact-actual strong" />
        {finding.detail !== "" && <Fact term="Detail" text={finding.detail} />}
        {finding.toPass !== null && <Fact term="To pass" text={finding.toPass} />}
        {finding.coverageReason !== null && <Fact term="Left to a person" text={finding.coverageReason} />}
        {finding.reason !== null && (
          <Fact
            term={stateOf(finding) === "not_applicable" ? "Not applicable" : "Why it needs manual review"}
            text={reasonWords[finding.reason]}
          />
        )}
        {resource.length > 0 && <Fact term="Resource" text={resource.join(" · ")} />}
        <Fact term="Check" text={info === null ? finding.check : `${finding.check} (${info.stigId})`} />
      </dl>
      {finding.evaluation !== null && (
        <section class="evaluation">
          <h3>What decides, in the order in which Okta evaluates</h3>
          <pre class="evaluation-rules">{finding.evaluation}</pre>
        </section>
      )}
      {info !== null && ["fail", "manual"].includes(stateOf(finding)) && (
        <section class="fix">
          <h3>How to fix</h3>
          <p>{info.fix}</p>
        </section>
      )}
    </>
  );
}

function Fact(props: { readonly term: string; readonly text: string; readonly class?: string }) {
  return (
    <>
      <dt>{props.term}</dt>
      <dd class={props.class}>{props.text}</dd>
    </>
  );
}

export const reasonWords: Readonly<Record<ManualReason, string>> = {
  missing_scope: "The service application was not granted a scope that this check reads with",
  missing_role: "The service application's admin role does not allow this to be read",
  not_available: "The organization does not have this feature",
  provider_error: "The provider did not answer, or not completely",
  unreadable: "The provider's answer has a shape that is not known",
  interrupted: "The scan was interrupted before the check was evaluated",
  not_applicable: "The check does not apply to this organization",
  needs_review: "Only a person can judge this",
  rule_changed:
    "This revision of the STIG words the rule in a new way, and no check was written for that text: a person decides",
  not_automated: "scanstream has no check for this rule: a person decides",
};
