import {
  literalOf,
  matchesName,
  parseNamePattern,
  toNamePoints,
  type NamePattern,
  type StepBudget,
} from "./name_pattern.ts";

/** A decision about findings of one check. */
export interface ResourceDecision {
  readonly check: string;
  /** The resource's exact id or name, or a pattern of its name; null: every finding of the check. */
  readonly resource: string | null;
}

/** The decisions about one check; of the ones that match a finding the first of the file counts. */
export interface ResourceIndex<Entry> {
  readonly entries: readonly Entry[];
  /** The first decision about the whole check; Infinity without one. */
  readonly wholeCheck: number;
  /** The first decision by id, and by name where that is no pattern or has escapes only. */
  readonly exact: ReadonlyMap<string, number>;
  readonly patterns: readonly { readonly index: number; readonly pattern: NamePattern }[];
}

/** Well below a second, also on a slow machine that is busy, no matter what the file and the provider's names hold. */
const maxSteps = 20_000_000;

export function createBudget(): StepBudget {
  return { left: maxSteps };
}

export function createResourceIndex<Entry extends ResourceDecision>(entries: readonly Entry[]): ResourceIndex<Entry> {
  const exact = new Map<string, number>();
  const patterns: { readonly index: number; readonly pattern: NamePattern }[] = [];
  let wholeCheck = Infinity;
  for (const [index, { resource }] of entries.entries()) {
    if (resource === null) {
      wholeCheck = Math.min(wholeCheck, index);
      continue;
    }
    const pattern = parseNamePattern(resource);
    const literal = literalOf(pattern);
    if (literal === null) patterns.push({ index, pattern });
    for (const text of [resource, literal ?? resource]) if (!exact.has(text)) exact.set(text, index);
  }
  return { entries, wholeCheck, exact, patterns };
}

/** Undefined when none matches, or when the budget ran out before that was known: nothing is decided by a guess. */
export function findDecision<Entry>(
  { id, name }: { readonly id: string; readonly name: string },
  { entries, wholeCheck, exact, patterns }: ResourceIndex<Entry>,
  budget: StepBudget,
): Entry | undefined {
  const first = Math.min(wholeCheck, exact.get(id) ?? Infinity, exact.get(name) ?? Infinity);
  const points = toNamePoints(name);
  for (const { index, pattern } of patterns) {
    if (index > first) break;
    const isMatch = matchesName(pattern, points, budget);
    if (isMatch === true) return entries[index];
    if (isMatch === null) break;
  }
  return entries[first];
}
