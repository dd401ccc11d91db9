/** Longer than any name that a person gives something, or writes down. */
export const maxPatternLength = 1000;

/**
 * A pattern of `*` (any text, also none) and `?` (one character); `\*`, `\?` and `\\` are themselves. Everything else is
 * literal, brackets and braces too: names such as "[PROD] Sales (EMEA)" are common.
 *
 * Not a regular expression: names come from the provider, and a pattern with many `*` makes a backtracking one run for
 * hours on a name that was made for it.
 */
export type NamePattern = Int32Array;

const anyCharacter = -1;
const anyText = -2;

/** What matching may still cost, shared by everything that is compared for one purpose. */
export interface StepBudget {
  left: number;
}

export function parseNamePattern(text: string): NamePattern {
  return Int32Array.from(text.matchAll(/\\([*?\\])|[^]/gu), ([character, escaped]) => {
    if (character === "*") return anyText;
    return character === "?" ? anyCharacter : codePointOf(escaped ?? character);
  });
}

/** The one text that the pattern covers; null when there are more. */
export function literalOf(pattern: NamePattern): string | null {
  return pattern.some((token) => token < 0)
    ? null
    : Array.from(pattern, (token) => String.fromCodePoint(token)).join("");
}

/** Of a name, so that `?` is one character wherever it stands. */
export function toCodePoints(name: string): Int32Array {
  return Int32Array.from(name, codePointOf);
}

/**
 * True when the pattern covers the whole name. Null when the budget ran out before that was known; it takes as many steps
 * as the product of both lengths at most.
 */
export function matchesName(pattern: NamePattern, name: Int32Array, budget: StepBudget): boolean | null {
  let at = 0;
  let token = 0;
  // Where the newest `*` stands, and how far it reaches. An earlier one never needs to reach further: what stands
  // between the two was already found at the first place possible.
  let star = -1;
  let reach = 0;
  let steps = 0;
  const maxSteps = budget.left;
  while (at < name.length) {
    steps += 1;
    if (steps > maxSteps) {
      budget.left = 0;
      return null;
    }
    const wanted = pattern[token];
    if (wanted === anyText) {
      star = token;
      reach = at;
      token += 1;
    } else if (wanted !== undefined && (wanted === anyCharacter || wanted === name[at])) {
      at += 1;
      token += 1;
    } else if (star >= 0) {
      reach += 1;
      at = reach;
      token = star + 1;
    } else {
      break;
    }
  }
  budget.left -= steps;
  return at === name.length && pattern.subarray(token).every((rest) => rest === anyText);
}

function codePointOf(character: string): number {
  return character.codePointAt(0) ?? 0;
}
