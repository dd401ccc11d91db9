/** The language of company rules: a part of JMESPath (https://jmespath.org), described in docs/company_rules.md. */

export type Expression = { readonly source: string } & (
  | { readonly kind: "literal"; readonly value: Literal }
  /** `@`: what the expression is about; inside a filter the entry of the list. */
  | { readonly kind: "current" }
  | { readonly kind: "field"; readonly of: Expression; readonly name: string }
  /** `[*]`, or `[?condition]`: the entries of a list, of which `.field` gives every field. */
  | { readonly kind: "entries"; readonly of: Expression; readonly where: Expression | null }
  | { readonly kind: "compare"; readonly operator: Operator; readonly left: Expression; readonly right: Expression }
  | { readonly kind: "and" | "or"; readonly left: Expression; readonly right: Expression }
  | { readonly kind: "not"; readonly of: Expression }
  | { readonly kind: "call"; readonly name: FunctionName; readonly args: readonly Expression[] }
);

export type Literal = string | number | boolean | null;
export type Operator = "==" | "!=" | "<" | "<=" | ">" | ">=";

/** The number of arguments of each function. */
export const functions = { length: 1, contains: 2, starts_with: 2, ends_with: 2 } as const;
export type FunctionName = keyof typeof functions;

/** What may stand where: `entries` are several values, `truth` is what a comparison gives. */
export type ExpressionType = "value" | "entries" | "number" | "truth";

export function typeOf(expression: Expression): ExpressionType {
  const { kind } = expression;
  if (kind === "field") return typeOf(expression.of);
  if (kind === "entries") return "entries";
  if (kind === "call") return expression.name === "length" ? "number" : "truth";
  return kind === "literal" || kind === "current" ? "value" : "truth";
}
