import { isJsonObject, type JsonObject } from "../../shared/json.ts";
import type { Finding } from "../../shared/report.ts";
import type { CatalogCheck } from "../catalog/catalog.ts";
import { showValue } from "../checks/parsing/fields.ts";
import { isSure } from "../checks/parsing/policy_rules.ts";
import { type ParameterValues, compareSetting as compareValues } from "../checks/parameter.ts";
import { isCauseOf } from "../causes/cause_objects.ts";
import { entriesOf, type CollectedArtifacts, type Evidence, type JsonList } from "../evidence/artifacts.ts";
import { pathSegment } from "../okta/idp_client.ts";
import { identifier, type TerraformResource, type Value, type Variable } from "./terraform.ts";

/** A finding that fails, or a missing log stream that nobody attested. */
export interface Failed {
  readonly check: CatalogCheck;
  readonly finding: Finding;
  /** Set where only a person found the failure: no evidence shows what to change. */
  readonly attested?: string;
}

/** The org as a planner sees it. */
export interface PlannedOrg {
  readonly artifacts: CollectedArtifacts;
  /** The organization's values in place of the STIG's. */
  readonly parameters: ParameterValues;
}

/** The object that decides about one finding, and what makes it stricter. */
export interface PlannedChange extends Omit<TerraformResource, "attributes" | "ignored" | "causes" | "warnings"> {
  readonly warnings?: readonly string[];
  /** Attributes that the provider wants in every configuration. */
  readonly required: Readonly<Record<string, Value>>;
  /** Other attributes of a new object, or that Terraform could not find. */
  readonly attributes?: Readonly<Record<string, Value>>;
  readonly changes: Readonly<Record<string, NewValue>>;
  /** The attributes of an imported object, of which those that are not set here stay as Terraform finds them. */
  readonly found?: readonly string[];
  readonly variables?: readonly Variable[];
}

export interface NewValue {
  readonly value: Value;
  /** The org's value in words. */
  readonly was: string;
}

/** The planner of some checks. A text instead of a change says why the finding is left to a person. */
export interface Planner {
  readonly checks: readonly string[];
  readonly plan: (failed: Failed, org: PlannedOrg) => PlannedChange | string;
}

/** A type of resource by the fields that the provider reads and writes back. */
export interface ResourceKind {
  readonly type: string;
  /** The first word of each resource's name. */
  readonly prefix: string;
  /** The parts of the object that the provider replaces: a field there that it does not know is lost. */
  readonly replaced: readonly string[];
  /** The paths in Okta's JSON that each attribute holds; `[]` stands for the entries of a list. */
  readonly paths: Readonly<Record<string, string | readonly string[]>>;
}

/** The paths of several fields, separated by blanks, below one. */
export function below(path: string, fields: string): readonly string[] {
  return fields.split(" ").map((field) => `${path}.${field}`);
}

/**
 * The change of an object that the org has: its other attributes stay as Terraform finds them. A text where the provider
 * would reset a field.
 */
export function importChange(
  kind: ResourceKind,
  object: JsonObject,
  planned: Omit<PlannedChange, "type" | "found" | "name" | "importId"> & Partial<PlannedChange>,
): PlannedChange | string {
  const lost = lostFields(kind, object);
  if (lost.length > 0) return `Terraform would reset ${lost.join(", ")}`;
  const id = String(object["id"]);
  const name = identifier(kind.prefix, id, object["name"]);
  return { type: kind.type, name, importId: id, ...planned, found: Object.keys(kind.paths) };
}

export type ComparedSetting = Exclude<ReturnType<typeof compareSetting>, string>;

/**
 * Reads the attribute that decides, by the check's own setting, with the value that it needs (the same if it complies) and the one
 * that was found, as text.
 */
export function compareSetting(
  { paths }: ResourceKind,
  object: JsonObject,
  { check, org }: { readonly check: CatalogCheck; readonly org: PlannedOrg },
) {
  const { setting } = check;
  const attribute = Object.keys(paths).find((name) => paths[name] === setting?.path);
  if (setting === null || attribute === undefined) return "no single setting decides";
  const { field, needed } = compareValues(setting, object, org.parameters);
  // A value that is not known may be stricter than the organization's own limit.
  if (field.kind !== "value") return `the evidence does not have ${setting.path}`;
  return { attribute, needed, found: showValue(field.value) };
}

/** The active rule that decides about the finding; null where none does, or several do. */
export function decidingRule({ finding }: Failed, rules: JsonList): JsonObject | null {
  const [rule = null, ...others] = rules.filter((one) => isSure(one) && idOf(one) !== null && isCauseOf(finding, one));
  return others.length === 0 ? rule : null;
}

/** The object of a list that the finding is about. */
export function foundObject(list: Evidence<JsonList> | undefined, { resource }: Finding): JsonObject | undefined {
  return entriesOf(list).find((object) => idOf(object) === resource.id);
}

/** The id of an object of the provider; null where it has none that a request could name. */
export function idOf({ id }: JsonObject): string | null {
  return typeof id === "string" && pathSegment(id) === id ? id : null;
}

/** A name that no object of the org has. */
export function freeName(name: string, taken: readonly unknown[]): string {
  if (!taken.includes(name)) return name;
  let number = 2;
  while (taken.includes(`${name} ${number}`)) number += 1;
  return `${name} ${number}`;
}

/** The fields that hold something and that the provider does not write back. */
export function lostFields({ replaced, paths }: ResourceKind, object: JsonObject): readonly string[] {
  const known = new Set(Object.values(paths).flat());
  const lost = new Set<string>();
  const visit = (value: unknown, path: string): void => {
    if (known.has(path) || isEmpty(value)) return;
    if (Array.isArray(value)) for (const item of value) visit(item, `${path}[]`);
    else if (isJsonObject(value)) for (const [name, item] of Object.entries(value)) visit(item, `${path}.${name}`);
    else lost.add(path);
  };
  for (const part of replaced) visit(object[part], part);
  return [...lost];
}

function isEmpty(value: unknown): boolean {
  if (value === null || value === undefined || value === "") return true;
  if (Array.isArray(value)) return value.length === 0;
  return isJsonObject(value) && Object.values(value).every(isEmpty);
}
