import { actorName, actorNames } from "../../../shared/actor.ts";
import { isSameResult } from "../../../shared/history/observation.ts";
import type { Severity } from "../../../shared/report.ts";
import { vulnIdOf } from "../../../shared/rule_names.ts";
import {
  automatedOf,
  countedFindings,
  isWaived,
  ruleStates,
  stateOf,
  worstVerdict,
} from "../../../shared/rule_result.ts";
import type { Change } from "../../../shared/schemas/change.ts";
import type { RuleHistory } from "../../../shared/schemas/history.ts";
import { categoryNames, severities } from "../../../shared/severity.ts";
import { checkNames, checkTitle, findCheck } from "./check_catalog.ts";
import type { DecisionIndex } from "./decisions/decision_index.ts";
import type { Finding, KnownDecision } from "./finding.ts";
import { wordsFinder, type ShownState } from "./format.ts";
import type { OpenOrganization } from "./organization_store.ts";

/** The rules of an organization as its page, its counts and its filters show them. */

export interface RuleRow {
  readonly check: string;
  readonly severity: Severity;
  readonly state: ShownState;
  /** Needs a person, and what is automated passes. */
  readonly isAutomatedPass: boolean;
  /** Everything of it that fails is waived; it stays FAIL in every count. */
  readonly isWaived: boolean;
  readonly attestation: KnownDecision | null;
  /** Worst first. */
  readonly findings: readonly Finding[];
  /** The number of findings that decide its state. */
  readonly deciding: number;
  readonly since: Since | null;
  readonly history: RuleHistory | null;
}

/** Since when the state holds, as far as it is known. */
export interface Since {
  readonly atMs: number;
  /** Nothing was known before. */
  readonly isFirst?: boolean;
  readonly actor: string | null;
  /** With a pass: days that are known to pass, and days in between of which nothing is known. */
  readonly days: { readonly known: number; readonly unknown: number } | null;
}

const shownStates: readonly ShownState[] = [...ruleStates, "none"];

type Known = Pick<OpenOrganization, "findings" | "results" | "changes" | "history">;

/** All rules of the catalog and all that have findings, worst first. Results count for rules whose findings are gone. */
export function toRules(
  { findings, results, changes, history }: Known,
  { attestationOf, waiverOf }: DecisionIndex,
): readonly RuleRow[] {
  const byCheck = Map.groupBy(findings, ({ check }) => check);
  const changesByCheck = Map.groupBy(changes, ({ check }) => check);
  const resultOf = new Map(results.map((result) => [result.check, result]));
  const rows = [...new Set([...checkNames(), ...byCheck.keys(), ...resultOf.keys()])].map((check): RuleRow => {
    const result = resultOf.get(check);
    const own = (byCheck.get(check) ?? []).toSorted(byState);
    const weighed = countedFindings(own);
    const verdict = own.length === 0 && result !== undefined ? result : worstVerdict(weighed);
    const begun = beginningOf(weighed, changesByCheck.get(check) ?? []);
    const attestation = verdict.status === "FAIL" ? null : attestationOf(check, own);
    const judged = { ...verdict, attestation: attestation?.status ? { status: attestation.status } : null };
    const state: ShownState = own.length === 0 && result === undefined ? "none" : stateOf(judged);
    const marked = weighed.map((one) => ({ ...one, waived: waiverOf(one) !== null }));
    const ruleHistory = history?.get(check) ?? null;
    return {
      check,
      severity: own[0]?.severity ?? result?.severity ?? findCheck(check)?.severity ?? "medium",
      state,
      isAutomatedPass: state === "manual" && automatedOf(weighed) === "PASS",
      isWaived: isWaived({ ...judged, findings: marked }),
      attestation,
      findings: own,
      deciding: weighed.filter((one) => stateOf(one) === state).length,
      since: toSince(state, ruleHistory, stateOf(verdict) === state ? begun : null),
      history: ruleHistory,
    };
  });
  return rows.toSorted(byWorst);
}

function byState(a: Finding, b: Finding): number {
  return (
    Number(a.advisory) - Number(b.advisory) ||
    ruleStates.indexOf(stateOf(a)) - ruleStates.indexOf(stateOf(b)) ||
    (a.resource_name < b.resource_name ? -1 : 1)
  );
}

function byWorst(a: RuleRow, b: RuleRow): number {
  return (
    shownStates.indexOf(a.state) - shownStates.indexOf(b.state) ||
    Number(a.isWaived) - Number(b.isWaived) ||
    severities.indexOf(a.severity) - severities.indexOf(b.severity) ||
    (vulnIdOf(a.check) < vulnIdOf(b.check) ? -1 : 1)
  );
}

/** The change with which the result began, else the open exposure of the rule, else the days of its history. */
function toSince(state: ShownState, history: RuleHistory | null, begun: Since | null): Since | null {
  if (begun !== null) return begun;
  if (state === "fail") {
    const open = history?.exposures.find(({ closed }) => closed === null);
    if (open === undefined) return null;
    const { known_at: knownAt, not_before: notBefore } = open.opened;
    return { atMs: Date.parse(knownAt), isFirst: notBefore === null, actor: actorName(open.actor), days: null };
  }
  const days = state === "pass" ? passingDays(history) : null;
  return days === null ? null : { atMs: days.fromMs, actor: null, days };
}

/** Takes the changes back, newest first, until the rule had another result; null: it has had this one in all of them. */
function beginningOf(findings: readonly Finding[], changes: readonly Change[]): Since | null {
  const verdicts = new Map<string, Change["to"]>(findings.map((finding) => [finding.fingerprint, finding]));
  const result = () => worstVerdict([...verdicts.values()].filter((one) => one !== null));
  const present = result();
  for (const [seenAt, moved] of Map.groupBy(changes, ({ seen_at }) => seen_at)) {
    for (const { fingerprint, from } of moved) verdicts.set(fingerprint, from);
    if (isSameResult(result(), present)) continue;
    const decisive = moved.find(({ to }) => to?.status === present.status) ?? moved[0];
    const actors = actorNames(decisive?.explained_by.map(({ actor }) => actor) ?? []);
    return { atMs: Date.parse(seenAt), actor: actors.join(", ") || null, days: null };
  }
  return null;
}

/** The unbroken run of days up to today on which the rule was not seen but passing; null: today it is not. */
export function passingDays(history: Pick<RuleHistory, "days"> | null) {
  let [known, unknown, pending] = [0, 0, 0];
  let fromMs = 0;
  for (const { day, status } of history?.days.toReversed() ?? []) {
    if (status === "UNKNOWN") pending += 1;
    else if (status !== "PASS") break;
    else {
      known += 1;
      unknown += pending;
      pending = 0;
      fromMs = Date.parse(day);
    }
  }
  return known === 0 ? null : { fromMs, known, unknown };
}

export type TrendDay = ReturnType<typeof toTrend>[number];

/** How many rules failed on each day of the history; null: nothing was known of any. */
export function toTrend(history: ReadonlyMap<string, RuleHistory> | null) {
  const days = [...(history?.values() ?? [])].flatMap((rule) => rule.days);
  return [...Map.groupBy(days, ({ day }) => day)].map(([day, own]) => ({
    day,
    fail: own.every(({ status }) => status === "UNKNOWN") ? null : own.filter(({ status }) => status === "FAIL").length,
  }));
}

export type RuleCounts = ReturnType<typeof countRules>;

export function countRules(rules: readonly RuleRow[]) {
  const counts = { fail: 0, manual: 0, pass: 0, not_applicable: 0, none: 0 };
  for (const { state } of rules) counts[state] += 1;
  const failing = rules.filter(({ state }) => state === "fail");
  const cat = (severity: Severity) => failing.filter((rule) => rule.severity === severity).length;
  return {
    ...counts,
    waived: failing.filter((rule) => rule.isWaived).length,
    /** Rules that fail. */
    cat: { high: cat("high"), medium: cat("medium"), low: cat("low") },
    /** Without the waived ones. */
    cat1Open: failing.filter(({ severity, isWaived }) => severity === "high" && !isWaived).length,
    automatedPass: rules.filter(({ isAutomatedPass }) => isAutomatedPass).length,
  };
}

export interface RulesFilter {
  /** `waived` is a part of `fail`, and `needs_you` of the organizations. */
  readonly state: ShownState | "waived" | "needs_you" | null;
  readonly text: string;
  /** The check of the rule that is open: it stays where its state is another one. */
  readonly rule: string | null;
}

/** The rules that the filter lets through, each word of the text anywhere in the rule or its findings. */
export function filterRules(rules: readonly RuleRow[], { state, text, rule: open }: RulesFilter): readonly RuleRow[] {
  const isFound = wordsFinder(text);
  const hasState = (rule: RuleRow) =>
    state === null || rule.check === open || (state === "waived" ? rule.isWaived : rule.state === state);
  return rules.filter((rule) => hasState(rule) && isFound(haystackOf(rule)));
}

function haystackOf({ check, severity, findings, since }: RuleRow): string {
  const rule = findCheck(check);
  const ids = [check, vulnIdOf(check), rule?.stig_id, ...(rule?.nist_800_53_r5 ?? [])];
  const ofFindings = findings.flatMap(({ resource_name, resource_id, actual }) => [resource_name, resource_id, actual]);
  return [...ids, checkTitle(check), categoryNames[severity], since?.actor, ...ofFindings].join("\n");
}

/** The rules whose state differs between two moments. A rule that one of them did not evaluate is not a difference. */
export function compareRules(then: readonly RuleRow[], now: readonly RuleRow[]): ReadonlyMap<string, ShownState> {
  const states = new Map(now.map(({ check, state }) => [check, state]));
  return new Map(
    then.flatMap(({ check, state }) => {
      const other = states.get(check) ?? "none";
      return other === state || other === "none" || state === "none" ? [] : [[check, other] as const];
    }),
  );
}
