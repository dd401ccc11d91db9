import { numbersText } from "../../shared/causes.ts";
import type { CollectedArtifacts } from "../evidence/artifacts.ts";
import { countOf } from "../../shared/outcome_text.ts";
import type { CheckResult } from "../../shared/report.ts";
import { shorten } from "../../shared/text.ts";
import { causesOf } from "../causes/causes.ts";
import { levelOf } from "../reports/report_format.ts";
import { changeLines, type ChangeList } from "../reports/statement.ts";
import { markdownCell, markdownText } from "../reports/markdown_text.ts";
import { scopesOf, type Origin } from "./fix_files.ts";
import { expression } from "./hcl.ts";
import { manualSteps } from "./manual_steps.ts";
import type { ByHand, FixPlan } from "./plan_fixes.ts";
import type { Failed } from "./planned_change.ts";
import { addressOf, type TerraformResource, type Value, type Variable } from "./terraform.ts";

export interface PlanPageInput {
  readonly plan: FixPlan;
  readonly results: readonly CheckResult[];
  readonly artifacts: CollectedArtifacts;
  readonly origin: Origin;
}

/** `plan.md`: what the plan changes, what a person decides, and the steps in the Admin Console. */
export function renderPlanPage({ plan, results, artifacts, origin }: PlanPageInput): string {
  const list = changeLines({ checks: results, causes: causesOf(results, artifacts) });
  const numbers = new Map(list.changes.map(({ id, number }) => [id, number]));
  const sections = [
    `# Fixes for ${markdownText(origin.orgUrl)}`,
    `Written by scanstream fix, from evidence of ${origin.collectedAt}. Nothing was changed in the org.`,
    ...changeList(list, plan),
    ...(plan.resources.length === 0 ? [nothingToPlan(plan)] : planSections(plan, numbers)),
    ...acceptedSection(plan.accepted),
    ...byHandSection(plan.byHand, artifacts),
    ...manualSection(results, plan),
  ];
  return `${sections.join("\n\n")}\n`;
}

function nothingToPlan({ byHand }: FixPlan): string {
  return byHand.length === 0
    ? "Every evaluated rule passes or is waived: there is nothing to fix."
    : "Terraform cannot fix any of the failing findings.";
}

/** The changes as every report numbers them, and the part of this plan that makes each. */
function changeList({ headline, changes }: ChangeList, plan: FixPlan): readonly string[] {
  if (changes.length === 0) return [];
  const byHand = Map.groupBy(plan.byHand, ({ finding }) => finding.cause);
  const lines = changes.map(({ number, id, change, closes }) => {
    const addresses = plan.resources.filter(({ causes }) => causes.includes(id)).map(addressOf);
    const rules = new Set(byHand.get(id)?.map(({ check }) => check.rule.vuln_id));
    const places = [
      ...addresses.map((address) => `\`${address}\``),
      ...(rules.size === 0 ? [] : [`steps below for ${[...rules].join(", ")}`]),
    ];
    return `${number}. ${markdownText(change)} (${closes}): ${places.join("; ")}`;
  });
  return [`**${headline}:**`, lines.join("\n")];
}

function acceptedSection(accepted: readonly Failed[]): readonly string[] {
  if (accepted.length === 0) return [];
  const lines = accepted.map(
    ({ check, finding }) =>
      `- ${check.rule.vuln_id} ${levelOf(check.rule)}: ${markdownText(finding.detail)} ${markdownText(finding.waiver?.reason ?? "")}`,
  );
  return [`## Waived, so not in the plan\n\n${lines.join("\n")}`];
}

function planSections(plan: FixPlan, numbers: ReadonlyMap<string, number>): readonly string[] {
  const imported = plan.resources.filter(({ importId }) => importId !== null).length;
  return [
    "## The plan",
    `\`main.tf\` imports ${countOf(imported, "object")} of the org, and creates ${plan.resources.length - imported}. Each change makes one object stricter. ` +
      "Who a rule applies to stays as it is, and nothing is destroyed.",
    ...plan.resources
      .map((resource) => {
        const changes = resource.causes.flatMap((id) => numbers.get(id) ?? []);
        return { resource, changes: changes.toSorted((one, other) => one - other) };
      })
      .toSorted((one, other) => (one.changes[0] ?? Infinity) - (other.changes[0] ?? Infinity))
      .map(({ resource, changes }) => changeSection(resource, changes)),
    ...(plan.variables.length === 0 ? [] : [variableTable(plan.variables)]),
    ...useSections(plan),
  ];
}

/** One resource: why, what, whom it concerns, and the way back. `changes` are the numbers of those that it makes. */
function changeSection(resource: TerraformResource, changes: readonly number[]): string {
  const { title, importId, warnings, attributes } = resource;
  const rules = new Set([...attributes.values()].flatMap(({ change }) => change?.rules ?? []));
  const back =
    importId === null
      ? "To undo: delete the object in the Admin Console, and remove it from the state with `terraform state rm`."
      : "To undo: put the old values into `main.tf`, and apply.";
  return [
    `### ${changes.length === 0 ? "" : `${numbersText(changes, "Change")}: `}${markdownText(title)}`,
    "",
    `\`${addressOf(resource)}\`, ${importId === null ? "new" : "imported"}, for ${[...rules].sort().join(", ")}`,
    "",
    ...[...attributes].flatMap(([name, { value, change }]) =>
      change === null ? [] : [`- \`${name}\`: ${markdownText(change.was)}, becomes ${valueText(value)}`],
    ),
    ...warnings.map((warning) => `- ${markdownText(warning)}`),
    `- ${back}`,
  ].join("\n");
}

/** More of a value than this is in `main.tf` only. */
const maxValueLength = 120;

function valueText(value: Value): string {
  if (typeof value === "object" && "kind" in value && value.kind === "file") return `\`${value.path}\``;
  const text = shorten(expression(value).replaceAll(/\s+/g, " "), maxValueLength);
  return /^[\w ."()[\]{}=:,/…-]+$/.test(text) ? `\`${text}\`` : markdownText(text);
}

function useSections(plan: FixPlan): readonly string[] {
  const scopes = scopesOf(plan).map((scope) => `\`${scope}\``);
  const steps = [
    `Give a separate service app, not the scanner's, the role Super Administrator and these scopes: ${scopes.join(", ")}.`,
    "Set `OKTA_API_CLIENT_ID` and `OKTA_API_PRIVATE_KEY` (the file of the key, or the key itself).",
    ...(plan.variables.length === 0 ? [] : ["Copy `terraform.tfvars.example` to `terraform.tfvars`, and fill it in."]),
    "Run `terraform init`, then `terraform plan`. It must destroy nothing, and change only the attributes above in the imported objects. If it shows another old value, run `scanstream fix --fresh` with a new folder: somebody may have made it stricter.",
    "Run `terraform apply`, and scan again.",
  ];
  return [
    "## How to use it",
    steps.map((step, index) => `${index + 1}. ${step}`).join("\n"),
    "## State, backend and secrets",
    [
      "- The state contains what Terraform reads and writes in clear text: names of objects, networks, sign-in pages, and the token of a log stream. Keep it in an encrypted backend that only the administrators of the org can read. Put the `backend` block into a separate file, such as `backend.tf`.",
      "- Never commit `terraform.tfvars`, `terraform.tfstate` or a plan file.",
      "- Keep the folder and its state together. The next plan goes into a new folder.",
      "- If another Terraform workspace manages one of these objects, make the change there: two workspaces would undo each other's changes.",
    ].join("\n"),
  ];
}

function variableTable(variables: readonly Variable[]): string {
  const rows = variables.map(
    ({ name, description, default: value }) =>
      `| \`${name}\` | ${markdownCell(description)} | ${value === undefined ? "none: set it" : "unset"} |`,
  );
  return ["## Variables\n", "| variable | | default |", "|---|---|---|", ...rows].join("\n");
}

function byHandSection(byHand: readonly ByHand[], artifacts: CollectedArtifacts): readonly string[] {
  if (byHand.length === 0) return [];
  const parts = [...Map.groupBy(byHand, ({ check }) => check)].map(([check, failed]) => {
    const reasons = [...Map.groupBy(failed, ({ why }) => why)].flatMap(([why, items]) => [
      `Not in the plan: ${markdownText(why)}.`,
      items.map(({ finding }) => `- ${markdownText(`${finding.resource.name}: ${finding.actual}`)}`).join("\n"),
    ]);
    const steps = manualSteps(check, failed, artifacts).map(
      // Inside of a line it is not markup.
      (step, index) => `${index + 1}. ${markdownText(step).replaceAll("&gt;", ">")}`,
    );
    return [
      `### ${check.rule.vuln_id} ${levelOf(check.rule)} ${markdownText(check.rule.title)}`,
      ...reasons,
      steps.join("\n"),
    ].join("\n\n");
  });
  return ["## Steps in the Admin Console", ...parts];
}

/** The rules that a person has to review first. */
function manualSection(results: readonly CheckResult[], { fixed }: FixPlan): readonly string[] {
  const planned = new Set(fixed.map(({ finding }) => finding));
  const lines = results.flatMap((result) => {
    const first = result.findings.find((finding) => finding.status === "MANUAL" && !planned.has(finding));
    return first === undefined || result.attestation !== null
      ? []
      : [`- ${result.vuln_id} ${levelOf(result)}: ${markdownText(first.detail)}`];
  });
  return lines.length === 0 ? [] : [`## Manual review, so not in the plan\n\n${lines.join("\n")}`];
}
