import { catalog } from "../catalog/catalog.ts";
import type { CheckResult } from "../../shared/report.ts";
import { markdownCell, markdownText } from "../reports/markdown_text.ts";
import { marker, scopesOf, type Origin } from "./fix_files.ts";
import type { ByHand, FixPlan } from "./plan_draft.ts";
import { addressOf, type Variable } from "./terraform.ts";

export interface ReadmeInput {
  readonly plan: FixPlan;
  readonly results: readonly CheckResult[];
  readonly origin: Origin;
  /** A `main.tf` of an earlier plan lies beside it. */
  readonly hasStaleMain: boolean;
}

/** `README.md`: what the plan does, what a person decides, and what is left to the Admin Console. */
export function renderReadme({ plan, results, origin, hasStaleMain }: ReadmeInput): string {
  const sections = [
    `# Fixes for ${markdownText(origin.orgUrl)}`,
    `${marker}, from evidence of ${origin.collectedAt}. Nothing was changed in the org.`,
    ...(hasStaleMain ? ["`main.tf` is of an earlier plan, and nothing needs it any more: remove it."] : []),
    ...(plan.resources.length === 0 ? [nothingToPlan(plan)] : planSections(plan)),
    ...byHandSection(plan.byHand),
    ...unjudgedSection(results),
  ];
  return `${sections.join("\n\n")}\n`;
}

function nothingToPlan({ byHand }: FixPlan): string {
  return byHand.length === 0
    ? "Nothing fails of what was judged: there is nothing to fix."
    : "Nothing of what fails can be fixed with Terraform, so there is no `main.tf`.";
}

function planSections(plan: FixPlan): readonly string[] {
  const imported = plan.resources.filter(({ importId }) => importId !== null).length;
  const created = plan.resources.length - imported;
  const scopes = [...new Set(plan.resources.flatMap(({ type }) => scopesOf(type)))].sort();
  const rows = plan.resources.map((resource) => {
    const attributes = [resource.attributes, ...resource.blocks.map((block) => block.attributes)];
    const changed = attributes.flatMap((map) => [...map].filter(([, { change }]) => change !== null));
    const rules = [...new Set(changed.flatMap(([, { change }]) => change?.rules ?? []))].sort();
    const names = [...new Set(changed.map(([name]) => `\`${name}\``))];
    const how = resource.importId === null ? "new" : "imported";
    return `| \`${addressOf(resource)}\` | ${markdownCell(resource.title)} | ${how} | ${names.join(", ")} | ${rules.join(", ")} |`;
  });
  const warnings = plan.resources.flatMap(({ title, warnings: all }) =>
    all.map((warning) => `- ${markdownText(title)}: ${markdownText(warning)}`),
  );
  return [
    "## The plan",
    `\`main.tf\` imports ${imported} of the org's objects as a whole, changes only the attributes below in them, and makes ${created} new ones. It destroys nothing.`,
    ["| resource | what it is | | sets | rules |", "|---|---|---|---|---|", ...rows].join("\n"),
    ...(warnings.length === 0 ? [] : [`## Read before you apply\n\n${warnings.join("\n")}`]),
    ...(plan.variables.length === 0 ? [] : [variableTable(plan.variables)]),
    "## How to use it",
    [
      `1. Give a service application of your own, not the scanner's, these scopes and the role Super Administrator: ${scopes.map((scope) => `\`${scope}\``).join(", ")}.`,
      "2. Set `OKTA_API_CLIENT_ID` and `OKTA_API_PRIVATE_KEY` (the key itself, PEM), and the variables above in `terraform.tfvars`.",
      "3. `terraform init`, then `terraform plan`. Read the plan: it must destroy nothing, and change in what it imports only the attributes above.",
      "4. `terraform apply`, and scan again.",
    ].join("\n"),
  ];
}

function variableTable(variables: readonly Variable[]): string {
  const rows = variables.map(({ name, description, default: value }) => {
    const standard =
      value === undefined ? "you have to set it" : value === null ? "unset" : `\`${JSON.stringify(value)}\``;
    return `| \`${name}\` | ${markdownCell(description)} | ${standard} |`;
  });
  return ["## What you decide\n", "| variable | | default |", "|---|---|---|", ...rows].join("\n");
}

function byHandSection(byHand: readonly ByHand[]): readonly string[] {
  if (byHand.length === 0) return [];
  const parts = catalog.flatMap((check) => {
    const ofCheck = byHand.filter((item) => item.check === check.name);
    if (ofCheck.length === 0) return [];
    const findings = ofCheck.map(
      ({ finding, why }) => `- ${markdownText(finding.detail)} Not in the plan: ${markdownText(why)}.`,
    );
    const steps = check.explanation.fix.map((step, index) => `${index + 1}. ${step}`);
    return [`### ${check.rule.vuln_id} ${check.name}\n\n${findings.join("\n")}\n\n${steps.join("\n")}`];
  });
  return ["## By hand, in the Admin Console", ...parts];
}

/** A verdict that was not reached is no plan: what is missing is said. */
function unjudgedSection(results: readonly CheckResult[]): readonly string[] {
  const unjudged = results.filter(({ findings }) => findings.some(({ status }) => status === "MANUAL"));
  if (unjudged.length === 0) return [];
  const lines = unjudged.map(({ check, vuln_id: rule, findings }) => {
    const first = findings.find(({ status }) => status === "MANUAL");
    return `- ${rule} ${check}: ${markdownText(first?.detail ?? "")}`;
  });
  return [`## For a person to judge, so not planned\n\n${lines.join("\n")}`];
}
