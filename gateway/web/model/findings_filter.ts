import type { Severity, StatusCounts } from "../../../shared/report.ts";
import { countStates, ruleStates, stateOf, type RuleState } from "../../../shared/rule_result.ts";
import { categoryNames } from "../../../shared/severity.ts";
import { findCheck } from "./check_catalog.ts";
import type { Finding } from "./scan_model.ts";

export type FindingOrder = "worst" | "newest" | "resource";

/** An empty set lets everything through. */
export interface FindingsFilter {
  readonly states: ReadonlySet<RuleState>;
  readonly severities: ReadonlySet<Severity>;
  readonly check: string | null;
  /** A control of NIST SP 800-53, with its enhancements and parts. */
  readonly control: string | null;
  readonly text: string;
  readonly order: FindingOrder;
}

export interface FilteredFindings {
  readonly shown: readonly Finding[];
  /** What each choice would show, given the other choices. */
  readonly stateCounts: StatusCounts;
  readonly severityCounts: Readonly<Record<Severity, number>>;
}

export const noFilter: FindingsFilter = {
  states: new Set(),
  severities: new Set(),
  check: null,
  control: null,
  text: "",
  order: "worst",
};

const severityRank: Readonly<Record<Severity, number>> = { high: 0, medium: 1, low: 2 };

/** One pass over all findings: called for each frame in which some arrived, also with 10,000 of them. */
export function filterFindings(findings: Iterable<Finding>, filter: FindingsFilter): FilteredFindings {
  const words = filter.text
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "");
  const stateCounts = { ...countStates([]) };
  const severityCounts = { high: 0, medium: 0, low: 0 };
  const shown: Finding[] = [];
  for (const finding of findings) {
    if (filter.check !== null && finding.check !== filter.check) continue;
    if (filter.control !== null && !controlsOf(finding.check).includes(filter.control)) continue;
    if (words.length > 0 && !words.every((word) => haystackOf(finding).includes(word))) continue;
    const state = stateOf(finding);
    const isStateShown = filter.states.size === 0 || filter.states.has(state);
    const isSeverityShown = filter.severities.size === 0 || filter.severities.has(finding.severity);
    if (isSeverityShown) stateCounts[state] += 1;
    if (isStateShown) severityCounts[finding.severity] += 1;
    if (isStateShown && isSeverityShown) shown.push(finding);
  }
  return { shown: shown.sort(comparers[filter.order]), stateCounts, severityCounts };
}

/** `AC-11 a` and `IA-2 (1)` count for `AC-11` and `IA-2`. */
export function controlsOf(check: string): readonly string[] {
  const controls = findCheck(check)?.controls ?? [];
  return [...new Set(controls.map((control) => control.split(" ")[0] ?? control))];
}

/** True: the filter lets not everything through. */
export function isFiltering({ check, control, text, states, severities }: FindingsFilter): boolean {
  return check !== null || control !== null || text !== "" || states.size + severities.size > 0;
}

/** Findings are never changed, so what the text filter looks into is made once for each. */
const haystacks = new WeakMap<Finding, string>();

function haystackOf(finding: Finding): string {
  const known = haystacks.get(finding);
  if (known !== undefined) return known;
  const { resource_name, resource_id, check, detail, expected, actual, severity, fingerprint } = finding;
  const rule = findCheck(check);
  const ruleWords = rule === null ? [] : [rule.title, rule.stigId, rule.vulnId, ...rule.controls];
  const words = [resource_name, resource_id, check, check.replaceAll("_", " "), detail, expected, actual, fingerprint];
  const haystack = [...words, ...ruleWords, categoryNames[severity]].join("\n").toLowerCase();
  haystacks.set(finding, haystack);
  return haystack;
}

const collator = new Intl.Collator(undefined, { numeric: true });

const comparers: Readonly<Record<FindingOrder, (a: Finding, b: Finding) => number>> = {
  worst: (a, b) =>
    ruleStates.indexOf(stateOf(a)) - ruleStates.indexOf(stateOf(b)) ||
    severityRank[a.severity] - severityRank[b.severity] ||
    a.order - b.order,
  newest: (a, b) => b.order - a.order,
  resource: (a, b) => collator.compare(a.resource_name, b.resource_name) || a.order - b.order,
};
