import { functions, typeOf, type Expression, type FunctionName, type Literal, type Operator } from "./expression.ts";

export const maxExpressionLength = 1900;
/** For brackets and operators inside one another. */
const maxDepth = 20;

/** What is wrong with an expression, and where; one sentence. */
export class ExpressionError extends Error {
  constructor(problem: string) {
    super(problem);
    this.name = "ExpressionError";
  }
}

/** A condition: an expression that is true or false. */
export function parseCondition(text: string): Expression {
  const expression = parseExpression(text);
  requireTruth(expression);
  return expression;
}

/** A path to values: `[*]`, `[?status == 'ACTIVE'].rules[*]`, `@`. */
export function parsePath(text: string): Expression {
  const expression = parseExpression(text);
  if (!isPath(expression))
    throw new ExpressionError(`${quote(text)} is no path: expected one such as [?status == 'ACTIVE']`);
  return expression;
}

function parseExpression(text: string): Expression {
  if (text.length > maxExpressionLength)
    throw new ExpressionError(`it has ${text.length} characters: expected ${maxExpressionLength} at most`);
  const parser = createParser(text, tokenize(text));
  const expression = parser.parseOr(0);
  parser.expectEnd();
  return expression;
}

interface Token {
  readonly kind: "name" | "literal" | "symbol" | "end";
  readonly text: string;
  readonly value: Literal;
  readonly start: number;
  readonly end: number;
}

const tokenPattern =
  /\s*(?:(?<name>[A-Za-z_][A-Za-z0-9_-]*)|"(?<quoted>[^"\\]*)"|'(?<raw>(?:[^'\\]|\\['\\])*)'|`(?<json>[^`]*)`|(?<number>-?\d+(?:\.\d+)?)|(?<symbol>\[\?|\[\*\]|&&|\|\||==|!=|<=|>=|[<>!()[\].,@]))/y;

const words: ReadonlyMap<string, Literal> = new Map<string, Literal>([
  ["true", true],
  ["false", false],
  ["null", null],
]);

function tokenize(text: string): readonly Token[] {
  const tokens: Token[] = [];
  let at = 0;
  while (text.slice(at).trim() !== "") {
    tokenPattern.lastIndex = at;
    const match = tokenPattern.exec(text);
    if (match === null) throw new ExpressionError(`it cannot be read at ${quote(text.slice(at).trim().slice(0, 20))}`);
    const end = tokenPattern.lastIndex;
    const start = end - match[0].trimStart().length;
    tokens.push({ ...tokenOf(match.groups ?? {}), start, end });
    at = end;
  }
  return [...tokens, { kind: "end", text: "", value: null, start: text.length, end: text.length }];
}

function tokenOf(groups: Readonly<Record<string, string | undefined>>): Omit<Token, "start" | "end"> {
  const { name, quoted, raw, json, number, symbol = "" } = groups;
  const literal = (value: Literal) => ({ kind: "literal", text: "", value }) as const;
  if (name !== undefined) {
    const word = words.get(name);
    return word === undefined ? { kind: "name", text: name, value: null } : literal(word);
  }
  if (quoted !== undefined) return { kind: "name", text: quoted, value: null };
  if (raw !== undefined) return literal(raw.replaceAll(/\\(['\\])/g, "$1"));
  if (number !== undefined) return literal(Number(number));
  if (json !== undefined) return literal(parseLiteral(json));
  return { kind: "symbol", text: symbol, value: null };
}

function parseLiteral(json: string): Literal {
  try {
    const value: unknown = JSON.parse(json);
    if (value === null || typeof value === "string" || typeof value === "number" || typeof value === "boolean")
      return value;
  } catch {
    // As for a list or an object.
  }
  throw new ExpressionError(`${quote(json)} is no value: expected a text, a number, true, false or null`);
}

interface Parser {
  parseOr(depth: number): Expression;
  expectEnd(): void;
}

function createParser(text: string, tokens: readonly Token[]): Parser {
  let next = 0;
  const current = () => tokens[next] ?? tokens[tokens.length - 1] ?? failAt(null);
  const source = (start: number) => text.slice(start, tokens[next - 1]?.end ?? start);

  return {
    parseOr,
    expectEnd() {
      if (current().kind !== "end") failAt(current());
    },
  };

  function failAt(token: Token | null): never {
    if (token === null || token.kind === "end") throw new ExpressionError("it ends too early");
    throw new ExpressionError(`it cannot be read at ${quote(text.slice(token.start, token.start + 20))}`);
  }

  function take(symbol: string): boolean {
    const token = current();
    if (token.kind !== "symbol" || token.text !== symbol) return false;
    next += 1;
    return true;
  }

  function expect(symbol: string): void {
    if (!take(symbol)) failAt(current());
  }

  function parseOr(depth: number): Expression {
    if (depth > maxDepth) throw new ExpressionError(`it is nested too deep: expected ${maxDepth} levels at most`);
    return parseSeries({ symbol: "||", kind: "or", operand: () => parseAnd(depth) });
  }

  function parseAnd(depth: number): Expression {
    return parseSeries({ symbol: "&&", kind: "and", operand: () => parseNot(depth) });
  }

  function parseSeries(series: {
    readonly symbol: string;
    readonly kind: "and" | "or";
    readonly operand: () => Expression;
  }): Expression {
    const { start } = current();
    let left = series.operand();
    while (take(series.symbol)) {
      const right = series.operand();
      requireTruth(left);
      requireTruth(right);
      left = { kind: series.kind, left, right, source: source(start) };
    }
    return left;
  }

  function parseNot(depth: number): Expression {
    const { start } = current();
    if (!take("!")) return parseComparison(depth);
    if (depth >= maxDepth) throw new ExpressionError(`it is nested too deep: expected ${maxDepth} levels at most`);
    const of = parseNot(depth + 1);
    requireTruth(of);
    return { kind: "not", of, source: source(start) };
  }

  function parseComparison(depth: number): Expression {
    const { start } = current();
    const left = parsePathOrValue(depth);
    const token = current();
    if (token.kind !== "symbol" || !isOperator(token.text)) return left;
    next += 1;
    const right = parsePathOrValue(depth);
    for (const side of [left, right]) requireSingle(side);
    return { kind: "compare", operator: token.text, left, right, source: source(start) };
  }

  function parsePathOrValue(depth: number): Expression {
    const token = current();
    if (token.kind === "literal") {
      next += 1;
      return { kind: "literal", value: token.value, source: source(token.start) };
    }
    if (take("(")) {
      const inner = parseOr(depth + 1);
      expect(")");
      return inner;
    }
    return parseSteps(token.start, depth);
  }

  function parseSteps(start: number, depth: number): Expression {
    let path = parseFirstStep(start, depth);
    for (;;) {
      if (take(".")) path = { kind: "field", of: path, name: takeName(), source: source(start) };
      else if (take("[*]")) path = { kind: "entries", of: path, where: null, source: source(start) };
      else if (take("[?")) path = parseFilter(path, start, depth);
      else return path;
      if (path.kind !== "field" && !isPath(path)) failAt(current());
    }
  }

  function parseFirstStep(start: number, depth: number): Expression {
    const root: Expression = { kind: "current", source: "@" };
    const token = current();
    if (take("@")) return root;
    if (token.kind === "symbol" && (token.text === "[*]" || token.text === "[?")) return root;
    const name = takeName();
    if (!take("(")) return { kind: "field", of: root, name, source: source(start) };
    return parseCall(name, start, depth);
  }

  function parseFilter(of: Expression, start: number, depth: number): Expression {
    const where = parseOr(depth + 1);
    expect("]");
    requireTruth(where);
    return { kind: "entries", of, where, source: source(start) };
  }

  function parseCall(name: string, start: number, depth: number): Expression {
    if (!isFunction(name)) {
      throw new ExpressionError(`there is no function ${quote(name)}: expected ${Object.keys(functions).join(", ")}`);
    }
    const args = [parseOr(depth + 1)];
    while (take(",")) args.push(parseOr(depth + 1));
    expect(")");
    if (args.length !== functions[name])
      throw new ExpressionError(`${name} has ${args.length} arguments: expected ${functions[name]}`);
    const [of, ...others] = args;
    if (of === undefined || !isPath(of))
      throw new ExpressionError(`${name} is of a path: expected one such as ${name}(name)`);
    for (const other of others) requireSingle(other);
    return { kind: "call", name, args, source: source(start) };
  }

  function takeName(): string {
    const token = current();
    if (token.kind !== "name") failAt(token);
    next += 1;
    return token.text;
  }
}

function isPath({ kind, ...expression }: Expression): boolean {
  if (kind === "current") return true;
  return (kind === "field" || kind === "entries") && "of" in expression && isPath(expression.of);
}

function isOperator(text: string): text is Operator {
  return ["==", "!=", "<", "<=", ">", ">="].includes(text);
}

function isFunction(name: string): name is FunctionName {
  return Object.hasOwn(functions, name);
}

function requireTruth(expression: Expression): void {
  const type = typeOf(expression);
  const isField = type === "value" && expression.kind === "field";
  if (type === "truth" || isField) return;
  throw new ExpressionError(`${quote(expression.source)} is neither true nor false: expected a comparison`);
}

function requireSingle(expression: Expression): void {
  const type = typeOf(expression);
  if (type === "value" || type === "number") return;
  const advice = type === "entries" ? "expected length(…) or contains(…) of it" : "expected a field or a value";
  throw new ExpressionError(`${quote(expression.source)} cannot be compared: ${advice}`);
}

function quote(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 59)}…` : text);
}
