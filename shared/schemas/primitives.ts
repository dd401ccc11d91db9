import * as v from "valibot";
import { uuidPattern } from "../channel_name.ts";
import { isDay } from "../decisions/expiry.ts";

/** Parts of the schemas of this folder. Types, request validation and the API documents all come from them. */

/** The output of a schema, read-only at every depth. */
export type Output<Schema extends v.GenericSchema> = Immutable<v.InferOutput<Schema>>;

type Immutable<Value> = Value extends object ? { readonly [Key in keyof Value]: Immutable<Value[Key]> } : Value;

/* @__NO_SIDE_EFFECTS__ */
export function integer(min: number, max: number) {
  const message = `expected an integer from ${min} to ${max}`;
  return v.pipe(v.number(message), v.integer(message), v.minValue(min, message), v.maxValue(max, message));
}

export const count = integer(0, 2_147_483_647);

/** The last moment that both JavaScript and Postgres write with a year of four digits. */
export const maxTimeMs = Date.UTC(9999, 11, 31);

/** ISO 8601 in UTC. */
export const time = v.pipe(v.string(), v.isoTimestamp());

/** The schema, with what the documents say of it. */
/* @__NO_SIDE_EFFECTS__ */
export function described<const Schema extends v.GenericSchema>(schema: Schema, text: string) {
  return v.pipe(schema, v.description(text));
}

/** The message names all of them. */
/* @__NO_SIDE_EFFECTS__ */
export function oneOf<const Words extends readonly string[]>(...words: Words) {
  return v.picklist(words, `expected ${words.join(", ").replace(/, (?=[^,]*$)/, " or ")}`);
}

const instantMessage = "expected a time like 2026-11-22T09:30:00.000Z";
/** As `time`, from a client: one that is on the calendar, and that Postgres can store. */
export const instant = v.pipe(
  v.string(instantMessage),
  v.isoTimestamp(instantMessage),
  v.check((value) => Date.parse(value) >= 0 && isDay(value.slice(0, 10)), instantMessage),
  v.metadata({ format: "date-time" }),
);

/** A canonical UUID, in lower case. */
/* @__NO_SIDE_EFFECTS__ */
export function uuid(message = "expected a UUID in lower case") {
  return v.pipe(v.string(message), v.regex(uuidPattern, message), v.metadata({ format: "uuid" }));
}

/* @__NO_SIDE_EFFECTS__ */
export function text(minLength: number, maxLength: number) {
  const message = `expected text of ${minLength} to ${maxLength} characters, without NUL or lone surrogates`;
  return v.pipe(
    v.string(message),
    v.minLength(minLength, message),
    v.maxLength(maxLength, message),
    v.check(isStorable, message),
    v.metadata({ pattern: "^[^\\u0000]*$" }),
  );
}

/** Postgres text holds no NUL, and a lone surrogate is not a character. */
export function isStorable(value: string): boolean {
  return !value.includes("\0") && value.isWellFormed();
}

type ExactOptional<Entries extends v.ObjectEntries> = {
  readonly [Name in keyof Entries]: v.ExactOptionalSchema<Entries[Name], undefined>;
};

/** The same fields, each of which may be absent but not undefined: `v.partial` would allow that. */
/* @__NO_SIDE_EFFECTS__ */
export function exactOptionalEntries<Entries extends v.ObjectEntries>(entries: Entries): ExactOptional<Entries> {
  const pairs = Object.entries(entries).map(([name, schema]) => [name, v.exactOptional(schema)]);
  // `fromEntries` forgets which name has which schema.
  return Object.fromEntries(pairs) as ExactOptional<Entries>;
}

/** The field of a page with which the next one is asked for. */
export const nextCursor = described(v.nullable(v.string()), "Null at the end");

/* @__NO_SIDE_EFFECTS__ */
export function pageOf<Item extends v.GenericSchema>(item: Item) {
  return v.object({ items: v.array(item), next_cursor: nextCursor });
}
