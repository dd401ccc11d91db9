import { catalog } from "../../../scanner/catalog/catalog.ts";
import { findCheck } from "../../../scanner/catalog/select_checks.ts";
import type { ParameterValues } from "../../../scanner/checks/parameter.ts";
import { evaluateCheck } from "../../../scanner/evaluate.ts";
import {
  availableValue,
  obtained,
  type CollectedArtifacts,
  type Evidence,
} from "../../../scanner/evidence/artifacts.ts";
import { planFixes, type FixPlan } from "../../../scanner/fix/plan_fixes.ts";
import type { TerraformResource } from "../../../scanner/fix/terraform.ts";
import type { JsonObject } from "../../../shared/json.ts";
import type { PracticeOrgOptions } from "../../../practice_org/create_practice_org.ts";
import { startOrg } from "../../practice_org/start_org.ts";
import { context } from "../../support/artifact_builders.ts";
import { denyingOrg, failingOrg } from "../../support/failing_org.ts";
import { scanPracticeOrg } from "../../support/scan_practice_org.ts";

/** Plans of practice orgs. */

async function artifactsOf(profile: PracticeOrgOptions["profile"]): Promise<CollectedArtifacts> {
  return (await scanPracticeOrg(await startOrg({ profile }))).document.artifacts;
}

export function planOf(artifacts: CollectedArtifacts, checks = catalog, parameters: ParameterValues = {}): FixPlan {
  const results = checks.map((check) => evaluateCheck(check, artifacts, { ...context, parameters }));
  return planFixes(results, artifacts, parameters);
}

/** The plan of one check. */
export function planFor(name: string, artifacts: CollectedArtifacts): FixPlan {
  return planOf(artifacts, [findCheck(name)]);
}

export const typical = artifactsOf({ name: "typical" });
export const failing = artifactsOf(failingOrg);
export const denying = artifactsOf(denyingOrg);

export function find(plan: FixPlan, title: string): TerraformResource {
  const found = plan.resources.find((resource) => resource.title.includes(title));
  if (found === undefined) throw new Error(`No ${title} among ${plan.resources.map((item) => item.title).join(", ")}`);
  return found;
}

export function editEach<Item>(
  evidence: Evidence<readonly Item[]> | undefined,
  edit: (item: Item) => Item,
): Evidence<readonly Item[]> {
  return obtained((evidence === undefined ? [] : (availableValue(evidence) ?? [])).map((item) => edit(item)));
}

/** The failing org with each object of a list edited. */
export async function failingWith(
  name: "api_tokens" | "authenticators" | "password_policies",
  edit: (object: JsonObject) => JsonObject,
): Promise<CollectedArtifacts> {
  const artifacts = await failing;
  return { ...artifacts, [name]: editEach(artifacts[name], edit) };
}
