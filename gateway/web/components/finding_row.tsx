import type { ComponentChild, ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { ManualReason } from "../../../shared/report.ts";
import { stateOf } from "../../../shared/rule_result.ts";
import type { Decision, DecisionKind } from "../../../shared/schemas/decision.ts";
import { labelledNotes } from "../../../shared/schemas/finding_notes.ts";
import { categoryNames } from "../../../shared/severity.ts";
import { checkTitle, findCheck } from "../model/check_catalog.ts";
import type { Finding } from "../model/scan_model.ts";
import { formatTime } from "../model/format.ts";
import { diffWords, type DiffPart } from "../model/word_diff.ts";
import { CopyButton, Icon, StateTag } from "./basics.tsx";
import { DecisionBadge, toTerms, toVerb } from "./decisions/decision_words.tsx";
import { memo, useZone } from "./hooks.ts";

interface FindingRowProps {
  readonly finding: Finding;
  /** The address names it. */
  readonly isLinked: boolean;
  /** How its values were read. */
  readonly readText: string;
  readonly onOpen: () => void;
  /** With its fingerprint, or null when it was closed. */
  readonly onToggle: (fingerprint: string | null) => void;
  readonly more: ((finding: Finding) => ComponentChild) | undefined;
  /** The waiver of it, else the attestation of its check. */
  readonly decision: Decision | null;
  /** Undefined: nothing can be decided here. */
  readonly onDecide: ((kind: DecisionKind, finding: Finding) => void) | undefined;
}

/** One finding: a line, and what explains it while it is open. */
export const FindingRow = memo((props: FindingRowProps) => {
  const { finding, isLinked, readText, onOpen, onToggle, more, decision, onDecide } = props;
  const [isOpen, setOpen] = useState(isLinked);
  const row = useRef<HTMLDetailsElement>(null);
  const rule = findCheck(finding.check);
  useZone();
  useEffect(() => {
    if (isLinked) row.current?.scrollIntoView({ block: "center" });
  }, [isLinked]);
  return (
    <details
      ref={row}
      class="finding"
      id={`finding-${finding.fingerprint}`}
      open={isOpen}
      onToggle={({ currentTarget: { open } }) => {
        if (open) onOpen();
        if (open === isOpen) return;
        setOpen(open);
        onToggle(open ? finding.fingerprint : null);
      }}
    >
      <summary>
        <span>
          <StateTag state={stateOf(finding)} />
        </span>
        <span class={`severity ${finding.severity === "high" && finding.status !== "PASS" ? "inked tone-fail" : ""}`}>
          {categoryNames[finding.severity]}
        </span>
        <span class="finding-rule fine" title={rule?.stigId}>
          {rule?.vulnId ?? ""}
        </span>
        <span class="finding-main stack grow">
          <span class="finding-name clamped strong">
            {finding.resource_name === "" ? "Unnamed resource" : shorten(finding.resource_name)}
          </span>
          <span class="fine one-line">{checkTitle(finding.check)}</span>
          {decision !== null && (
            <span>
              <DecisionBadge decision={decision} />
            </span>
          )}
        </span>
        <span class="finding-detail text">
          <span class="clamped">{shorten(finding.detail)}</span>
          {typeof finding.sinceMs === "number" && <span class="fine">{`since ${formatTime(finding.sinceMs)}`}</span>}
        </span>
        <Icon name="chevron" />
      </summary>
      <div class="finding-inside stack text">
        {isOpen && (
          <>
            <Explanation finding={finding} isComplete={more !== undefined} readText={readText} />
            {decision !== null && <p>{`${toVerb(decision)} ${toTerms(decision)}`}</p>}
            <div class="row wrap">
              <DecideButtons finding={finding} decision={decision} onDecide={onDecide} />
              <CopyButton label="Copy link" getText={() => location.href} />
              <CopyButton label="Copy resource id" getText={() => finding.resource_id ?? finding.resource_name} />
            </div>
            {more?.(finding)}
          </>
        )}
      </div>
    </details>
  );
});

/** The line shows two lines of it; the whole text is in the details. */
const maxLineLength = 2000;

function shorten(text: string): string {
  return text.length <= maxLineLength ? text : `${text.slice(0, maxLineLength)}…`;
}

function resourceText({ resource_type, resource_id }: Finding): string {
  return [resource_type, resource_id].filter((part) => part !== null && part !== "").join(" · ");
}

/** Open findings are waived; where the API shows too little, a person answers for the check. */
function DecideButtons({ finding, decision, onDecide }: Pick<FindingRowProps, "finding" | "decision" | "onDecide">) {
  const state = stateOf(finding);
  const mayWaive = (state === "fail" || state === "manual") && decision?.kind !== "waiver";
  const mayAttest = decision === null && finding.status === "MANUAL";
  if (onDecide === undefined) return null;
  return (
    <>
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
    </>
  );
}

function Explanation(props: { readonly finding: Finding; readonly isComplete: boolean; readonly readText: string }) {
  const { finding, isComplete, readText } = props;
  const info = findCheck(finding.check);
  const { expected, actual } = finding;
  const isDifferent = stateOf(finding) === "fail" && expected !== null && actual !== null;
  const [wanted, found] = isDifferent ? diffWords(expected, actual) : [null, null];
  return (
    <>
      <dl class="facts">
        {(expected !== null || !isComplete) && (
          <Fact term="Expected" class="fact-expected">
            {wanted === null ? (expected ?? "Loading…") : <Parts parts={wanted} tone="tone-pass" />}
          </Fact>
        )}
        <Fact term="Actual" class="fact-actual strong">
          {found === null ? (actual ?? "Loading…") : <Parts parts={found} tone="tone-fail" />}
        </Fact>
        {finding.detail !== "" && finding.detail !== actual && <Fact term="Detail">{finding.detail}</Fact>}
        {labelledNotes(finding).map(({ label, text }) => (
          <Fact key={label} term={label}>
            {text}
          </Fact>
        ))}
        {finding.reason !== null && (
          <Fact term={stateOf(finding) === "not_applicable" ? "Not applicable" : "Why it needs manual review"}>
            {reasonWords[finding.reason]}
          </Fact>
        )}
        {resourceText(finding) !== "" && <Fact term="Resource">{resourceText(finding)}</Fact>}
        <Fact term="Rule">
          {info === null
            ? finding.check
            : [info.vulnId, categoryNames[finding.severity], info.stigId, ...info.controls].join(" · ")}
        </Fact>
        <Fact term="Read">
          {finding.read_from?.replaceAll("; ", "\n") ?? readText}
          {info !== null &&
            info.scopes.length > 0 &&
            `, with ${info.scopes.map((scope) => `okta.${scope}`).join(", ")}`}
        </Fact>
      </dl>
      {finding.evaluation !== null && (
        <section class="evaluation">
          <h3>Rules that decide, in the order in which Okta evaluates them</h3>
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

function Parts({ parts, tone }: { readonly parts: readonly DiffPart[]; readonly tone: string }) {
  return (
    <>
      {parts.map(({ text, isOther }, index) =>
        isOther ? (
          <mark key={index} class={`tinted ${tone}`}>
            {text}
          </mark>
        ) : (
          text
        ),
      )}
    </>
  );
}

function Fact(props: { readonly term: string; readonly class?: string; readonly children: ComponentChildren }) {
  return (
    <>
      <dt>{props.term}</dt>
      <dd class={props.class}>{props.children}</dd>
    </>
  );
}

export const reasonWords: Readonly<Record<ManualReason, string>> = {
  missing_scope: "The service application was not granted a scope that this check needs",
  missing_role: "The service application's admin role does not allow reading this",
  not_available: "The organization does not have this feature",
  provider_error: "Okta did not answer, or answered with an error",
  unreadable: "Okta's answer was not in a form that the check understands",
  interrupted: "The scan was interrupted before the check was evaluated",
  not_applicable: "The check does not apply to this organization",
  needs_review: "The API shows too little to decide: a person has to review it",
  rule_changed:
    "This revision of the STIG words the rule in a new way, and no check exists for that text: a person has to decide",
  not_automated: "scanstream has no check for this rule: a person has to decide",
  partly_automated: "What the API shows meets the rule: a person verifies the rest",
};
