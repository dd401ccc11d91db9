import { createHash } from "node:crypto";
import { attributeLines, comment, expression, quote } from "./hcl.ts";
import type { FixPlan } from "./plan_draft.ts";
import { addressOf, type Attributes, type TerraformResource, type Variable } from "./terraform.ts";

/** What the files say about where they come from. */
export interface Origin {
  readonly orgUrl: string;
  /** ISO 8601, UTC: when the evidence was collected. */
  readonly collectedAt: string;
}

/** What an earlier run left in the folder. */
export interface EarlierRun {
  /** The addresses of its resources, and of resources in a state file next to it. */
  readonly addresses: readonly string[];
  /** The scopes of its provider. */
  readonly scopes: readonly string[];
}

const noEarlierRun: EarlierRun = { addresses: [], scopes: [] };

/** The beginning of each file: a file without it is not ours, and is not replaced. */
export const marker = "Written by scanstream fix";

/** The files of a plan by name. A folder that held an earlier plan always gets a `main.tf`, which keeps its objects. */
export function renderFiles(plan: FixPlan, origin: Origin, earlier: EarlierRun): Readonly<Record<string, string>> {
  const hasMain = plan.resources.length > 0 || earlier.addresses.length > 0;
  return {
    ...Object.fromEntries(pagesOf(plan)),
    ...(hasMain
      ? {
          "main.tf": renderMain(plan, origin, earlier),
          "variables.tf": renderVariables(plan, origin),
          "terraform.tfvars.example": renderExample(plan, origin),
        }
      : {}),
  };
}

/** `main.tf`: the provider, and every resource next to its import block. */
export function renderMain(plan: FixPlan, origin: Origin, earlier: EarlierRun = noEarlierRun): string {
  const header = [
    `# ${marker} for ${origin.orgUrl}, from evidence of ${origin.collectedAt}.`,
    "# Each changed value has the rule and the old value above it. Nothing is applied until you run terraform apply.",
    ...pagesOf(plan).map(([name, text]) => `# ${name} ${digestOf(text)}`),
  ].join("\n");
  const planned = new Set(plan.resources.map(addressOf));
  const kept = earlier.addresses.filter((address) => !planned.has(address));
  const blocks = [
    terraformBlock,
    providerBlock(scopesOfRun(plan, earlier), origin),
    ...plan.resources.map(resourceBlocks),
    ...kept.map(removedBlock),
  ];
  return sealed(`${header}\n`, `\n${blocks.join("\n\n")}\n`);
}

/** The scopes that the provider requests. They include those it needs to read the objects of an earlier plan. */
export function scopesOfRun({ resources }: FixPlan, { scopes }: EarlierRun): readonly string[] {
  return [...new Set([...scopes, ...resources.flatMap(({ type }) => scopesOf(type))])].sort();
}

/** Removes an object from the state, and leaves it in the org, because the plan no longer has it. */
function removedBlock(address: string): string {
  return [
    "# An earlier plan had this resource. Terraform removes it from the state and leaves the object in the org unchanged.",
    `removed {\n  from = ${address}\n\n  lifecycle {\n    destroy = false\n  }\n}`,
  ].join("\n");
}

/** The text with a digest, which shows later whether somebody edited the file. */
function sealed(head: string, body: string): string {
  return `${head}# Digest of the lines below: ${digestOf(body)}\n${body}`;
}

/** Whether `fix` wrote the text and nobody edited it since. */
export function isAsWritten(text: string): boolean {
  const found = /^(?:# |<!-- )Digest of the lines below: (sha256:[0-9a-f]{64})(?: -->)?\n/m.exec(text);
  return found !== null && digestOf(text.slice(found.index + found[0].length)) === found[1];
}

export function digestOf(text: string): string {
  return `sha256:${createHash("sha256").update(text).digest("hex")}`;
}

/** The sign-in pages, each in a separate file. */
function pagesOf({ resources }: FixPlan): readonly (readonly [name: string, text: string])[] {
  return resources.flatMap((resource) =>
    [...resource.attributes.values()].flatMap(({ value }) =>
      typeof value === "object" && "kind" in value && value.kind === "page"
        ? [[pageName(resource), value.text] as const]
        : [],
    ),
  );
}

function pageName({ name }: TerraformResource): string {
  return `pages/${name}.html`;
}

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
  const lines = [
    ["org_name", quote(name)],
    ["base_url", quote(domain.join("."))],
    // A practice org: the provider reaches one without TLS as its proxy only.
    ...(protocol === "http:" ? [["http_proxy", quote(origin)] as const] : []),
    ["scopes", expression(scopes)],
  ] as const;
  const width = Math.max(...lines.map(([attribute]) => attribute.length));
  const attributes = lines.map(([attribute, value]) => `  ${attribute.padEnd(width)} = ${value}`);
  return `provider "okta" {\n${attributes.join("\n")}\n}`;
}

/** The scopes that the provider's application needs for resources of a type. */
function scopesOf(type: string): readonly string[] {
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

function resourceBlock(resource: TerraformResource): string {
  const { type, name, blocks, lifecycle, dependsOn } = resource;
  const parts = [
    attributeLines(withPageFiles(resource), "  "),
    ...blocks.map((block) => `  ${block.name} {\n${attributeLines(block.attributes, "    ")}\n  }`),
    ...(dependsOn.length === 0 ? [] : [`  depends_on = [${dependsOn.join(", ")}]`]),
    ...lifecycleLines(lifecycle),
  ];
  return `resource "${type}" "${name}" {\n${parts.join("\n\n")}\n}`;
}

function withPageFiles(resource: TerraformResource): Attributes {
  const entries = [...resource.attributes].map(([name, { value, change }]) => {
    const isPage = typeof value === "object" && "kind" in value && value.kind === "page";
    const file = { kind: "reference", to: `file("\${path.module}/${pageName(resource)}")` } as const;
    return [name, { value: isPage ? file : value, change }] as const;
  });
  return new Map(entries);
}

function lifecycleLines({ preventDestroy, ignoreChanges = [] }: TerraformResource["lifecycle"]): readonly string[] {
  const lines = [
    ...(preventDestroy === true ? ["    prevent_destroy = true"] : []),
    ...(ignoreChanges.length === 0 ? [] : [`    ignore_changes = [${ignoreChanges.join(", ")}]`]),
  ];
  return lines.length === 0 ? [] : [`  lifecycle {\n${lines.join("\n")}\n  }`];
}

/** `variables.tf`: the values that a person has to choose. */
export function renderVariables({ variables }: FixPlan, { orgUrl }: Origin): string {
  const header = `# ${marker} for ${orgUrl}: the values that you have to choose.\n`;
  const blocks = variables.map(variableBlock);
  return sealed(header, `\n${(blocks.length === 0 ? ["# This plan has no variables."] : blocks).join("\n\n")}\n`);
}

/** `terraform.tfvars.example`: to be copied to `terraform.tfvars` and filled in. */
function renderExample({ variables }: FixPlan, { orgUrl }: Origin): string {
  const header = `# ${marker} for ${orgUrl}: copy this file to terraform.tfvars and fill it in.\n`;
  const lines = variables.map(({ name, type, description, default: value, isSensitive }) => {
    if (isSensitive === true) return `${comment(description)}\n# export TF_VAR_${name}=…`;
    const text = `${name} = ${type === "string" ? '""' : "[]"}`;
    return `${comment(description)}\n${value === undefined ? text : `# ${text}`}`;
  });
  return sealed(header, `\n${lines.join("\n\n")}\n`);
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
    error_message = "List at least one value: an empty list restricts nothing."
  }`;
}
