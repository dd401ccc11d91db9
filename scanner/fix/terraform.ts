/** A value of an attribute. */
export type Value = string | number | boolean | readonly Value[] | Expression;

export type Expression =
  /** `var.token_zones`. */
  | { readonly kind: "reference"; readonly to: string }
  /** A text that holds JSON, written as `jsonencode(…)`. */
  | { readonly kind: "json"; readonly value: unknown }
  /** A text in a file of its own, by its path from `main.tf`. */
  | { readonly kind: "file"; readonly path: string; readonly text: string };

export interface Attribute {
  readonly value: Value;
  /** Why the value differs from what the org has. Null: it stands there because the provider requires it. */
  readonly change: { readonly rules: readonly string[]; readonly was: string } | null;
}

/** Attributes by name; `network.include` is an attribute of the block `network`. */
export type Attributes = ReadonlyMap<string, Attribute>;

export interface TerraformResource {
  readonly type: string;
  /** Unique among those of its type, and the same whenever the plan is written. */
  readonly name: string;
  /** The object in the words of the Admin Console. */
  readonly title: string;
  /** Null: the org has no such object yet. */
  readonly importId: string | null;
  /** Side effects of the change, such as locking somebody out. */
  readonly warnings: readonly string[];
  readonly attributes: Attributes;
  /** The causes of the findings that it fixes. */
  readonly causes: readonly string[];
  /** Attributes that Terraform keeps as it finds them when it applies. */
  readonly ignored: readonly string[];
}

export interface Variable {
  readonly name: string;
  readonly type: "string" | "list(string)";
  readonly description: string;
  /** Undefined: a person has to give it. */
  readonly default?: null;
  readonly isSensitive?: true;
}

export function addressOf({ type, name }: Pick<TerraformResource, "type" | "name">): string {
  return `${type}.${name}`;
}

export function variableReference({ name }: Variable): Value {
  return { kind: "reference", to: `var.${name}` };
}

/** An identifier that is valid after `prefix_`; different ids give different ones, for any name of the object. */
export function identifier(prefix: string, id: string, name: unknown = ""): string {
  const safe = id.replaceAll(/[^A-Za-z0-9]/gu, (character) => `_${character.codePointAt(0)?.toString(16) ?? ""}_`);
  const start = typeof name === "string" ? name.toLowerCase().slice(0, 40) : "";
  const words = start.match(/[a-z0-9]+/g) ?? [];
  return [prefix, ...words, safe].join("_");
}
