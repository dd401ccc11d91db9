import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createPracticeOrg } from "../../practice_org/create_practice_org.ts";
import { renderFiles } from "../../scanner/fix/fix_files.ts";
import { planFixes } from "../../scanner/fix/plan_fixes.ts";
import { failingOrg } from "./failing_org.ts";
import { orgUrl, startTerraform } from "./real_terraform.ts";
import { scanPracticeOrg } from "./scan_practice_org.ts";

/**
 * `npx node test/support/record_terraform_main.ts`: applies the plan of `failing_org.ts` with Terraform and the real provider, and writes what they sent
 * to `test/fixtures/terraform`. `real_terraform.ts` says what it needs.
 */

const fixtures = join(import.meta.dirname, "../fixtures/terraform");
const org = await createPracticeOrg({
  profile: failingOrg,
  role: "super",
  isWritable: true,
  publicUrl: orgUrl,
  rateLimit: { perWindow: 10_000 },
});
try {
  await using terraform = await startTerraform(org);
  const scan = await scanPracticeOrg(org);
  const plan = planFixes(scan.results, scan.document.artifacts);
  const origin = { orgUrl, collectedAt: scan.document.evaluated_at };
  const files = renderFiles(plan, origin);
  await terraform.write({ ...files, "terraform.tfvars": await readFile(join(fixtures, "terraform.tfvars"), "utf8") });
  const record = async (command: string, ...options: readonly string[]) => {
    const { summary, requests } = await terraform.run(command, ...options);
    console.info(summary);
    return requests;
  };
  const recorded = {
    recorded_from: "okta/okta 6.12.0 under Terraform 1.11.4",
    plan: await record("plan", "-out=plan.bin"),
    apply: await record("apply", "plan.bin"),
    second_plan: await record("plan", "-detailed-exitcode"),
  };
  await writeFile(join(fixtures, "requests.json"), `${JSON.stringify(recorded, null, 2)}\n`);
  for (const name of ["main.tf", "variables.tf"]) await writeFile(join(fixtures, name), files[name] ?? "");
} finally {
  await org.stop();
}
