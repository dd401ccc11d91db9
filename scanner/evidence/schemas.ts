import * as v from "valibot";
import { isJsonObject, type JsonObject } from "../../shared/json.ts";

/** Schemas of a saved file, with messages for the person whose file is refused. */
export type Schema<Value> = v.GenericSchema<unknown, Value>;

export const text = v.string("and should be a text");
export const time = v.pipe(
  text,
  v.check((value) => !Number.isNaN(Date.parse(value)), "and should be a time as in 2026-01-31T12:00:00.000Z"),
  // In one form, because validities are compared as texts.
  v.transform((value) => new Date(value).toISOString()),
);
// Not narrowed further: a check reads the provider's JSON leniently, field by field.
export const json = v.custom<JsonObject>(isJsonObject, "and should be an object");

export function listOf<Value>(value: Schema<Value>): Schema<readonly Value[]> {
  return v.array(value, "and should be a list");
}

/** Not `v.record`, which leaves out ids such as `constructor` and `__proto__`: a provider may have those too. */
export function byId<Value>(value: Schema<Value>): Schema<Readonly<Record<string, Value>>> {
  const each = v.rawTransform<JsonObject, Readonly<Record<string, Value>>>(({ dataset, addIssue, NEVER }) => {
    const entries: [string, Value][] = [];
    for (const [id, inner] of Object.entries(dataset.value)) {
      const result = v.safeParse(value, inner, { abortEarly: true });
      if (!result.success) {
        const [{ message, received, path = [] }] = result.issues;
        const step = { type: "object", origin: "value", input: { ...dataset.value }, key: id, value: inner } as const;
        addIssue({ message, received, path: [step, ...path] });
        return NEVER;
      }
      entries.push([id, result.output]);
    }
    return Object.fromEntries(entries);
  });
  return v.pipe(json, each);
}
