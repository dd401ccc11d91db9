import { isJsonObject } from "../../shared/json.ts";
import type { LogEvent } from "./log_events.ts";

export type LogPredicate = (event: LogEvent) => boolean;

/** Attributes that a filter may begin with. `published` is not among them: `since` and `until` bound the time. */
const attributes = new Set([
  "actor",
  "authenticationContext",
  "client",
  "debugContext",
  "device",
  "displayMessage",
  "eventType",
  "legacyEventType",
  "outcome",
  "request",
  "securityContext",
  "severity",
  "target",
  "transaction",
  "uuid",
  "version",
]);

const token = /\s*(?:(?<paren>[()])|"(?<text>(?:[^"\\]|\\.)*)"|(?<word>[\w.$-]+))/y;

interface Token {
  readonly kind: "paren" | "text" | "word";
  readonly value: string;
}

/** Parentheses within parentheses. */
const maxDepth = 50;

/** A SCIM filter as the System Log takes it. Throws a `RangeError` for anything else. */
export function parseLogFilter(source: string): LogPredicate {
  const tokens = tokensOf(source);
  let position = 0;
  let depth = 0;
  const peekWord = () => (tokens[position]?.kind === "word" ? tokens[position]?.value.toLowerCase() : undefined);
  const take = (kind: Token["kind"]): string => {
    const found = tokens[position];
    if (found?.kind !== kind) throw new RangeError(`Invalid filter '${source}'.`);
    position += 1;
    return found.value;
  };
  const takeParen = (wanted: string) => {
    if (take("paren") !== wanted) throw new RangeError(`Invalid filter '${source}'.`);
  };

  function parseOr(): LogPredicate {
    const parts = [parseAnd()];
    while (peekWord() === "or") {
      position += 1;
      parts.push(parseAnd());
    }
    return (event) => parts.some((matches) => matches(event));
  }

  function parseAnd(): LogPredicate {
    const parts = [parseOne()];
    while (peekWord() === "and") {
      position += 1;
      parts.push(parseOne());
    }
    return (event) => parts.every((matches) => matches(event));
  }

  function parseOne(): LogPredicate {
    const isNegated = peekWord() === "not";
    if (isNegated) position += 1;
    if (isNegated || tokens[position]?.kind === "paren") {
      takeParen("(");
      depth += 1;
      if (depth > maxDepth) throw new RangeError(`Invalid filter '${source.slice(0, 40)}'.`);
      const inner = parseOr();
      depth -= 1;
      takeParen(")");
      return isNegated ? (event) => !inner(event) : inner;
    }
    return parseComparison();
  }

  function parseComparison(): LogPredicate {
    const path = take("word").split(".");
    const operator = take("word").toLowerCase();
    if (!attributes.has(path[0] ?? "")) throw new RangeError(`Invalid filter '${source}'.`);
    if (operator === "pr") return (event) => valuesAt(event, path).length > 0;
    const compare = comparisons[operator];
    if (compare === undefined) throw new RangeError(`Invalid filter '${source}'.`);
    const wanted = tokens[position]?.kind === "word" ? take("word") : take("text");
    if (operator === "ne") return (event) => !valuesAt(event, path).includes(wanted);
    return (event) => valuesAt(event, path).some((value) => compare(value, wanted));
  }

  const predicate = parseOr();
  if (position < tokens.length) throw new RangeError(`Invalid filter '${source}'.`);
  return predicate;
}

const comparisons: Readonly<Record<string, (value: string, wanted: string) => boolean>> = {
  eq: (value, wanted) => value === wanted,
  ne: (value, wanted) => value !== wanted,
  co: (value, wanted) => value.includes(wanted),
  sw: (value, wanted) => value.startsWith(wanted),
  ew: (value, wanted) => value.endsWith(wanted),
};

function tokensOf(source: string): readonly Token[] {
  const tokens: Token[] = [];
  const text = source.trimEnd();
  token.lastIndex = 0;
  while (token.lastIndex < text.length) {
    const start = token.lastIndex;
    const groups = token.exec(text)?.groups;
    if (groups === undefined) throw new RangeError(`Invalid filter '${source.slice(start, start + 40)}'.`);
    const { paren, text: quoted, word } = groups;
    if (paren !== undefined) tokens.push({ kind: "paren", value: paren });
    else if (quoted !== undefined) tokens.push({ kind: "text", value: quoted.replaceAll(/\\(.)/g, "$1") });
    else if (word !== undefined) tokens.push({ kind: "word", value: word });
  }
  return tokens;
}

/** Every value at a path; a list on the way stands for each of its entries. */
function valuesAt(value: unknown, path: readonly string[]): readonly string[] {
  if (Array.isArray(value)) return value.flatMap((item) => valuesAt(item, path));
  const [name, ...rest] = path;
  if (name === undefined) {
    return ["string", "number", "boolean"].includes(typeof value) ? [String(value)] : [];
  }
  return isJsonObject(value) ? valuesAt(value[name], rest) : [];
}
