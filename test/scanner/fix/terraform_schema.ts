import type { FixPlan } from "../../../scanner/fix/plan_fixes.ts";
import { addressOf, type TerraformResource, type Value } from "../../../scanner/fix/terraform.ts";
import schema from "../../fixtures/terraform/provider_schema.json" with { type: "json" };

/** The provider's own schema, and the problems of a plan by it. */

interface AttributeSchema {
  readonly type?: string | readonly string[];
  readonly use?: string;
  readonly block?: string;
  readonly attributes?: Readonly<Record<string, AttributeSchema>>;
}

const schemas = schema.resources as unknown as Readonly<
  Record<string, { readonly attributes: Readonly<Record<string, AttributeSchema>>; readonly import_id: string }>
>;

/** Attributes without a default that no object has which `fix` imports. */
const ofOtherKinds =
  /^(?:id|provider_(?!hostname|user_name)\w+|agree_to_terms|set_usage_as_exempt_list|dynamic_proxy_type|gateways|proxies)$/;

/** The problems of a resource by the provider's own schema. An imported one sets or ignores every attribute. */
function schemaProblems(resource: TerraformResource): readonly string[] {
  const { type, attributes, importId, ignored } = resource;
  const known = schemas[type];
  if (known === undefined) return [`${type} is no resource`];
  const forms: Readonly<Record<string, RegExp>> = { ".": /^\.$/, "<policy_id>/<rule_id>": /^[^/\s]+\/[^/\s]+$/ };
  const form = forms[known.import_id] ?? /^[^/\s]+$/;
  const settable = Object.entries(known.attributes).filter(([, { use }]) => use !== "computed");
  const top = new Set([...attributes.keys()].map((name) => name.split(".")[0] ?? ""));
  return [
    ...settable.filter(([name, { use }]) => use === "required" && !top.has(name)).map(([name]) => `${name} is missing`),
    ...[...attributes].flatMap(([name, { value }]) => attributeProblems(name, value, known.attributes)),
    ...(importId === null || form.test(importId) ? [] : [`${importId} is no ${known.import_id}`]),
    ...(importId === null ? [] : settable)
      .filter(([name]) => !top.has(name) && !ignored.includes(name) && !ofOtherKinds.test(name))
      .map(([name]) => `${name} would be reset`),
    ...ignored.filter((name) => known.attributes[name] === undefined).map((name) => `${name} cannot be ignored`),
  ];
}

function attributeProblems(
  name: string,
  value: Value,
  known: Readonly<Record<string, AttributeSchema>>,
): readonly string[] {
  const [first = "", inner] = name.split(".");
  const wanted = known[first];
  if (inner !== undefined) {
    return wanted?.block === undefined
      ? [`${first} is no block`]
      : attributeProblems(inner, value, wanted.attributes ?? {});
  }
  if (wanted?.type === undefined || wanted.use === "computed") return [`${name} cannot be set`];
  return isOfType(value, wanted.type) ? [] : [`${name} is no ${String(wanted.type)}`];
}

function isOfType(value: Value, type: string | readonly string[]): boolean {
  if (typeof value === "object" && "kind" in value) return value.kind === "reference" || type === "string";
  if (typeof type === "string") return typeof value === { bool: "boolean" }[type] || typeof value === type;
  return Array.isArray(value) && value.every((item: Value) => isOfType(item, type[1] ?? ""));
}

export function problemsOf({ resources }: FixPlan): readonly string[] {
  return resources.flatMap((resource) => schemaProblems(resource).map((text) => `${addressOf(resource)}: ${text}`));
}
