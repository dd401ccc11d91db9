import type { FixPlan } from "../../scanner/fix/plan_draft.ts";
import { addressOf, type Attributes, type TerraformResource, type Value } from "../../scanner/fix/terraform.ts";
import schema from "../fixtures/terraform/provider_schema.json" with { type: "json" };

/** What the provider's own schema says about a plan. */

interface AttributeSchema {
  readonly type?: string | readonly string[];
  readonly use?: string;
  readonly block?: string;
  readonly attributes?: Readonly<Record<string, AttributeSchema>>;
}

export const resourceSchemas = schema.resources as unknown as Readonly<
  Record<string, { readonly attributes: Readonly<Record<string, AttributeSchema>>; readonly import_id: string }>
>;

/** What is wrong with a resource by the provider's own schema. */
export function schemaProblems({ type, attributes, blocks, importId }: TerraformResource): readonly string[] {
  const known = resourceSchemas[type];
  if (known === undefined) return [`${type} is no resource`];
  const forms: Readonly<Record<string, RegExp>> = { ".": /^\.$/, "<policy_id>/<rule_id>": /^[^/\s]+\/[^/\s]+$/ };
  const form = forms[known.import_id] ?? /^[^/\s]+$/;
  return [
    ...attributeProblems(attributes, known.attributes),
    ...blocks.flatMap((block) => {
      const inside = known.attributes[block.name];
      return inside?.block === undefined
        ? [`${block.name} is no block`]
        : attributeProblems(block.attributes, inside.attributes ?? {});
    }),
    ...(importId === null || form.test(importId) ? [] : [`${importId} is no ${known.import_id}`]),
  ];
}

function attributeProblems(
  attributes: Attributes,
  known: Readonly<Record<string, AttributeSchema>>,
): readonly string[] {
  const missing = Object.entries(known)
    .filter(([name, { use }]) => use === "required" && !attributes.has(name))
    .map(([name]) => `${name} is missing`);
  const wrong = [...attributes].flatMap(([name, { value }]) => {
    const wanted = known[name];
    if (wanted?.type === undefined || wanted.use === "computed") return [`${name} cannot be set`];
    return isOfType(value, wanted.type) ? [] : [`${name} is no ${String(wanted.type)}`];
  });
  return [...missing, ...wrong];
}

function isOfType(value: Value, type: string | readonly string[]): boolean {
  if (typeof value === "object" && "kind" in value) return value.kind === "reference" || type === "string";
  if (typeof type === "string") return typeof value === { bool: "boolean" }[type] || typeof value === type;
  return Array.isArray(value) && value.every((item: Value) => isOfType(item, type[1] ?? ""));
}

export function problemsOf({ resources }: FixPlan): readonly string[] {
  return resources.flatMap((resource) => schemaProblems(resource).map((text) => `${addressOf(resource)}: ${text}`));
}
