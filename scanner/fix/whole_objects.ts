import { isJsonObject, type JsonObject } from "../../shared/json.ts";
import { readBoolean, readNumber, readText, readTexts, type Field } from "../checks/parsing/fields.ts";
import type { Value } from "./terraform.ts";

/**
 * An attribute of a resource and where the provider's object has it. Terraform sets every attribute that is not written to
 * a default, so a resource is written whole, or not at all.
 */
export type Source = readonly [
  attribute: string,
  read: "number" | "text" | "boolean" | "texts",
  path: string,
  /** What the provider means where the field is absent; null: the attribute is left out. Undefined: it has to be there. */
  ifAbsent?: Value | null,
];

export interface WholeObject {
  readonly attributes: Readonly<Record<string, Value>>;
  /** Fields that are absent, or of another shape than Terraform has. */
  readonly missing: readonly string[];
}

export function readWhole(object: JsonObject, sources: readonly Source[]): WholeObject {
  const attributes: Record<string, Value> = {};
  const missing: string[] = [];
  for (const [attribute, read, path, ifAbsent] of sources) {
    const field = readers[read](object, path);
    const value = field.kind === "absent" ? ifAbsent : field.kind === "value" ? field.value : undefined;
    if (value === undefined || isChanged(value, read)) missing.push(path);
    else if (value !== null) attributes[attribute] = value;
  }
  return { attributes, missing };
}

/**
 * The object as it is after Terraform wrote these attributes: a field without an attribute is gone. A reference stands for
 * its value, as `var.session_zones`.
 */
export function writeWhole(
  object: JsonObject,
  attributes: ReadonlyMap<string, { readonly value: Value }>,
  sources: readonly Source[],
): JsonObject {
  return sources.reduce((written, [attribute, read, path]) => {
    const value = attributes.get(attribute)?.value;
    const plain = value === undefined ? undefined : plainValue(value);
    // A variable may stand for a whole list.
    return setField(written, path.split("."), read === "texts" && typeof plain === "string" ? [plain] : plain);
  }, object);
}

function setField(object: JsonObject, [field = "", ...rest]: readonly string[], value: unknown): JsonObject {
  const inner = object[field];
  if (rest.length === 0) return { ...object, [field]: value };
  if (value === undefined && !isJsonObject(inner)) return object;
  return { ...object, [field]: setField(isJsonObject(inner) ? inner : {}, rest, value) };
}

function plainValue(value: Value): unknown {
  if (typeof value !== "object") return value;
  if (!("kind" in value)) return value.map((item) => plainValue(item));
  if (value.kind === "reference") return value.to;
  return value.kind === "json" ? value.value : value.text;
}

/** Whether it is not as the provider sent it (`okta/provider_text.ts`): lists hold ids and words, which have no blanks. */
function isChanged(value: Value | null, read: Source[1]): boolean {
  if (read === "texts") return Array.isArray(value) && value.some((item) => /[\s\uFFFD]/.test(String(item)));
  // Terraform writes texts in the Unicode form NFC.
  return typeof value === "string" && (value.includes("\uFFFD") || value !== value.normalize("NFC"));
}

const readers: Readonly<Record<Source[1], (object: JsonObject, path: string) => Field<Value>>> = {
  number: readNumber,
  text: readText,
  boolean: readBoolean,
  texts: readTexts,
};

/**
 * The fields below `roots` that hold something and are not known: writing the object without them would reset them. The
 * entries of a list count as `[]` in a path.
 */
export function unknownFields(
  object: JsonObject,
  roots: readonly string[],
  known: readonly string[],
): readonly string[] {
  const found = new Set<string>();
  const visit = (value: unknown, path: string): void => {
    if (known.includes(path) || isEmpty(value)) return;
    if (Array.isArray(value)) for (const item of value) visit(item, `${path}[]`);
    else if (isJsonObject(value)) for (const [name, item] of Object.entries(value)) visit(item, `${path}.${name}`);
    else found.add(path);
  };
  for (const root of roots) visit(object[root], root);
  return [...found];
}

function isEmpty(value: unknown): boolean {
  if (value === null || value === undefined || value === "") return true;
  if (Array.isArray(value)) return value.length === 0;
  return isJsonObject(value) && Object.keys(value).length === 0;
}
