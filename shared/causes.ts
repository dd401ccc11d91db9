import { countOf } from "./outcome_text.ts";
import type { CheckResult, Finding } from "./report.ts";

/** The changes that close failing findings: one order, one numbering and one wording for every screen, page and file. */

/** A finding that fails and decides the result of its rule. A waived one is closed already: it counts nowhere. */
export type Failure = Pick<CheckResult, "check" | "vuln_id" | "severity"> & Pick<Finding, "waived" | "cause">;

/** Checks that several changes close, and only all of them: their numbers, in order. */
interface Together {
  readonly checks: readonly string[];
  readonly changes: readonly number[];
}

type RankedCauses = ReturnType<typeof rankCauses<Failure>>;

interface Rule {
  readonly check: string;
  readonly isCatI: boolean;
  readonly causes: ReadonlySet<string>;
}

/**
 * Ranks changes by the rules of CAT I that they close, alone or with others, and then by all rules that they close. Checks are in
 * the order of their V-numbers.
 */
export function rankCauses<Item extends Failure>(failures: readonly Item[]) {
  const open = failures
    .filter(({ waived }) => !waived)
    .toSorted((one, other) => (one.vuln_id < other.vuln_id ? -1 : Number(one.vuln_id > other.vuln_id)));
  const byRule = [...Map.groupBy(open, ({ check }) => check)];
  const closable = byRule.flatMap(([check, own]): readonly Rule[] => {
    const causes = own.flatMap(({ cause }) => cause ?? []);
    const isCatI = own.some(({ severity }) => severity === "high");
    return causes.length < own.length ? [] : [{ check, isCatI, causes: new Set(causes) }];
  });
  const byCause = Map.groupBy(
    closable.flatMap((rule) => [...rule.causes].map((cause) => ({ rule, cause }))),
    ({ cause }) => cause,
  );
  const ranked = [...Map.groupBy(open, ({ cause }) => cause)]
    .flatMap(([id, findings]) => {
      if (id === null) return [];
      const rules = (byCause.get(id) ?? []).map(({ rule }) => rule);
      const alone = rules.filter(({ causes }) => causes.size === 1);
      const shared = rules.filter(({ causes }) => causes.size > 1);
      const isCatI = (rule: Rule) => rule.isCatI;
      const rank = [alone.filter(isCatI), shared.filter(isCatI), alone, shared].map(({ length }) => length);
      return [{ id, findings, alone, shared, rank }];
    })
    .toSorted((one, other) => compareRanks(one.rank, other.rank) || (one.id < other.id ? -1 : 1));
  const numbers = new Map(ranked.map(({ id }, index) => [id, index + 1]));
  const groups = groupByChanges(closable, numbers);
  return {
    causes: ranked.map(({ id, findings, alone, shared }, index) => ({
      id,
      /** Its place in the list, from 1. */
      number: index + 1,
      findings,
      /** The checks that it closes findings of. */
      checks: [...new Set(findings.map(({ check }) => check))],
      /** The checks of which no failing finding is left after this change alone. */
      closes: alone.map(({ check }) => check),
      together: [...new Set(shared.flatMap((rule) => groups.get(rule) ?? []))],
    })),
    /** The number of failing rules without those whose failing findings are all waived. */
    failing: byRule.length,
    /** The number of `failing` that all changes together close. */
    closable: closable.length,
    /** The number of failing findings that are waived: their rules still fail when all others are closed. */
    waived: failures.length - open.length,
  };
}

function compareRanks(one: readonly number[], other: readonly number[]): number {
  const index = one.findIndex((count, at) => count !== other[at]);
  return index === -1 ? 0 : (other[index] ?? 0) - (one[index] ?? 0);
}

/** Rules of the same changes share one group: a rule may need a thousand changes. */
function groupByChanges(rules: readonly Rule[], numbers: ReadonlyMap<string, number>): ReadonlyMap<Rule, Together> {
  const withChanges = rules.map((rule) => {
    const changes = [...rule.causes].map((cause) => numbers.get(cause) ?? 0).toSorted((one, other) => one - other);
    return { rule, changes };
  });
  return new Map(
    [...Map.groupBy(withChanges, ({ changes }) => changes.join(" ")).values()].flatMap((group) => {
      const together = { checks: group.map(({ rule }) => rule.check), changes: group[0]?.changes ?? [] };
      return group.map(({ rule }) => [rule, together] as const);
    }),
  );
}

/** `8 changes close 14 of the 16 rules that fail; for the others, see their fixes`; empty without a change. */
export function causesHeadline({ causes, failing, closable, waived }: RankedCauses): string {
  if (causes.length === 0) return "";
  const changes = causes.length === 1 ? "1 change closes" : `${causes.length} changes close`;
  const fail = `${failing === 1 ? "fails" : "fail"}${waived === 0 ? "" : " without a waiver"}`;
  if (closable === 0) return `${changes} findings, but no rule (of ${failing} that ${fail})`;
  if (closable === failing)
    return `${changes} ${closable === 1 ? "the one rule" : `all ${closable} rules`} that ${fail}`;
  const others = failing - closable === 1 ? "for the other, see its fix" : "for the others, see their fixes";
  return `${changes} ${closable} of the ${failing} rules that ${fail}; ${others}`;
}

/** More changes than this are counted. */
const maxNumbers = 5;

/** `closes 1 rule now, 6 more together with change 3`. */
export function closesText({ number, findings, closes, together }: RankedCauses["causes"][number]): string {
  const parts = together.map(({ checks, changes }, index) => {
    const others = changes.filter((other) => other !== number);
    const more = index === 0 && closes.length === 0 ? countOf(checks.length, "rule") : `${checks.length} more`;
    return `${more} together with ${others.length > maxNumbers ? `${others.length} other changes` : numbersText(others, "change")}`;
  });
  if (closes.length === 0 && parts.length === 0) return `closes ${countOf(findings.length, "finding")}, but no rule`;
  return `closes ${[...(closes.length === 0 ? [] : [`${countOf(closes.length, "rule")} now`]), ...parts].join(", ")}`;
}

/** `change 3`, `changes 3, 4 and 7`. */
export function numbersText(numbers: readonly number[], noun: string): string {
  const [last = 0, ...others] = numbers.toReversed();
  return others.length === 0 ? `${noun} ${last}` : `${noun}s ${others.toReversed().join(", ")} and ${last}`;
}

/** `In rule "A": set b` and `In rule "A": set c` as `In rule "A": set b; set c`. */
export function joinChanges(changes: readonly string[]): string {
  const placeOf = (change: string) => change.slice(0, change.lastIndexOf(": ") + 2);
  return [...Map.groupBy(new Set(changes), placeOf)]
    .map(([place, own]) => `${place}${own.map((change) => change.slice(place.length)).join("; ")}`)
    .join("; ");
}
