import { catalog } from "../catalog/catalog.ts";
import type { CheckResult } from "../../shared/report.ts";
import { shorten } from "../../shared/text.ts";
import { markdownCell, markdownText } from "../reports/markdown_text.ts";
import { digestOf, marker, scopesOfRun, type Origin } from "./fix_files.ts";
import type { FixFolder } from "./fix_folder.ts";
import { expression } from "./hcl.ts";
import type { ByHand, Failed, FixPlan } from "./plan_draft.ts";
import { addressOf, type TerraformResource, type Variable } from "./terraform.ts";

export interface PlanPageInput {
  readonly plan: FixPlan;
  readonly results: readonly CheckResult[];
  readonly origin: Origin;
  readonly folder: Pick<FixFolder, "addresses" | "scopes" | "others">;
}

/** `plan.md`: what the plan does, who loses access, what a person decides, and what is left to the Admin Console. */
export function renderPlanPage({ plan, results, origin, folder }: PlanPageInput): string {
  const planned = new Set(plan.resources.map(addressOf));
  const kept = folder.addresses.filter((address) => !planned.has(address));
  const hasMain = plan.resources.length > 0 || kept.length > 0;
  const sections = [
    ...(plan.resources.length === 0 ? [nothingToPlan(plan)] : planSections(plan)),
    ...keptSection(kept),
    ...(hasMain ? useSections(plan, folder) : []),
    ...acceptedSection(plan.accepted),
    ...byHandSection(plan.byHand),
    ...unjudgedSection(results),
  ];
  const head = `# Fixes for ${markdownText(origin.orgUrl)}\n\n${marker}, from evidence of ${origin.collectedAt}. Nothing was changed in the org.\n`;
  const body = `\n${sections.join("\n\n")}\n`;
  return `${head}\n<!-- Digest of the lines below: ${digestOf(body)} -->\n${body}`;
}

function nothingToPlan({ byHand }: FixPlan): string {
  return byHand.length === 0
    ? "Every evaluated check passes or is waived: there is nothing to fix."
    : "Terraform cannot fix any of the failing findings.";
}

function keptSection(kept: readonly string[]): readonly string[] {
  if (kept.length === 0) return [];
  const text =
    "An earlier plan in this folder, or its Terraform state, has these resources. `main.tf` has a `removed` block for each, so that " +
    "`terraform apply` forgets it and leaves it unchanged in the org. Do not delete `main.tf` while the state has them: " +
    "Terraform would then destroy them.";
  return [`## Resources of earlier plans\n\n${text}\n\n${kept.map((address) => `- \`${address}\``).join("\n")}`];
}

function acceptedSection(accepted: readonly Failed[]): readonly string[] {
  if (accepted.length === 0) return [];
  const lines = accepted.map(
    ({ rule, finding }) => `- ${rule}: ${markdownText(finding.detail)} ${markdownText(finding.waiver?.reason ?? "")}`,
  );
  return [`## Waived, so not in the plan\n\n${lines.join("\n")}`];
}

function planSections(plan: FixPlan): readonly string[] {
  const imported = plan.resources.filter(({ importId }) => importId !== null).length;
  const created = plan.resources.length - imported;
  return [
    "## The plan",
    `\`main.tf\` imports ${imported} objects of the org and changes only the attributes below. It creates ${created} new objects. It destroys nothing, gives nobody new access, and weakens no sign-in.`,
    ...plan.resources.map((resource, index) => changeSection(resource, index + 1)),
    ...lossesSection(plan),
    ...(plan.variables.length === 0 ? [] : [variableTable(plan.variables)]),
  ];
}

/** More of a value than this is in `main.tf` only. */
const maxValueLength = 120;

/** One change: why, what, whom it concerns, and the way back. */
function changeSection(resource: TerraformResource, number: number): string {
  const { title, importId, warnings } = resource;
  const attributes = [resource.attributes, ...resource.blocks.map((block) => block.attributes)];
  const changed = attributes.flatMap((map) =>
    [...map].flatMap(([name, { value, change }]) => (change === null ? [] : [{ name, value, change }])),
  );
  const rules = [...new Set(changed.flatMap(({ change }) => change.rules))].sort();
  const about = [importId === null ? "new" : "imported", `for ${rules.join(", ")}`];
  const back =
    importId === null
      ? "To undo: delete the object in the Admin Console, and remove it from the state with `terraform state rm`."
      : "To undo: put the old values back into `main.tf`, and apply.";
  return [
    `### ${number}. ${markdownText(title)}`,
    "",
    `\`${addressOf(resource)}\`, ${about.join(", ")}`,
    "",
    ...changed.map(({ name, value, change }) => {
      const text = shorten(expression(value).replaceAll(/\s+/g, " "), maxValueLength);
      const now = text.startsWith("<<")
        ? "the file in `pages/`"
        : /^[\w ."()[\]{}=:,/…-]+$/.test(text)
          ? `\`${text}\``
          : markdownText(text);
      return `- \`${name}\`: ${markdownText(change.was)}, becomes ${now}`;
    }),
    ...warnings.map((warning) => `- ${markdownText(warning)}`),
    `- ${back}`,
  ].join("\n");
}

function lossesSection({ losses }: FixPlan): readonly string[] {
  if (losses.length === 0) return ["## Who loses access\n\nNobody loses access by a rule, a zone or a token."];
  return [`## Who loses access\n\n${losses.map(({ text }) => `- ${markdownText(text)}.`).join("\n")}`];
}

function useSections(plan: FixPlan, folder: Pick<FixFolder, "scopes" | "addresses" | "others">): readonly string[] {
  const scopes = scopesOfRun(plan, folder);
  // The default password policy is imported by ".", which is nothing to search for.
  const imported = plan.resources.flatMap(({ importId }) =>
    importId === null || importId === "." ? [] : [`\`${importId}\``],
  );
  return [
    "## How to use it",
    [
      `1. Give a separate service application, not the scanner's, these scopes and the role Super Administrator: ${scopes.map((scope) => `\`${scope}\``).join(", ")}.`,
      "2. Set `OKTA_API_CLIENT_ID` and `OKTA_API_PRIVATE_KEY` (the file of the key, or the key itself). Copy `terraform.tfvars.example` to `terraform.tfvars` and fill it in.",
      "3. `terraform init`, then `terraform plan`. Read the plan: it must destroy nothing, and change only the attributes above in the imported objects.",
      "4. `terraform apply`, and scan again.",
    ].join("\n"),
    "## State, backend and secrets",
    [
      "- The state contains every attribute that Terraform writes, in clear text: the names of objects, networks, sign-in pages, and the token of a log stream. Keep it in an encrypted backend that only the administrators of the org can read. Put the `backend` block into a separate file, such as `backend.tf`.",
      "- Never commit `terraform.tfvars`, `terraform.tfstate` or a plan file.",
      "- Keep the folder and its state together. You can run `fix` here again: it keeps the resources of earlier plans, and does not replace a file that you edited.",
      "- `fix` does not know whether another Terraform workspace manages an object. Search the state of your other workspaces for these ids before you apply, because two workspaces would undo each other's changes" +
        (imported.length === 0 ? "." : `: ${imported.join(", ")}.`),
      ...(folder.others.length === 0
        ? []
        : [
            `- This folder has files that \`fix\` did not write, and did not change: ${folder.others.map((name) => `\`${name}\``).join(", ")}. Terraform reads them together with the plan.`,
          ]),
    ].join("\n"),
  ];
}

function variableTable(variables: readonly Variable[]): string {
  const rows = variables.map(({ name, description, default: value }) => {
    const standard = value === undefined ? "none: set it" : value === null ? "unset" : `\`${JSON.stringify(value)}\``;
    return `| \`${name}\` | ${markdownCell(description)} | ${standard} |`;
  });
  return ["## Variables\n", "| variable | | default |", "|---|---|---|", ...rows].join("\n");
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
  return ["## Steps in the Admin Console", ...parts];
}

/** Without a verdict there is no plan, so the page names the reason. */
function unjudgedSection(results: readonly CheckResult[]): readonly string[] {
  const unjudged = results.filter(({ findings }) => findings.some(({ status }) => status === "MANUAL"));
  if (unjudged.length === 0) return [];
  const lines = unjudged.map(({ check, vuln_id: rule, findings }) => {
    const first = findings.find(({ status }) => status === "MANUAL");
    return `- ${rule} ${check}: ${markdownText(first?.detail ?? "")}`;
  });
  return [`## Manual review, so not in the plan\n\n${lines.join("\n")}`];
}
