import { createPracticeOrg } from "../../practice_org/create_practice_org.ts";
import { changes, createOrgState } from "../../practice_org/changes/admin_console.ts";
import type { OrgContents, Site } from "../../practice_org/contents/org_contents.ts";
import { profileContents } from "../../practice_org/contents/profile.ts";
import { availableValue, type CollectedArtifacts } from "../../scanner/evidence/artifacts.ts";
import { renderFiles } from "../../scanner/fix/fix_files.ts";
import { planFixes } from "../../scanner/fix/plan_fixes.ts";
import type { OrgAnswers } from "../verdicts/generated_orgs.ts";
import { paths } from "./compliant_org.ts";
import { denyingOrg, failingOrg } from "./failing_org.ts";
import { createRandom } from "./random.ts";
import { orgUrl, startTerraform } from "./real_terraform.ts";
import { scanPracticeOrg } from "./scan_practice_org.ts";
import { compareSignIns } from "./sign_ins.ts";

/**
 * `npx node test/support/apply_terraform_main.ts`: applies the plans of 20 practice orgs, changed at random, with Terraform and
 * the real provider, and prints what is wrong afterwards. `real_terraform.ts` says what it needs.
 */

const random = createRandom(Number(process.argv[2] ?? 1));
const recorded = (["typical", "edge", "empty"] as const).map((name) => (site: Site) => profileContents({ name }, site));
const profiles = [failingOrg, denyingOrg, ...recorded];

for (let number = 1; number <= 20; number += 1) {
  const problems = await applyOne(number);
  console.info(`${number}: ${problems.length === 0 ? "as planned" : problems.join("\n  ")}`);
}

async function applyOne(number: number): Promise<readonly string[]> {
  const org = await createPracticeOrg({
    profile: (site) => changedOrg(site, number),
    role: "super",
    isWritable: true,
    publicUrl: orgUrl,
    rateLimit: { perWindow: 100_000 },
  });
  try {
    await using terraform = await startTerraform(org);
    const before = await scanPracticeOrg(org);
    const plan = planFixes(before.results, before.document.artifacts);
    const files = renderFiles(plan, { orgUrl, collectedAt: before.document.evaluated_at });
    if (files["main.tf"] === undefined) return [];
    const zone = (text: string) => / is (\S+?)[.,]/.exec(text)?.[1] ?? "";
    const given = plan.variables
      .filter(({ name }) => !/^log_stream_(?!type)/.test(name))
      .map(
        ({ name, type, description }) => [name, type === "string" ? "aws_eventbridge" : [zone(description)]] as const,
      );
    const stream = {
      log_stream_account_id: "123456789012",
      log_stream_event_source_name: "siem",
      log_stream_region: "us-east-1",
    };
    const values = {
      ...Object.fromEntries(given),
      ...(plan.variables.some(({ name }) => name === "log_stream_type") && stream),
    };
    await terraform.write({ ...files, "terraform.tfvars.json": JSON.stringify(values) });
    const summaries = [];
    for (const options of [
      ["plan", "-out=plan.bin"],
      ["apply", "plan.bin"],
      ["plan", "-detailed-exitcode"],
    ]) {
      const [command = "", ...others] = options;
      summaries.push((await terraform.run(command, ...others)).summary);
    }
    console.info(`   ${summaries.join("\n   ")}`);
    const after = await scanPracticeOrg(org);
    const fixed = new Set(plan.fixed.map(({ finding }) => finding.fingerprint));
    const still = after.results.flatMap(({ findings }) =>
      findings.filter(({ status, fingerprint }) => status === "FAIL" && fixed.has(fingerprint)),
    );
    const again = planFixes(after.results, after.document.artifacts).resources;
    return [
      ...compareSignIns(answersOf(before.document.artifacts), answersOf(after.document.artifacts), random),
      ...(/ 0 destroyed/.test(summaries[1] ?? "") ? [] : ["something was destroyed"]),
      ...(summaries[2]?.startsWith("No changes") ? [] : ["the second plan of Terraform has changes"]),
      ...still.map(({ detail }) => `still fails: ${detail}`),
      ...again.map(({ title }) => `planned again: ${title}`),
    ];
  } catch (error) {
    return [
      error instanceof Error ? `${error.message}\n${String((error as { stderr?: string }).stderr)}` : String(error),
    ];
  } finally {
    await org.stop();
  }
}

function changedOrg(site: Site, number: number): OrgContents {
  const profile = profiles[number % profiles.length] ?? failingOrg;
  const state = createOrgState(profile(site), { site, clock: Date.now });
  for (const change of changes) if (random() < 0.3 && state.isPossible(change)) state.change(change.name);
  return state.contents();
}

/** The answers that sign-ins are about. */
function answersOf(artifacts: CollectedArtifacts): OrgAnswers {
  const { apps, app_policy_rules: byId, global_session_policies: sessions } = artifacts;
  const rules = Object.entries((byId === undefined ? null : availableValue(byId)) ?? {});
  const policies = sessions === undefined ? [] : (availableValue(sessions) ?? []);
  return Object.fromEntries([
    [paths.apps, apps === undefined ? [] : availableValue(apps)],
    [paths.signOn, policies.map(({ policy }) => policy)],
    ...[...rules, ...policies.map(({ policy, rules: own }) => [String(policy["id"]), own] as const)].map(
      ([id, own]) => [`/api/v1/policies/${id}/rules`, own === null ? [] : availableValue(own)],
    ),
  ]);
}
