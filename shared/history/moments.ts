import type { Explanation, NewChange } from "../schemas/change.ts";
import type { HistoryActor } from "../schemas/history.ts";
import { rankOf, toRuleResult, type Results, type RuleResult } from "./observation.ts";

/** The part of a change that the history needs. */
export type MovedFinding = Pick<NewChange, "check" | "to" | "seen_at" | "cause" | "rule"> & {
  readonly explained_by: readonly Pick<Explanation, "actor">[];
};

/** The moments at which findings of a monitor moved, in order, with the results of their rules. */
export function momentsOf(lines: readonly MovedFinding[]): readonly { readonly at: number; readonly moved: Results }[] {
  const moments = [...Map.groupBy(lines, ({ seen_at: seenAt }) => Date.parse(seenAt))];
  return moments
    .sort(([one], [other]) => one - other)
    .map(([at, moved]) => {
      const rules = [...Map.groupBy(moved, ({ check }) => check)];
      return { at, moved: Object.fromEntries(rules.map(([check, own]) => [check, resultOf(own)])) };
    });
}

/** The worse of two lines about one rule at one moment, so that their order does not matter. */
function resultOf(lines: readonly MovedFinding[]): RuleResult {
  const stated = lines.map(({ rule, cause }) => toRuleResult(rule, { severity: rule.severity, cause }));
  const worst = stated.reduce((one, other) => (rankOf(other) > rankOf(one) ? other : one));
  const decisive = lines.filter(({ to }) => to?.status === worst.status);
  const explaining = decisive.length > 0 ? decisive : lines;
  const actor = actorOf(explaining.flatMap((line) => line.explained_by));
  return { ...worst, cause: explaining[0]?.cause ?? worst.cause, ...(actor !== null && { actor }) };
}

function actorOf(events: readonly Pick<Explanation, "actor">[]): HistoryActor | null {
  for (const { actor } of events) {
    if (actor === null) continue;
    const { id, login, name } = actor;
    if (id !== null || login !== null || name !== null) return { id, login, name };
  }
  return null;
}
