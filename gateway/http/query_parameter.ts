import type { Context } from "hono";
import * as v from "valibot";
import { AppError } from "../../shared/app_error.ts";
import { instant, text } from "../../shared/schemas/primitives.ts";
import type { Parameter } from "../description/operation.ts";

/** A parameter of a route's query: how it is read, and what the OpenAPI document says of it. */
export interface QueryParameter<Value> extends Pick<Parameter, "description" | "schema"> {
  /** What is accepted, for the refusal. */
  readonly expected: string;
  /** Undefined: it is not valid. May throw `AppError("malformed")` with more than `expected` says. */
  readonly parse: (text: string) => Value | undefined;
}

export type QueryParameters = Readonly<Record<string, QueryParameter<unknown>>>;

/** Null: the query has no such parameter. */
export type QueryValues<Parameters extends QueryParameters> = {
  readonly [Name in keyof Parameters]: NonNullable<ReturnType<Parameters[Name]["parse"]>> | null;
};

/** Throws `AppError("malformed")` for a value that is not valid, and for several. */
export function readQuery<Parameters extends QueryParameters>(
  c: Context,
  parameters: Parameters,
): QueryValues<Parameters> {
  const values = Object.entries(parameters).map(([name, parameter]) => [name, readParameter(c, name, parameter)]);
  // `fromEntries` forgets which name has which value.
  return Object.fromEntries(values) as QueryValues<Parameters>;
}

function readParameter(c: Context, name: string, { expected, parse }: QueryParameter<unknown>): unknown {
  const [value, ...others] = c.req.queries(name) ?? [];
  if (value === undefined) return null;
  const parsed = others.length === 0 ? parse(value) : undefined;
  if (parsed !== undefined) return parsed;
  throw new AppError("malformed", `The query's ${name} is not valid: expected ${expected}`);
}

/** For what a column is compared with. */
export function textParameter(maxLength: number, description?: string): QueryParameter<string> {
  const schema = text(1, maxLength);
  return {
    schema,
    description,
    expected: `one text of 1 to ${maxLength} characters`,
    parse: (value) => (v.is(schema, value) ? value : undefined),
  };
}

export function choiceParameter<const Choice extends string>(
  choices: readonly Choice[],
  texts: { readonly description?: string; readonly default?: Choice } = {},
): QueryParameter<Choice> {
  const { description, ...fallback } = texts;
  return {
    schema: { type: "string", enum: choices, ...fallback },
    description,
    expected: `one of ${choices.join(", ")}`,
    parse: (value) => choices.find((choice) => choice === value),
  };
}

export function timeParameter(description: string): QueryParameter<Date> {
  return {
    schema: instant,
    description,
    expected: "one time like 2026-11-22T09:30:00Z",
    parse: (value) => (v.is(instant, value) ? new Date(value) : undefined),
  };
}
