import type { Fact } from "./conditions.ts";
import { cellsOf, evaluateAccess, type AccessModel, type Cell } from "./access_model.ts";
import { isAtLeastAsStrict } from "./assurance.ts";

/** What a change of a policy's rules does to the people whom the policy is for. */
export type AccessChange =
  /** In words, why it must not be made: somebody gets in who was kept out, or with less, or nobody can tell. */
  | { readonly kind: "violation"; readonly why: string }
  /** Nobody gets in who was kept out, or with weaker assurance. */
  | { readonly kind: "safe"; readonly lost: LostAccess | null };

/** The sign-ins that are denied afterwards; null: none are. */
export interface LostAccess {
  /** Facts that are true of each of these sign-ins. */
  readonly within: readonly Fact[];
  /** Facts that are false of each of these sign-ins. */
  readonly outside: readonly Fact[];
  readonly cells: number;
}

/** Compares the outcome of every class of sign-ins. */
export function compareAccess(before: AccessModel, after: AccessModel): AccessChange {
  const problem = before.problem ?? after.problem;
  if (problem !== null) return { kind: "violation", why: problem };
  const cells = cellsOf([before, after]);
  if (cells === null) return { kind: "violation", why: "the policy has too many different conditions to prove it" };
  const lost: Cell[] = [];
  for (const cell of cells) {
    const holds = (fact: Fact) => cell.has(fact);
    const [was, is] = [evaluateAccess(before, holds), evaluateAccess(after, holds)];
    if (is.kind === "denied") {
      if (was.kind === "allowed") lost.push(cell);
      continue;
    }
    const who = describe(cell);
    if (was.kind === "denied")
      return { kind: "violation", why: `rule "${is.rule.name}" would let in ${who}, who is denied now` };
    if (!isAtLeastAsStrict(is.rule.actions, was.rule.actions)) {
      const rules = `rule "${is.rule.name}" would decide instead of rule "${was.rule.name}"`;
      const same = `nothing shows that rule "${is.rule.name}" would demand at least what it demands now`;
      return {
        kind: "violation",
        why: `for ${who} ${is.rule.name === was.rule.name ? same : `${rules}, and nothing shows that it demands as much`}`,
      };
    }
  }
  return { kind: "safe", lost: lost.length === 0 ? null : summarize(lost, cells) };
}

function describe(cell: Cell): string {
  return cell.size === 0 ? "somebody to whom no condition applies" : `somebody with ${[...cell].join(", ")}`;
}

function summarize(lost: readonly Cell[], cells: readonly Cell[]): LostAccess {
  const facts = [...new Set(cells.flatMap((cell) => [...cell]))];
  return {
    within: facts.filter((fact) => lost.every((cell) => cell.has(fact))),
    outside: facts.filter((fact) => lost.every((cell) => !cell.has(fact))),
    cells: lost.length,
  };
}
