/** Longer than any name that a person gives something, or writes down. */
export const maxPatternLength = 1000;

type Resource = Readonly<Record<"id" | "name", string>>;

export interface ResourceDecision {
  readonly check: string;
  /** The resource's exact id or name, or a pattern of its name; null: every finding of the check. */
  readonly resource: string | null;
}

/** Patterns come from pull requests, and names from the provider: a second of work, and more than a thousand patterns on 10,000 names need. */
const maxSteps = 5e9;

export function createDecisionFinder<Entry extends ResourceDecision>(entries: readonly Entry[]) {
  let stepsLeft = maxSteps;
  const ofChecks = new Map([...Map.groupBy(entries, ({ check }) => check)].map(([check, own]) => [check, index(own)]));
  return {
    /** The decision about a resource of a check: of the ones that match, the first. */
    find: (check: string, resource: Resource) => ofChecks.get(check)?.(resource),
    /** True after patterns took more steps than they may: from then on only exact ids and names match. */
    isExhausted: () => stepsLeft < 0,
  };

  function index(own: readonly Entry[]): (resource: Resource) => Entry | undefined {
    const exact = new Map<string | null, number>();
    const patterns: { readonly place: number; readonly length: number; readonly steps: readonly RegExp[] }[] = [];
    for (const [place, { resource }] of own.entries()) {
      const { texts, steps } = parseResource(resource);
      for (const text of texts) if (!exact.has(text)) exact.set(text, place);
      if (resource !== null && steps !== null) patterns.push({ place, length: resource.length, steps });
    }
    return ({ id, name }) => {
      const first = Math.min(...[null, id, name].map((text) => exact.get(text) ?? own.length));
      const earlier = patterns.find(({ place, length, steps }) => {
        if (place > first || stepsLeft < 0) return true;
        stepsLeft -= length * name.length;
        return matchesAll(steps, name);
      });
      return own[stepsLeft < 0 ? first : Math.min(first, earlier?.place ?? first)];
    };
  }
}

/**
 * The texts that are meant exactly (null: every resource), and the parts of a pattern. In it `*` is any text, also none, and `?` is one
 * character; `\*`, `\?` and `\\` are themselves. Everything else is literal, brackets and braces too: names such as
 * "[PROD] Sales (EMEA)" are common.
 */
function parseResource(resource: string | null) {
  if (resource === null) return { texts: [null], steps: null };
  const source = resource.replaceAll(/\\[*?\\]|[^]/gu, (token) => {
    if (token === "*" || token === "?") return token === "*" ? token : ".";
    const character = /^\\./.test(token) ? token.slice(1) : token;
    return `\\u{${character.codePointAt(0)?.toString(16)}}`;
  });
  if (!/[*.]/.test(source)) return { texts: [resource, resource.replaceAll(/\\([*?\\])/g, "$1")], steps: null };
  // Parts between the `*` have no quantifier, and each is looked for once: names come from the provider, and none makes it backtrack.
  const parts = source.split("*");
  const steps = parts.map((part, index) => {
    return new RegExp(`${index === 0 ? "^" : ""}${part}${index === parts.length - 1 ? "$" : ""}`, "su");
  });
  return { texts: [resource], steps };
}

function matchesAll(steps: readonly RegExp[], name: string): boolean {
  let rest = name;
  return steps.every((step) => {
    const found = step.exec(rest);
    if (found !== null) rest = rest.slice(found.index + found[0].length);
    return found !== null;
  });
}
