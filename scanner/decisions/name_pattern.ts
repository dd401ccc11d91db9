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
const asterisk = 0x2a;
const questionMark = 0x3f;
const backslash = 0x5c;

/** What matching may still cost, shared by everything that is compared for one purpose. */
export interface StepBudget {
  left: number;
}

export function parseNamePattern(text: string): NamePattern {
  const characters = toCodePoints(text);
  const tokens = new Int32Array(characters.length);
  let length = 0;
  for (let at = 0; at < characters.length; at += 1) {
    let token = characters[at] ?? 0;
    const next = characters[at + 1];
    if (token === backslash && (next === asterisk || next === questionMark || next === backslash)) {
      token = next;
      at += 1;
    } else if (token === asterisk) token = anyText;
    else if (token === questionMark) token = anyCharacter;
    tokens[length] = token;
    length += 1;
  }
  return tokens.slice(0, length);
}

/** The one text that the pattern covers; null when there are more. */
export function literalOf(pattern: NamePattern): string | null {
  return pattern.some((token) => token < 0)
    ? null
    : Array.from(pattern, (token) => String.fromCodePoint(token)).join("");
}

/** Of a name, so that `?` is one character wherever it stands. */
export function toCodePoints(name: string): Int32Array {
  const points = new Int32Array(name.length);
  let length = 0;
  for (let at = 0; at < name.length; length += 1) {
    const point = name.codePointAt(at) ?? 0;
    points[length] = point;
    at += point > 0xffff ? 2 : 1;
  }
  return points.slice(0, length);
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
