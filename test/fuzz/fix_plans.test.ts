import { expect, test } from "vitest";
import { renderMain } from "../../scanner/fix/fix_files.ts";
import { planFixes } from "../../scanner/fix/plan_fixes.ts";
import { addressOf } from "../../scanner/fix/terraform.ts";
import { applyPlan } from "../support/applied_plan.ts";
import { createRandom } from "../support/random.ts";
import { compareSignIns } from "../support/sign_ins.ts";
import { problemsOf } from "../support/terraform_schema.ts";
import { answering, createOrgGenerator, type OrgAnswers } from "../verdicts/generated_orgs.ts";
import { scanAnswers } from "../verdicts/scan_answers.ts";
import { fuzzed } from "./fuzzed.ts";

/** `npm run test:nightly` tries 10,000. */
const orgs = Number(process.env["FUZZ_ORGS"] ?? 100);

test(
  "an applied plan allows no sign-in that was denied, asks none for less, fixes what it says, and leaves nothing to plan",
  { timeout: 600_000 + orgs * 1000 },
  async () => {
    const random = createRandom(fuzzed(orgs).seed);
    const generate = createOrgGenerator(random);
    const problems = new Set<string>();
    let changed = 0;
    for (let number = 0; number < orgs; number += 1) {
      const before = generate();
      const { results, artifacts } = await scanOrg(before);
      const plan = planFixes(results, artifacts);
      renderMain(plan, { orgUrl: "https://acme.okta.com", collectedAt: "" });
      for (const problem of problemsOf(plan)) problems.add(problem);
      if (plan.resources.length === 0) continue;
      changed += 1;
      const after = applyPlan(before, plan);
      for (const problem of compareSignIns(before, after, random)) problems.add(`${number}: ${problem}`);
      const scanned = await scanOrg(after);
      for (const { check, finding } of plan.fixed) {
        const findings = scanned.results.find((result) => result.check === check.name)?.findings ?? [];
        const still = findings.find(
          ({ status, fingerprint }) => status === "FAIL" && fingerprint === finding.fingerprint,
        );
        if (still !== undefined) problems.add(`${number}: ${check.name} still fails: ${still.detail}`);
      }
      const second = planFixes(scanned.results, scanned.artifacts);
      for (const resource of second.resources) problems.add(`${number}: planned again: ${addressOf(resource)}`);
    }
    expect(changed).toBeGreaterThan(orgs / 10);
    expect([...problems]).toEqual([]);
  },
);

async function scanOrg(org: OrgAnswers) {
  const conclusion = await scanAnswers(answering(org), { clientId: "0oaGenerated" });
  if ("notScanned" in conclusion) throw new Error(conclusion.notScanned);
  return { results: conclusion.results, artifacts: conclusion.document.artifacts };
}
