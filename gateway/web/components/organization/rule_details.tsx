import { useEffect, useState } from "preact/hooks";
import { alsoText } from "../../../../shared/change_groups.ts";
import { countOf } from "../../../../shared/outcome_text.ts";
import type { ManualReason } from "../../../../shared/report.ts";
import { stateOf } from "../../../../shared/rule_result.ts";
import type { RuleHistory } from "../../../../shared/schemas/history.ts";
import { labelledNotes } from "../../../../shared/schemas/finding_notes.ts";
import { checkTitle, findCheck } from "../../model/check_catalog.ts";
import { toTerms, toVerb, type DecisionDraft, type DecisionIndex } from "../../model/decisions/decision_index.ts";
import type { Finding } from "../../model/finding.ts";
import { formatVerdict, isolated, stateNames } from "../../model/format.ts";
import { byWhom, toNews } from "../../model/news.ts";
import type { OpenOrganization } from "../../model/organization_store.ts";
import { passingDays, type RuleRow } from "../../model/rules.ts";
import { Button, CopyButton, StateMark, Time } from "../basics.tsx";
import { decisionTexts } from "../decisions/decide_dialog.tsx";
import { useLifetime } from "../hooks.ts";
import { Days, sinceText } from "./days.tsx";

/** DISA's own texts by check, as JSON, written into the bundle by `build.ts`: as an object esbuild puts them into the first script. */
declare const FIX_TEXTS: string;

const fixTexts = new Map(Object.entries(JSON.parse(FIX_TEXTS) as Readonly<Record<string, string>>));
const rowsAtOnce = 50;
const shownChanges = 20;

/** The organization that is open, for its rules. */
export interface OpenRules {
  readonly store: OpenOrganization;
  readonly decisions: DecisionIndex;
  /** Undefined: nothing can be decided here. */
  readonly onDecide: ((draft: DecisionDraft) => void) | undefined;
  readonly now: number;
}

/** The findings of a rule, what would make it pass, and how long it has been as it is. */
export function RuleDetails({ rule, store, decisions, onDecide, now }: OpenRules & { readonly rule: RuleRow }) {
  const { check, findings, attestation } = rule;
  const [limit, setLimit] = useState(rowsAtOnce);
  const [history, setHistory] = useState<RuleHistory | null>(rule.history);
  const signal = useLifetime();
  const { readHistory } = store;
  useEffect(() => {
    // The row says it of 90 days, which are known already. Another result is a new day of it.
    readHistory(check, signal).then(setHistory, () => undefined);
  }, [readHistory, check, signal, rule.state]);
  const info = findCheck(check);
  const fix = fixTexts.get(check);
  const passing = passingDays(history);
  const changes = store.changes.filter((change) => change.check === check);
  const newestFirst = toNews(changes.slice(0, shownChanges), null).toSorted((a, b) => b.atMs - a.atMs);
  const since =
    rule.state === "pass" && passing !== null ? { atMs: passing.fromMs, actor: null, days: passing } : rule.since;
  return (
    <div class="rule-inside stack">
      <p class="rule-name">{checkTitle(check)}</p>
      <div class="row wrap">
        <strong>{sinceText({ state: rule.state, since }, now) || `${stateNames[rule.state]} now`}</strong>
        {rule.isAutomatedPass && passing !== null && (
          <span class="fine">{`automated part passing for ${countOf(passing.known, "day")}`}</span>
        )}
        {history !== null && <Days days={history.days} />}
      </div>
      {attestation !== null && <p class="fine">{`${toVerb(attestation)} ${toTerms(attestation)}`}</p>}
      <ul>
        {findings.slice(0, limit).map((finding) => (
          <FindingLine key={finding.fingerprint} finding={finding} decisions={decisions} onDecide={onDecide} />
        ))}
      </ul>
      {findings.length > limit && (
        <Button
          look="more"
          label={`Show more (${findings.length - limit} not shown yet)`}
          onClick={() => setLimit(limit + 100)}
        />
      )}
      {fix !== undefined && ["fail", "manual"].includes(rule.state) && (
        <details>
          <summary>DISA's fix text</summary>
          <p class="fix-text">{fix}</p>
        </details>
      )}
      {changes.length > 0 && (
        <section>
          <h3>Changes</h3>
          <ol>
            {newestFirst.map((item) => (
              <li key={item.id}>
                <Time atMs={item.atMs} />
                {` · ${formatVerdict(item.change.to)} · ${byWhom(item)}`}
                <span class="fine">
                  {[item.change.actual.slice(0, 300), alsoText(item.change)].map(
                    (text) => text && ` · ${isolated(text)}`,
                  )}
                </span>
              </li>
            ))}
          </ol>
        </section>
      )}
      {info !== null && (
        <p class="fine">
          {[info.stig_id, ...info.nist_800_53_r5, ...info.scopes.map((scope) => `okta.${scope}`)].join(" · ")}
        </p>
      )}
    </div>
  );
}

type FindingLineProps = Pick<OpenRules, "decisions" | "onDecide"> & { readonly finding: Finding };

/** The expected and the actual value on one line, the decision about it, and how it was read. */
function FindingLine({ finding, decisions, onDecide }: FindingLineProps) {
  const { resource_name: name, expected, actual, detail, reason, evaluation, read_from } = finding;
  const state = stateOf(finding);
  const isFailing = state === "fail";
  const decision = decisions.ofFinding(finding);
  const waiver = decision?.kind === "waiver" ? decision : null;
  const kind = isFailing ? "waiver" : "attestation";
  const renewed = decision?.kind === kind ? decision : null;
  const label = renewed === null ? `${decisionTexts[kind].button}…` : "Renew…";
  // A list of buttons names each one's finding, too.
  const named = { label, "aria-label": `${label} ${name}` };
  // Leaves out what a file decides, which is renewed there.
  const isOpen = renewed === null ? isFailing || decision === null : renewed.id !== undefined;
  return (
    <li class="finding" id={`finding-${finding.fingerprint}`}>
      <p class="row wrap">
        <StateMark state={state} isStrong={isFailing && finding.severity === "high" && waiver === null} />
        <strong>{name === "" ? "Unnamed resource" : name}</strong>
        {finding.advisory && <span class="badge">advice</span>}
        {waiver !== null && <span class="badge">waived</span>}
      </p>
      <p class="finding-values">
        {isFailing && expected !== "" && (
          <>
            <span class="expected">{expected}</span>
            {" → "}
          </>
        )}
        <span class={isFailing ? "strong" : ""}>{actual === "" ? detail : actual}</span>
      </p>
      {labelledNotes(finding).map(({ label, text }) => (
        <p key={label}>{`${label}: ${text}`}</p>
      ))}
      {reason !== null && <p class="fine">{reasonWords[reason]}</p>}
      {!isFailing && detail !== "" && detail !== actual && <p class="fine">{detail}</p>}
      {decision !== null && <p class="fine">{`${toVerb(decision)} ${toTerms(decision)}`}</p>}
      {evaluation !== null && (
        <details>
          <summary>Rules that decide, in the order in which Okta evaluates them</summary>
          <pre>{evaluation}</pre>
        </details>
      )}
      <div class="row wrap">
        {onDecide !== undefined && isOpen && (isFailing || finding.status === "MANUAL") && (
          <Button look="small" {...named} onClick={() => onDecide({ kind, finding, renewed })} />
        )}
        {decision?.id !== undefined && (
          <a class="button small" href="#/decisions">
            All decisions
          </a>
        )}
        <CopyButton label="Copy link" getText={() => location.href} />
        <span class="fine">
          {[finding.resource_type, finding.resource_id, read_from ?? ""]
            .filter((part) => part !== "")
            .map(isolated)
            .join(" · ")}
        </span>
      </div>
    </li>
  );
}

const reasonWords: Readonly<Record<ManualReason, string>> = {
  missing_scope: "The service application was not granted a scope that this check needs",
  missing_role: "The service application's admin role does not allow reading this",
  not_available: "The organization does not have this feature",
  provider_error: "Okta did not answer, or answered with an error",
  unreadable: "Okta's answer was not in a form that the check understands",
  interrupted: "The scan was interrupted before the check was evaluated",
  not_applicable: "The rule does not apply to this resource",
  needs_review: "The API shows too little to decide: a person has to review it",
  rule_changed: "This revision of the STIG words the rule in a new way: a person has to decide",
  not_automated: "scanstream has no check for this rule: a person has to decide",
  partly_automated: "The API shows only a part of the rule: a person verifies the rest",
};
