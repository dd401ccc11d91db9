import { attributeLines, comment, expression, quote } from "./hcl.ts";
import type { FixPlan } from "./plan_draft.ts";
import { addressOf, type TerraformResource, type Variable } from "./terraform.ts";

/** What the files say about where they come from. */
export interface Origin {
  readonly orgUrl: string;
  /** ISO 8601, UTC: when the evidence was collected. */
  readonly collectedAt: string;
}

/** The beginning of each file: a file without it is not ours, and is not replaced. */
export const marker = "Written by scanstream fix";

/** `main.tf`: the provider, and every resource beside the block that imports it. */
export function renderMain(plan: FixPlan, origin: Origin): string {
  const header = [
    `# ${marker} for ${origin.orgUrl}, from evidence of ${origin.collectedAt}.`,
    "# Each changed value has the rule and the old value above it. Nothing is applied until you run terraform apply.",
  ].join("\n");
  const blocks = [terraformBlock, providerBlock(plan, origin), ...plan.resources.map(resourceBlocks)];
  return `${header}\n\n${blocks.join("\n\n")}\n`;
}

const terraformBlock = `terraform {
  required_version = ">= 1.5"

  required_providers {
    okta = {
      source  = "okta/okta"
      version = "~> 6.12"
    }
  }
}`;

/** Bound to the org, so that the plan is never applied to another one; the credentials come from the environment. */
function providerBlock({ resources }: FixPlan, { orgUrl }: Origin): string {
  const { protocol, host, origin } = new URL(orgUrl);
  const [name = "", ...domain] = host.split(".");
  const scopes = new Set(resources.flatMap(({ type }) => scopesOf(type)));
  const lines = [
    ["org_name", quote(name)],
    ["base_url", quote(domain.join("."))],
    // A practice org: the provider reaches one without TLS as its proxy only.
    ...(protocol === "http:" ? [["http_proxy", quote(origin)] as const] : []),
    ["scopes", expression([...scopes].sort())],
  ] as const;
  const width = Math.max(...lines.map(([attribute]) => attribute.length));
  const attributes = lines.map(([attribute, value]) => `  ${attribute.padEnd(width)} = ${value}`);
  return `provider "okta" {\n${attributes.join("\n")}\n}`;
}

/** What an application of the provider needs for resources of a type. */
export function scopesOf(type: string): readonly string[] {
  if (type === "okta_policy_password_default") return ["okta.policies.manage", "okta.groups.read"];
  return [`okta.${scopeNames[type] ?? "policies"}.manage`];
}

const scopeNames: Readonly<Record<string, string>> = {
  okta_network_zone: "networkZones",
  okta_authenticator: "authenticators",
  okta_log_stream: "logStreams",
  okta_api_token: "apiTokens",
  okta_customized_signin_page: "brands",
};

function resourceBlocks(resource: TerraformResource): string {
  const above = [comment(resource.title), ...resource.warnings.map((warning) => comment(`Warning: ${warning}`))];
  return [above.join("\n"), importBlock(resource), resourceBlock(resource)].filter((text) => text !== null).join("\n");
}

function importBlock(resource: TerraformResource): string | null {
  if (resource.importId === null) return null;
  return `import {\n  to = ${addressOf(resource)}\n  id = ${quote(resource.importId)}\n}\n`;
}

function resourceBlock({ type, name, attributes, blocks, lifecycle, dependsOn }: TerraformResource): string {
  const parts = [
    attributeLines(attributes, "  "),
    ...blocks.map((block) => `  ${block.name} {\n${attributeLines(block.attributes, "    ")}\n  }`),
    ...(dependsOn.length === 0 ? [] : [`  depends_on = [${dependsOn.join(", ")}]`]),
    ...lifecycleLines(lifecycle),
  ];
  return `resource "${type}" "${name}" {\n${parts.join("\n\n")}\n}`;
}

function lifecycleLines({ preventDestroy, ignoreChanges = [] }: TerraformResource["lifecycle"]): readonly string[] {
  const lines = [
    ...(preventDestroy === true ? ["    prevent_destroy = true"] : []),
    ...(ignoreChanges.length === 0 ? [] : [`    ignore_changes = [${ignoreChanges.join(", ")}]`]),
  ];
  return lines.length === 0 ? [] : [`  lifecycle {\n${lines.join("\n")}\n  }`];
}

/** `variables.tf`: what a person has to decide. */
export function renderVariables({ variables }: FixPlan, { orgUrl }: Origin): string {
  const header = `# ${marker} for ${orgUrl}: what a person decides.`;
  const blocks = variables.map(variableBlock);
  return `${[header, ...(blocks.length === 0 ? ["# This plan needs no decision."] : blocks)].join("\n\n")}\n`;
}

function variableBlock({ name, type, description, default: value, isSensitive, isNonEmptyList }: Variable): string {
  const lines: (readonly [string, string])[] = [
    ["type", type],
    ["description", quote(description)],
  ];
  if (value !== undefined) lines.push(["default", expression(value)]);
  if (isSensitive === true) lines.push(["sensitive", "true"]);
  const width = Math.max(...lines.map(([attribute]) => attribute.length));
  const text = lines.map(([attribute, written]) => `  ${attribute.padEnd(width)} = ${written}`).join("\n");
  const validation = isNonEmptyList === true ? `\n\n${nonEmpty(name)}` : "";
  return `variable "${name}" {\n${text}${validation}\n}`;
}

function nonEmpty(name: string): string {
  return `  validation {
    condition     = length(var.${name}) > 0
    error_message = "Name at least one: an empty list would restrict nothing."
  }`;
}
