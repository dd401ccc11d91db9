import type { Context } from "hono";
import * as v from "valibot";
import { AppError } from "../../shared/app_error.ts";
import { instant, text } from "../../shared/schemas/primitives.ts";

/** The parameters of a route's query, each with the schema of its text. Its message says what is expected. */
export type QueryParameters = Readonly<Record<string, v.GenericSchema<string, unknown>>>;

/** Null: the query has no such parameter. */
export type QueryValues<Parameters extends QueryParameters> = {
  readonly [Name in keyof Parameters]: v.InferOutput<Parameters[Name]> | null;
};

/** Throws `AppError("malformed")` for a value that is not valid, and for several. */
export function readQuery<Parameters extends QueryParameters>(
  c: Context,
  parameters: Parameters,
): QueryValues<Parameters> {
  const values = Object.entries(parameters).map(([name, schema]) => [name, readParameter(c, name, schema)]);
  // `fromEntries` forgets which name has which value.
  return Object.fromEntries(values) as QueryValues<Parameters>;
}

function readParameter(c: Context, name: string, schema: v.GenericSchema<string, unknown>): unknown {
  const [value, ...others] = c.req.queries(name) ?? [];
  if (value === undefined) return null;
  const parsed = v.safeParse(schema, value);
  if (parsed.success && others.length === 0) return parsed.output;
  const expected = others.length === 0 ? parsed.issues?.[0].message : "expected one value";
  throw new AppError("malformed", `The query's ${name} is not valid: ${expected}`);
}

/** Makes a parameter that a column is compared with. */
/* @__NO_SIDE_EFFECTS__ */
export function textParameter(maxLength: number, description: string) {
  return v.pipe(text(1, maxLength), v.description(description));
}

/* @__NO_SIDE_EFFECTS__ */
export function choiceParameter<const Choice extends string>(
  choices: readonly Choice[],
  metadata: { readonly description?: string; readonly default?: Choice } = {},
) {
  return v.pipe(v.picklist(choices, `expected one of ${choices.join(", ")}`), v.metadata({ ...metadata }));
}

/* @__NO_SIDE_EFFECTS__ */
export function timeParameter(description: string) {
  return v.pipe(
    instant,
    v.transform((value) => new Date(value)),
    v.description(description),
  );
}
