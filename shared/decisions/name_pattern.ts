/** Longer than any name that a person gives something, or writes down. */
export const maxPatternLength = 1000;

/**
 * A pattern of `*` (any text, also none) and `?` (one character); `\*`, `\?` and `\\` are themselves. Everything else is
 * literal, brackets and braces too: names such as "[PROD] Sales (EMEA)" are common. Its code points, or one of the two below.
 *
 * Not a regular expression: names come from the provider, and a pattern with many `*` makes a backtracking one run for
 * hours on a name that was made for it.
 */
export type NamePattern = readonly number[];

const anyCharacter = -1;
const anyText = -2;

/** The steps that matching may still take, shared by all names and patterns of one run. */
export interface StepBudget {
  left: number;
}

export function parseNamePattern(text: string): NamePattern {
  return Array.from(text.matchAll(/\\([*?\\])|[^]/gu), ([token, escaped]) => {
    if (escaped === undefined && token === "*") return anyText;
    if (escaped === undefined && token === "?") return anyCharacter;
    return (escaped ?? token).codePointAt(0) ?? 0;
  });
}

/** The one text that the pattern matches; null when there are more. */
export function literalOf(pattern: NamePattern): string | null {
  return pattern.some((token) => token < 0) ? null : pattern.map((point) => String.fromCodePoint(point)).join("");
}

/** Whether the pattern matches the whole name; null when the budget ran out. Takes at most as many steps as the product of both lengths. */
export function matchesName(pattern: NamePattern, name: string, budget: StepBudget): boolean | null {
  let at = 0;
  let token = 0;
  // The newest `*` and where its text ends. An earlier one never needs more: what follows it was already found at the
  // first place possible.
  let star = -1;
  let starEnd = 0;
  while (at < name.length || pattern[token] === anyText) {
    if (budget.left === 0) return null;
    budget.left -= 1;
    const wanted = pattern[token];
    if (wanted === anyText) {
      star = token;
      starEnd = at;
      token += 1;
    } else if (wanted === anyCharacter || wanted === name.codePointAt(at)) {
      at += widthAt(name, at);
      token += 1;
    } else if (star >= 0) {
      starEnd += widthAt(name, starEnd);
      at = starEnd;
      token = star + 1;
    } else {
      return false;
    }
  }
  return token === pattern.length;
}

/** Two for a character beyond the basic plane, so that `?` is one character wherever it stands. */
function widthAt(name: string, at: number): number {
  return (name.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
}
