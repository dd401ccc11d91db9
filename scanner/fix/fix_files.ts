import { alignedLines, attributeLines, block, comment, expression, quote } from "./hcl.ts";
import type { FixPlan } from "./plan_fixes.ts";
import { addressOf, type TerraformResource, type Variable } from "./terraform.ts";

/** The source of a plan. */
export interface Origin {
  readonly orgUrl: string;
  /** ISO 8601, UTC: when the evidence was collected. */
  readonly collectedAt: string;
}

/** The Terraform files of a plan by name; none where nothing is planned. */
export function renderFiles(plan: FixPlan, origin: Origin): Readonly<Record<string, string>> {
  if (plan.resources.length === 0) return {};
  const values = plan.resources.flatMap(({ attributes }) => [...attributes.values()].map(({ value }) => value));
  const pages = values.flatMap((value) =>
    typeof value === "object" && "kind" in value && value.kind === "file" ? [[value.path, value.text]] : [],
  );
  return {
    ...Object.fromEntries(pages),
    "main.tf": renderMain(plan, origin),
    ...(plan.variables.length > 0 && {
      "variables.tf": renderVariables(plan, origin),
      "terraform.tfvars.example": renderExample(plan, origin),
    }),
  };
}

/** `main.tf`: the provider, and every resource next to its import block. */
export function renderMain(plan: FixPlan, origin: Origin): string {
  const header = [
    `# Written by scanstream fix for ${origin.orgUrl}, from evidence of ${origin.collectedAt}.`,
    "# Each changed value has the rule and the old value above it. Terraform leaves every other attribute of an imported",
    "# object as it is. Nothing is applied until you run terraform apply.",
  ].join("\n");
  const blocks = [terraformBlock, providerBlock(scopesOf(plan), origin), ...plan.resources.map(resourceBlocks)];
  return `${header}\n\n${blocks.join("\n\n")}\n`;
}

/** The scopes that the provider needs. */
export function scopesOf({ resources }: FixPlan): readonly string[] {
  const scopes = resources.map(({ type }) => `okta.${scopeNames[type] ?? "policies"}.manage`);
  const isDefault = resources.some(({ type }) => type === "okta_policy_password_default");
  return [...new Set([...scopes, ...(isDefault ? ["okta.groups.read"] : [])])].sort();
}

const scopeNames: Readonly<Record<string, string>> = {
  okta_network_zone: "networkZones",
  okta_authenticator: "authenticators",
  okta_log_stream: "logStreams",
  okta_api_token: "apiTokens",
  okta_customized_signin_page: "brands",
};

const terraformBlock = `terraform {
  required_version = ">= 1.7"

  required_providers {
    okta = {
      source  = "okta/okta"
      version = "~> 6.12"
    }
  }
}`;

/** Names the org, so that the plan is never applied to another one. The credentials come from the environment. */
function providerBlock(scopes: readonly string[], { orgUrl }: Origin): string {
  const { protocol, host, origin } = new URL(orgUrl);
  const [name = "", ...domain] = host.split(".");
  const settings = {
    org_name: quote(name),
    base_url: quote(domain.join(".")),
    // A practice org: the provider reaches one without TLS as its proxy only.
    ...(protocol === "http:" && { http_proxy: quote(origin) }),
    scopes: expression(scopes),
  };
  return block('provider "okta"', alignedLines(settings));
}

function resourceBlocks(resource: TerraformResource): string {
  const { title, warnings, importId } = resource;
  const to = addressOf(resource);
  return [
    comment(title),
    ...warnings.map((warning) => comment(`Warning: ${warning}`)),
    ...(importId === null ? [] : [`${block("import", alignedLines({ to, id: quote(importId) }))}\n`]),
    resourceBlock(resource),
  ].join("\n");
}

function resourceBlock({ type, name, attributes, ignored }: TerraformResource): string {
  const parts = [...Map.groupBy(attributes, ([attribute]) => blockOf(attribute))]
    .toSorted(([one], [other]) => Number(one !== "") - Number(other !== ""))
    .map(([inner, entries]) => {
      const lines = attributeLines(entries.map(([full, one]) => [full.slice(full.indexOf(".") + 1), one]));
      return inner === "" ? lines : block(inner, lines);
    });
  const lifecycle = {
    prevent_destroy: "true",
    ...(ignored.length > 0 && { ignore_changes: `[${ignored.join(", ")}]` }),
  };
  return block(`resource "${type}" "${name}"`, ...parts, block("lifecycle", alignedLines(lifecycle)));
}

/** `network` for `network.include`; empty for an attribute of the resource itself. */
function blockOf(attribute: string): string {
  return attribute.slice(0, Math.max(0, attribute.indexOf(".")));
}

/** `variables.tf`: the values that a person has to choose. */
export function renderVariables({ variables }: FixPlan, { orgUrl }: Origin): string {
  const header = `# Written by scanstream fix for ${orgUrl}: the values that you have to choose.`;
  return `${header}\n\n${variables.map(variableBlock).join("\n\n")}\n`;
}

/** `terraform.tfvars.example`: to be copied to `terraform.tfvars` and filled in. */
function renderExample({ variables }: FixPlan, { orgUrl }: Origin): string {
  const header = `# Written by scanstream fix for ${orgUrl}: copy this file to terraform.tfvars and fill it in.`;
  const lines = variables.map(({ name, type, description, default: value, isSensitive }) => {
    if (isSensitive === true) return `${comment(description)}\n# export TF_VAR_${name}=…`;
    const text = `${name} = ${type === "string" ? '""' : "[]"}`;
    return `${comment(description)}\n${value === undefined ? text : `# ${text}`}`;
  });
  return `${header}\n\n${lines.join("\n\n")}\n`;
}

function variableBlock({ name, type, description, default: value, isSensitive }: Variable): string {
  const own = alignedLines({
    type,
    description: quote(description),
    ...(value !== undefined && { default: expression(value) }),
    ...(isSensitive === true && { sensitive: "true" }),
  });
  const validation = alignedLines({
    condition: `length(var.${name}) > 0`,
    error_message: quote("List at least one value: an empty list restricts nothing."),
  });
  return block(`variable "${name}"`, own, ...(type === "string" ? [] : [block("validation", validation)]));
}
