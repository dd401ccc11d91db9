import { isDeepStrictEqual } from "node:util";
import { catalog } from "../../scanner/catalog/catalog.ts";
import type { OrgContents } from "../../practice_org/objects/org_contents.ts";
import { createPracticeOrg, type PracticeOrg } from "../../practice_org/create_practice_org.ts";
import { renderFiles } from "../../scanner/fix/fix_files.ts";
import { readFixFolder } from "../../scanner/fix/fix_folder.ts";
import type { FixPlan } from "../../scanner/fix/plan_draft.ts";
import { planFixes } from "../../scanner/fix/plan_fixes.ts";
import type { JsonObject } from "../../shared/json.ts";
import { disorderedOrg } from "./disordered_org.ts";
import { createRandom } from "./random.ts";
import { orgUrl, startTerraform, type RealTerraform } from "./real_terraform.ts";
import { scanPracticeOrg } from "./scan_practice_org.ts";
import { compareSignIns, zonesOfEverybody } from "./sign_ins.ts";

/**
 * `npx node test/support/apply_orgs_main.ts`: applies plans to FIX_ORGS practice orgs (default 30) with Terraform and the real provider, in two
 * stages in the same folder: half of the checks, then all of them. `real_terraform.ts` says what it needs. Exit code 1 where
 * a plan destroys, does not settle, does not fix what it says, touches what it does not name, or moves who may do what.
 */

const count = Number(process.env["FIX_ORGS"] ?? 30);
const seed = Number(process.env["FUZZ_SEED"] ?? 20_261_124);
let random = createRandom(seed);
const totals = { stages: 0, imported: 0, made: 0, problems: 0 };
for (let number = 0; number < count; number += 1) {
  random = createRandom(seed + number);
  const role = random() < 0.25 ? "read-only" : "super";
  const org = await createPracticeOrg({
    profile: disorderedOrg(random),
    role,
    isWritable: true,
    publicUrl: orgUrl,
    rateLimit: { perWindow: 100_000 },
  });
  try {
    await using terraform = await startTerraform(org);
    const { name } = org.contents();
    const half = new Set(catalog.filter(() => random() < 0.5).map(({ name: check }) => check));
    for (const checks of [half, null]) {
      const said = await stage(org, terraform, checks).catch((error: unknown) => [String(error)]);
      for (const problem of said) console.error(`FUZZ_SEED=${seed + number} (${name}, ${role}): ${problem}`);
      totals.problems += said.length;
    }
  } finally {
    await org.stop();
  }
}
console.info(JSON.stringify({ orgs: count, seed, ...totals }));
process.exitCode = totals.problems === 0 ? 0 : 1;

/** What is wrong with the plan for these checks (null: all), as the provider carries it out. */
async function stage(
  org: PracticeOrg,
  terraform: RealTerraform,
  checks: ReadonlySet<string> | null,
): Promise<readonly string[]> {
  const { results, document } = await scanPracticeOrg(org);
  const selected = checks === null ? results : results.filter(({ check }) => checks.has(check));
  const plan = planFixes(selected, document.artifacts);
  const before = org.contents();
  const origin = { orgUrl, collectedAt: document.evaluated_at };
  const files = renderFiles(plan, origin, await readFixFolder(terraform.folder));
  if (files["main.tf"] === undefined) return [];
  totals.stages += 1;
  await terraform.write({ ...files, "terraform.tfvars": valuesOf(plan, before) });
  const { summary: planned } = await terraform.run("plan", "-out=plan.bin");
  if (!/ 0 to destroy/.test(planned) && !planned.startsWith("No changes")) return [`plans ${planned}`];
  const imported = plan.resources.filter(({ importId }) => importId !== null).length;
  totals.imported += imported;
  totals.made += plan.resources.length - imported;
  await terraform.run("apply", "plan.bin");
  const again = await terraform
    .run("plan", "-detailed-exitcode")
    .catch((error: unknown) => ({ summary: String(error) }));
  const after = org.contents();
  const rescan = await scanPracticeOrg(org);
  const stillFailing = new Set(
    rescan.results.flatMap(({ check, findings }) =>
      findings.filter(({ status }) => status === "FAIL").map(({ resource }) => `${check} ${resource.id}`),
    ),
  );
  return [
    ...(again.summary.startsWith("No changes") ? [] : [`does not settle: ${again.summary}`]),
    ...plan.fixed
      .map(({ check, finding }) => `${check} ${finding.resource.id}`)
      .filter((finding) => stillFailing.has(finding))
      .map((finding) => `does not fix ${finding}`),
    ...untouchedProblems(plan, before, after),
    ...accessProblems(plan, before, after),
  ];
}

/** What a person enters: the first zones that are not built in. */
function valuesOf({ variables }: FixPlan, { zones }: OrgContents): string {
  const known: Readonly<Record<string, string>> = {
    approved_networks: `["198.51.100.0/24"]`,
    log_stream_account_id: `"123456789012"`,
    log_stream_event_source_name: `"siem"`,
    log_stream_region: `"us-east-1"`,
    log_stream_type: `"aws_eventbridge"`,
  };
  return variables
    .filter(({ isSensitive, default: value }) => isSensitive !== true && value === undefined)
    .map(({ name, description }) => {
      const ids = [...description.matchAll(/" is (nzo\w+)/g)].map(([, id]) => id);
      const chosen = ids[Math.floor(random() * ids.length)] ?? zones[0]?.id;
      return `${name} = ${known[name] ?? JSON.stringify([chosen])}\n`;
    })
    .join("");
}

/** Objects that changed, and that the plan does not name. */
function untouchedProblems(plan: FixPlan, before: OrgContents, after: OrgContents): readonly string[] {
  // The page of a brand that had none is new, and the brand is not.
  const named = new Set<unknown>(
    plan.resources.flatMap(({ importId, attributes }) => [
      ...(importId?.split("/") ?? []),
      attributes.get("brand_id")?.value,
    ]),
  );
  const objectsOf = (org: OrgContents): readonly JsonObject[] => [
    ...org.policies.flatMap(({ policy, rules }) => [policy, ...rules]),
    ...org.zones,
    ...org.authenticators,
    ...org.apiTokens,
    ...org.logStreams,
    ...org.brands.map(({ brand, customizedPage }) => ({ ...brand, customizedPage })),
  ];
  const now = new Map(objectsOf(after).map((object) => [object["id"], object]));
  const isSystemPassword = plan.resources.some(({ type }) => type === "okta_policy_password_default");
  return objectsOf(before).flatMap((object) => {
    const other = now.get(object["id"]);
    if (other === undefined) return [`removed ${String(object["id"])}`];
    const isNamed = named.has(object["id"]) || (isSystemPassword && object["name"] === "Default Policy");
    return isNamed || isDeepStrictEqual(withoutPlace(object), withoutPlace(other))
      ? []
      : [`touched ${String(object["id"])} ("${String(object["name"])}")`];
  });
}

/** A rule that is put before others pushes them back. */
function withoutPlace({ priority: _priority, lastUpdated: _lastUpdated, ...rest }: Readonly<Record<string, unknown>>) {
  return rest;
}

function accessProblems(plan: FixPlan, before: OrgContents, after: OrgContents): readonly string[] {
  const now = new Map(after.policies.map(({ policy, rules }) => [policy.id, rules]));
  return before.policies.flatMap(({ policy, rules }) => {
    const isNamed = plan.losses.some(({ of }) => of === policy.id);
    const change = { before: rules, after: now.get(policy.id) ?? [] };
    return compareSignIns(change, { everywhere: zonesOfEverybody(before.zones), isNamed, random }).map(
      (problem) => `policy "${policy.name}": ${problem}`,
    );
  });
}
