import { catalog } from "../../../scanner/catalog/catalog.ts";
import { evaluateCheck } from "../../../scanner/evaluate.ts";
import {
  availableValue,
  obtained,
  type CollectedArtifacts,
  type Evidence,
  type JsonList,
} from "../../../scanner/evidence/artifacts.ts";
import type { FixPlan } from "../../../scanner/fix/plan_draft.ts";
import { planFixes } from "../../../scanner/fix/plan_fixes.ts";
import type { Attributes, TerraformResource, Value } from "../../../scanner/fix/terraform.ts";
import type { OrgContents, Site } from "../../../practice_org/objects/org_contents.ts";
import { typicalOrg } from "../../../practice_org/profiles/typical.ts";
import { startOrg } from "../../practice_org/start_org.ts";
import { context } from "../../support/artifact_builders.ts";
import { failingOrg } from "../../support/failing_org.ts";
import { scanPracticeOrg } from "../../support/scan_practice_org.ts";

/** Plans of two practice orgs. */

async function artifactsOf(profile: (site: Site) => OrgContents): Promise<CollectedArtifacts> {
  return (await scanPracticeOrg(await startOrg({ profile }))).document.artifacts;
}

export function planOf(artifacts: CollectedArtifacts, checks = catalog): FixPlan {
  return planFixes(
    checks.map((check) => evaluateCheck(check, artifacts, context)),
    artifacts,
  );
}

export const typical = artifactsOf(typicalOrg);
export const failing = artifactsOf(failingOrg);

export function find(plan: FixPlan, title: string): TerraformResource {
  const found = plan.resources.find((resource) => resource.title.includes(title));
  if (found === undefined) throw new Error(`No ${title} among ${plan.resources.map((item) => item.title).join(", ")}`);
  return found;
}

export function changed(attributes: Attributes): Readonly<Record<string, Value>> {
  return Object.fromEntries(
    [...attributes].flatMap(([name, { value, change }]) => (change === null ? [] : [[name, value]])),
  );
}

export function editEach<Item>(
  evidence: Evidence<readonly Item[]> | undefined,
  edit: (item: Item) => Item,
): Evidence<readonly Item[]> {
  return obtained((evidence === undefined ? [] : (availableValue(evidence) ?? [])).map((item) => edit(item)));
}

export function policiesOf({ password_policies: policies }: CollectedArtifacts): JsonList {
  return policies === undefined ? [] : (availableValue(policies) ?? []);
}
