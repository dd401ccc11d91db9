import { expect, test } from "vitest";
import type { CollectedArtifacts, JsonList } from "../../scanner/evidence/artifacts.ts";
import { renderMain } from "../../scanner/fix/fix_files.ts";
import { planFixes } from "../../scanner/fix/plan_fixes.ts";
import type { TerraformResource } from "../../scanner/fix/terraform.ts";
import { isJsonObject, type JsonObject } from "../../shared/json.ts";
import { createOrgGenerator } from "../verdicts/generated_orgs.ts";
import { createRandom } from "../support/random.ts";
import { compareSignIns, zonesOfEverybody } from "../support/sign_ins.ts";
import { scanOrg } from "../support/table_provider.ts";
import { problemsOf } from "../support/terraform_schema.ts";
import { fuzzed } from "./fuzzed.ts";

/** `npm run test:nightly` tries 10,000. */
const orgs = Number(process.env["FUZZ_ORGS"] ?? 100);

/** Two readings of Okta's order of evaluation, the planner's and that of `sign_ins.ts`, have to agree. */
test(
  "a plan lets nobody in who was kept out, weakens nothing, names whom it keeps out, and is what the provider's schema has",
  { timeout: 60_000 + orgs * 100 },
  async () => {
    const random = createRandom(fuzzed(orgs).seed);
    const generate = createOrgGenerator(random);
    const problems = new Set<string>();
    let changed = 0;
    for (let number = 0; number < orgs; number += 1) {
      const { results, artifacts } = await scanOrg(generate());
      const plan = planFixes(results, artifacts);
      renderMain(plan, { orgUrl: "https://acme.okta.com", collectedAt: "" });
      for (const problem of problemsOf(plan)) problems.add(problem);
      const failing = new Set(results.filter(({ status }) => status !== "PASS").map(({ check }) => check));
      for (const { check } of plan.fixed) {
        if (!failing.has(check)) problems.add(`${check} is fixed and did not fail`);
      }
      for (const policy of policiesOf(artifacts)) {
        const planned = plan.resources.filter(({ attributes }) => attributes.get("policy_id")?.value === policy.id);
        if (planned.length === 0) continue;
        changed += 1;
        const zones = artifacts.network_zones?.state === "obtained" ? artifacts.network_zones.value : [];
        const before = policy.rules.filter(isJsonObject);
        const after = rulesAfter(policy.rules, planned);
        const isNamed = plan.losses.some(({ of }) => of === policy.id);
        const found = compareSignIns({ before, after }, { everywhere: zonesOfEverybody(zones), isNamed, random });
        for (const problem of found) problems.add(`policy ${policy.id}, ${problem}`);
      }
    }
    expect(changed).toBeGreaterThan(orgs / 10);
    expect([...problems]).toEqual([]);
  },
);

interface Policy {
  readonly id: string;
  readonly rules: JsonList;
}

function policiesOf(artifacts: CollectedArtifacts): readonly Policy[] {
  const sessions = artifacts.global_session_policies;
  const apps = artifacts.app_policy_rules;
  const builtIn = [artifacts.admin_console_app, artifacts.dashboard_app];
  const found = new Map<string, JsonList>();
  for (const { policy, rules } of sessions?.state === "obtained" ? sessions.value : []) {
    if (rules?.state === "obtained") found.set(String(policy["id"]), rules.value);
  }
  for (const [id, rules] of Object.entries(apps?.state === "obtained" ? apps.value : {})) {
    if (rules.state === "obtained") found.set(id, rules.value);
  }
  for (const app of builtIn) {
    if (app?.state !== "obtained" || app.value.rules?.state !== "obtained") continue;
    const href = JSON.stringify(app.value.app?.["_links"] ?? null);
    const id = /policies\/(\w+)/.exec(href)?.[1];
    if (id !== undefined && !found.has(id)) found.set(id, app.value.rules.value);
  }
  return [...found].map(([id, rules]) => ({ id, rules }));
}

/** The rules as the resources leave them, by the names of the provider's attributes. */
function rulesAfter(rules: JsonList, planned: readonly TerraformResource[]): readonly JsonObject[] {
  const isNew = (resource: TerraformResource) => resource.importId === null;
  const kept = rules.filter(isJsonObject).map((rule) => {
    const resource = planned.find(({ importId }) => importId?.endsWith(`/${String(rule["id"])}`));
    return resource === undefined ? rule : written(rule, resource);
  });
  return planned.filter(isNew).reduce<readonly JsonObject[]>((list, resource) => {
    const made = written({ conditions: {}, actions: {} }, resource);
    const pushed = list.map((rule) =>
      Number(rule["priority"]) >= Number(made["priority"]) && rule["system"] !== true
        ? { ...rule, priority: Number(rule["priority"]) + 1 }
        : rule,
    );
    return [...pushed, made];
  }, kept);
}

function written(rule: JsonObject, { attributes }: TerraformResource): JsonObject {
  const of = (name: string) => attributes.get(name)?.value;
  const conditions = isJsonObject(rule["conditions"]) ? rule["conditions"] : {};
  const network = {
    connection: of("network_connection") ?? "ANYWHERE",
    include: of("network_includes"),
    exclude: of("network_excludes"),
  };
  return {
    ...rule,
    priority: of("priority") ?? rule["priority"],
    status: of("status") ?? rule["status"],
    conditions: { ...conditions, network },
    planned: Object.fromEntries([...attributes].map(([name, { value }]) => [name, value])),
  };
}
