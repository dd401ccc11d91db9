import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { isDay } from "../../../../shared/decisions/expiry.ts";
import { vulnIdOf } from "../../../../shared/rule_names.ts";
import { categoryNames } from "../../../../shared/severity.ts";
import { checkTitle } from "../../model/check_catalog.ts";
import { dayMs, stateNames, toDay, type ShownState } from "../../model/format.ts";
import { shownDays } from "../../model/organization_store.ts";
import type { RulesView } from "../../model/route.ts";
import { countRules, filterRules, type RuleRow } from "../../model/rules.ts";
import { FilterOutcome, Icon, SearchField, Segments, StateMark } from "../basics.tsx";
import { Days, sinceText } from "./days.tsx";
import { RuleDetails, type OpenRules } from "./rule_details.tsx";

interface RulesTableProps extends OpenRules {
  readonly rules: readonly RuleRow[];
  /** The present state of each check whose rule differs now; null: now is shown, or not read yet. */
  readonly compared: ReadonlyMap<string, ShownState> | null;
  readonly view: RulesView;
  readonly change: (changed: Partial<RulesView>) => void;
  /** True: the findings are not read yet. */
  readonly isUnread: boolean;
  /** Next to the filters. */
  readonly children?: ComponentChildren;
}

/** One line for each rule; it opens into its findings, its fix and its history. */
export function RulesTable(props: RulesTableProps) {
  const { rules, compared, isUnread, store, view, change } = props;
  const counts = countRules(rules);
  const shown = filterRules(rules, view);
  const names = { ...stateNames, waived: "waived" };
  const isTooOld = isDay(view.asOf ?? "") && (view.asOf ?? "") < toDay(props.now - (shownDays - 1) * dayMs);
  const segments = (["fail", "manual", "pass", "not_applicable", "none", "waived"] as const)
    .filter((state) => (counts[state] > 0 && !isUnread) || state === view.state)
    .map((state) => [state, `${names[state]} ${counts[state]}`] as const);
  return (
    <section class="rules" aria-labelledby="rules-title">
      <header class="row wrap">
        <h2 id="rules-title" class="visually-hidden">
          Rules
        </h2>
        <Segments
          label="Rules by result"
          value={view.state}
          options={[...segments, [null, `all ${rules.length}`]]}
          choose={(state) => change({ state, rule: null })}
        />
        <SearchField
          label="Filter the rules"
          placeholder="Filter by rule, resource, value or person"
          value={view.text}
          onText={(text) => change({ text })}
        />
        {props.children}
        {compared !== null && !isUnread && store.isRead && (
          <p class="fine" role="status">
            {rules.every(({ state }) => state === "none")
              ? isTooOld
                ? `The page knows the last ${shownDays} days only`
                : "No scan or monitor evaluated the rules then"
              : `${compared.size || "No"} ${compared.size === 1 ? "rule differs" : "rules differ"} now`}
          </p>
        )}
      </header>
      {(isUnread || !store.isRead) && (
        <p role="status">{store.problem === null ? "Loading the findings…" : "The findings could not be read yet."}</p>
      )}
      {(isUnread ? [] : shown).map((rule) => (
        <RuleLine key={rule.check} {...props} rule={rule} other={compared?.get(rule.check) ?? null} />
      ))}
      <FilterOutcome shown={shown.length} all={rules.length} noun="rule" />
    </section>
  );
}

type RuleLineProps = RulesTableProps & { readonly rule: RuleRow; readonly other: ShownState | null };

function RuleLine(props: RuleLineProps) {
  const { rule, other, view, change, now } = props;
  const { check, state, severity, findings, deciding, history } = rule;
  const isOpen = view.rule === check;
  const row = useRef<HTMLDetailsElement>(null);
  const { isRead } = props.store;
  useEffect(() => {
    // The order is another one when the findings are read.
    if (isOpen) row.current?.scrollIntoView({ block: "nearest" });
  }, [isOpen, isRead]);
  const isStrong = state === "fail" && severity === "high" && !rule.isWaived;
  return (
    <details
      ref={row}
      class={`rule${isStrong ? " rule-worst" : ""}`}
      name="rule"
      open={isOpen}
      onToggle={({ currentTarget: { open } }) => {
        if (open !== isOpen) change({ rule: open ? check : null });
      }}
    >
      <summary>
        <StateMark state={state} isStrong={isStrong} />
        <span class={isStrong ? "strong-fail" : "fine"}>
          <span class="visually-hidden">CAT</span> {categoryNames[severity].slice(4)}
        </span>
        <span class="rule-id">{vulnIdOf(check)}</span>
        <span class="rule-title one-line" title={checkTitle(check)}>
          {checkTitle(check)}
        </span>
        <span class="rule-badge">
          {rule.isWaived && <span class="badge">waived</span>}
          {rule.attestation !== null && <span class="badge">attested</span>}
          {rule.isAutomatedPass && <span class="badge">automated part passes</span>}
          {other !== null && <span class="badge">{`now ${stateNames[other]}`}</span>}
        </span>
        <span class="rule-count fine">{deciding > 0 ? `${deciding} of ${findings.length}` : ""}</span>
        {history === null ? <span class="days" /> : <Days days={history.days} />}
        <span class="rule-since fine one-line">{sinceText(rule, now)}</span>
        <Icon name="chevron" />
      </summary>
      {isOpen && <RuleDetails {...props} />}
    </details>
  );
}
