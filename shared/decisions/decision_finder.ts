/** Longer than any name that a person gives something, or writes down. */
export const maxPatternLength = 1000;

/** A decision about findings of one check. */
export interface ResourceDecision {
  readonly check: string;
  /** The resource's exact id or name, or a pattern of its name; null: every finding of the check. */
  readonly resource: string | null;
}

interface Resource {
  readonly id: string;
  readonly name: string;
}

/** Finds the decision about a resource of a check: of the ones that match, the first. */
export function createDecisionFinder<Entry extends ResourceDecision>(entries: readonly Entry[]) {
  const ofChecks = Map.groupBy(
    entries.map((entry) => ({ entry, isAbout: createMatcher(entry.resource) })),
    ({ entry }) => entry.check,
  );
  return (check: string, resource: Resource): Entry | undefined =>
    ofChecks.get(check)?.find(({ isAbout }) => isAbout(resource))?.entry;
}

/**
 * In a pattern `*` is any text, also none, and `?` is one character; `\*`, `\?` and `\\` are themselves. Everything else is
 * literal, brackets and braces too: names such as "[PROD] Sales (EMEA)" are common.
 */
function createMatcher(resource: string | null): (resource: Resource) => boolean {
  if (resource === null) return () => true;
  // Parts between the `*` have no quantifier, and each is looked for once: names come from the provider, and none makes it backtrack.
  const parts = [""];
  let literal: string | null = "";
  for (const [token] of resource.matchAll(/\\[*?\\]|[^]/gu)) {
    const character = /^\\[*?\\]/.test(token) ? token.slice(1) : token;
    const isPattern = token === "*" || token === "?";
    literal = isPattern || literal === null ? null : literal + character;
    if (token === "*") parts.push("");
    else parts.push(`${parts.pop()}${token === "?" ? "." : `\\u{${character.codePointAt(0)?.toString(16)}}`}`);
  }
  if (literal !== null) return ({ id, name }) => [id, name].some((text) => text === resource || text === literal);
  const steps = parts.map((part, index) => {
    return new RegExp(`${index === 0 ? "^" : ""}${part}${index === parts.length - 1 ? "$" : ""}`, "su");
  });
  return ({ id, name }) => id === resource || name === resource || matchesAll(steps, name);
}

function matchesAll(steps: readonly RegExp[], name: string): boolean {
  let rest = name;
  return steps.every((step) => {
    const found = step.exec(rest);
    if (found !== null) rest = rest.slice(found.index + found[0].length);
    return found !== null;
  });
}
