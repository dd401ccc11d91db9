/** Longer than any name that a person gives something, or writes down. */
export const maxPatternLength = 1000;

/**
 * A pattern of `*` (any text, also none) and `?` (one character); `\*`, `\?` and `\\` are themselves. Everything else is
 * literal, brackets and braces too: names such as "[PROD] Sales (EMEA)" are common. Its code points, or one of the two below.
 *
 * Not a regular expression: names come from the provider, and a pattern with many `*` makes a backtracking one run for
 * hours on a name that was made for it.
 */
export type NamePattern = Int32Array;

/** A name by its code points, so that `?` is one character wherever it stands. */
export type NamePoints = Int32Array;

const anyCharacter = -1;
const anyText = -2;
const star = 0x2a;
const questionMark = 0x3f;

/** The steps that matching may still take, shared by all names and patterns of one run. */
export interface StepBudget {
  left: number;
}

export function parseNamePattern(text: string): NamePattern {
  const pattern = new Int32Array(text.length);
  let length = 0;
  for (let at = 0; at < text.length; length += 1) {
    const isEscape = text[at] === "\\" && at + 1 < text.length && "*?\\".includes(text[at + 1] ?? "");
    if (isEscape) at += 1;
    const point = text.codePointAt(at) ?? 0;
    at += widthOf(point);
    const isLiteral = isEscape || (point !== star && point !== questionMark);
    pattern[length] = isLiteral ? point : point === star ? anyText : anyCharacter;
  }
  return pattern.slice(0, length);
}

export function toNamePoints(name: string): NamePoints {
  const points = new Int32Array(name.length);
  let length = 0;
  for (let at = 0; at < name.length; length += 1) {
    const point = name.codePointAt(at) ?? 0;
    at += widthOf(point);
    points[length] = point;
  }
  return points.subarray(0, length);
}

/** The one text that the pattern matches; null when there are more. */
export function literalOf(pattern: NamePattern): string | null {
  return pattern.some((token) => token < 0)
    ? null
    : Array.from(pattern, (point) => String.fromCodePoint(point)).join("");
}

/** True when the pattern matches the whole name; null when the budget ran out. Takes at most as many steps as the product of both lengths. */
export function matchesName(pattern: NamePattern, name: NamePoints, budget: StepBudget): boolean | null {
  let at = 0;
  let token = 0;
  // The newest `*` and where its text ends. An earlier one never needs more: what follows it was already found at the
  // first place possible.
  let textAt = -1;
  let textEnd = 0;
  let { left } = budget;
  let isOver = false;
  while (!isOver && left > 0 && (at < name.length || pattern[token] === anyText)) {
    left -= 1;
    const wanted = pattern[token];
    if (wanted === anyText) {
      textAt = token;
      textEnd = at;
      token += 1;
      continue;
    }
    if (wanted === anyCharacter || wanted === name[at]) {
      at += 1;
      token += 1;
    } else if (textAt >= 0) {
      textEnd += 1;
      at = textEnd;
      token = textAt + 1;
    } else {
      isOver = true;
    }
  }
  budget.left = left;
  if (isOver) return false;
  return at < name.length || pattern[token] === anyText ? null : token === pattern.length;
}

/** Two for a character beyond the basic plane. */
function widthOf(point: number): number {
  return point > 0xffff ? 2 : 1;
}
