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
const star = 0x2a;
const questionMark = 0x3f;

/** The steps that matching may still take, shared by all names and patterns of one run. */
export interface StepBudget {
  left: number;
}

export function parseNamePattern(text: string): NamePattern {
  const pattern: number[] = [];
  for (let at = 0; at < text.length;) {
    const isEscape = text[at] === "\\" && at + 1 < text.length && "*?\\".includes(text[at + 1] ?? "");
    if (isEscape) at += 1;
    const point = text.codePointAt(at) ?? 0;
    at += widthOf(point);
    const isLiteral = isEscape || (point !== star && point !== questionMark);
    pattern.push(isLiteral ? point : point === star ? anyText : anyCharacter);
  }
  return pattern;
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
    const found = name.codePointAt(at) ?? 0;
    if (wanted === anyCharacter || wanted === found) {
      at += widthOf(found);
      token += 1;
    } else if (textAt >= 0) {
      textEnd += widthOf(name.codePointAt(textEnd) ?? 0);
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

/** Two for a character beyond the basic plane, so that `?` is one character wherever it stands. */
function widthOf(point: number): number {
  return point > 0xffff ? 2 : 1;
}
