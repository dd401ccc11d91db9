export type JsonValue =
  | string
  | number
  | boolean
  | null
  | readonly JsonValue[]
  | { readonly [name: string]: JsonValue };

/** A value of an attribute. */
export type Value = string | number | boolean | readonly Value[] | Expression;

export type Expression =
  /** `var.session_zones`, `okta_network_zone.approved_networks.id`. */
  | { readonly kind: "reference"; readonly to: string }
  /** A text that holds JSON, written as `jsonencode(…)`. */
  | { readonly kind: "json"; readonly value: JsonValue }
  /** A text of several lines. */
  | { readonly kind: "page"; readonly text: string };

/** Why an attribute differs from what the org has. */
export interface Change {
  readonly rules: readonly string[];
  /** What the org has, in words. */
  readonly was: string;
}

export interface Attribute {
  readonly value: Value;
  readonly change: Change | null;
}

export type Attributes = ReadonlyMap<string, Attribute>;

export interface Block {
  readonly name: string;
  readonly attributes: Map<string, Attribute>;
}

export interface TerraformResource {
  readonly type: string;
  /** Unique among those of its type, and the same whenever the plan is written. */
  readonly name: string;
  /** What the console calls it, for people. */
  readonly title: string;
  /** Null: the org has no such object yet. */
  readonly importId: string | null;
  /** Warnings for the resource: what can lock somebody out, or cost more than it says. */
  readonly warnings: readonly string[];
  readonly attributes: Attributes;
  readonly blocks: readonly Block[];
  readonly lifecycle: { readonly preventDestroy?: true; readonly ignoreChanges?: readonly string[] };
  /** Addresses. */
  readonly dependsOn: readonly string[];
}

export interface Variable {
  readonly name: string;
  readonly type: string;
  readonly description: string;
  /** Undefined: a person has to give it. */
  readonly default?: Value | null;
  readonly isSensitive?: true;
  /** A list that must not be empty. */
  readonly isNonEmptyList?: true;
}

export function addressOf({ type, name }: Pick<TerraformResource, "type" | "name">): string {
  return `${type}.${name}`;
}

/** A resource while it is planned: several findings may concern one. */
export interface ResourceDraft {
  readonly type: string;
  readonly name: string;
  readonly title: string;
  readonly importId: string | null;
  readonly warnings: Set<string>;
  readonly attributes: Map<string, Attribute>;
  readonly blocks: Block[];
  lifecycle: TerraformResource["lifecycle"];
  readonly dependsOn: Set<string>;
}

export type NewResource = Pick<TerraformResource, "type" | "name" | "title" | "importId"> & {
  readonly attributes: Readonly<Record<string, Value>>;
};

export function draftResource({ attributes, ...resource }: NewResource): ResourceDraft {
  return {
    ...resource,
    attributes: toAttributes(attributes),
    blocks: [],
    warnings: new Set(),
    lifecycle: {},
    dependsOn: new Set(),
  };
}

export function toAttributes(values: Readonly<Record<string, Value>>): Map<string, Attribute> {
  return new Map(Object.entries(values).map(([name, value]) => [name, { value, change: null }]));
}

/** Sets an attribute to what a rule wants. A second rule that wants the same is named with the first. */
export function change(attributes: Map<string, Attribute>, name: string, value: Value, why: Change): void {
  const before = attributes.get(name)?.change ?? null;
  const rules = [...new Set([...(before?.rules ?? []), ...why.rules])];
  attributes.set(name, { value, change: { rules, was: before?.was ?? why.was } });
}

export function finishResource(draft: ResourceDraft): TerraformResource {
  return { ...draft, warnings: [...draft.warnings], dependsOn: [...draft.dependsOn].sort() };
}

/** An identifier that is valid after `prefix_`; different ids give different ones, for any name of the object. */
export function identifier(prefix: string, id: string, name: unknown = ""): string {
  const safe = id.replaceAll(/[^A-Za-z0-9]/gu, (character) => `_${character.codePointAt(0)?.toString(16) ?? ""}_`);
  const words =
    typeof name === "string"
      ? (name
          .toLowerCase()
          .slice(0, 40)
          .match(/[a-z0-9]+/g) ?? [])
      : [];
  return [prefix, ...words, safe].join("_");
}
