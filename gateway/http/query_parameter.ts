import type { Context } from "hono";
import { AppError } from "../../shared/app_error.ts";
import { isStorable } from "../../shared/schemas/primitives.ts";

export interface QueryParameter<Value> {
  /** What is accepted, for the refusal. */
  readonly expected: string;
  /** Undefined: it is not valid. */
  readonly parse: (text: string) => Value | undefined;
}

/** The value of a query's parameter; null: it has none. Throws `AppError("malformed")` for one that is not valid, and for several. */
export function queryParameter<Value>(
  c: Context,
  name: string,
  { expected, parse }: QueryParameter<Value>,
): Value | null {
  const [text, ...others] = c.req.queries(name) ?? [];
  if (text === undefined) return null;
  const value = others.length === 0 ? parse(text) : undefined;
  if (value !== undefined) return value;
  throw new AppError("malformed", `The query's ${name} is not valid: expected ${expected}`);
}

/** As `queryParameter`, for what a column is compared with. */
export function textParameter(c: Context, name: string, maxLength: number): string | null {
  return queryParameter(c, name, {
    expected: `one text of 1 to ${maxLength} characters`,
    parse: (text) => (text !== "" && text.length <= maxLength && isStorable(text) ? text : undefined),
  });
}

/** As `queryParameter`, for one of a few words. */
export function choiceParameter<Choice extends string>(
  c: Context,
  name: string,
  choices: readonly Choice[],
): Choice | null {
  return queryParameter(c, name, {
    expected: `one of ${choices.join(", ")}`,
    parse: (text) => choices.find((choice) => choice === text),
  });
}
