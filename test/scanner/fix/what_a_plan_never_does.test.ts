import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { catalog } from "../../../scanner/catalog/catalog.ts";
import { isZoneOfEverybody, readZones } from "../../../scanner/checks/evaluating/zones.ts";
import { missing, obtained, type JsonList } from "../../../scanner/evidence/artifacts.ts";
import { renderFiles } from "../../../scanner/fix/fix_files.ts";
import { readFixFolder } from "../../../scanner/fix/fix_folder.ts";
import type { FixPlan } from "../../../scanner/fix/plan_draft.ts";
import { planFixes } from "../../../scanner/fix/plan_fixes.ts";
import { addressOf } from "../../../scanner/fix/terraform.ts";
import { startOrg } from "../../practice_org/start_org.ts";
import type { Resource } from "../../../practice_org/objects/org_contents.ts";
import type { RuleSpec } from "../../../practice_org/objects/policy_objects.ts";
import {
  anywhere,
  defaultSessionRule,
  defaultSignOnPolicy,
  sessionRule,
  type SessionRule,
} from "../../../practice_org/objects/sign_on_policies.ts";
import { ipZone, zoneId } from "../../../practice_org/objects/zone_objects.ts";
import { failingOrg } from "../../support/failing_org.ts";
import { scanPracticeOrg } from "../../support/scan_practice_org.ts";
import { editEach, failing, find, planOf } from "./planned_orgs.ts";

/** Each of these once let somebody in, locked somebody out, or destroyed something. */

const guarded = startOrg({ profile: { name: "guarded" } }).then(scanPracticeOrg);
const origin = { orgUrl: "https://acme.okta.com", collectedAt: "2026-11-24T00:00:00.000Z" };
const zonesOfApps = "application_authentication_policy_network_zone_enforced";
const zonesOfSessions = "signon_global_session_policy_network_zone_enforced";

async function guardedPlan(): Promise<FixPlan> {
  const { results, document } = await guarded;
  return planFixes(results, document.artifacts);
}

function planFor(name: string, artifacts: Parameters<typeof planOf>[0]): FixPlan {
  return planOf(
    artifacts,
    catalog.filter((check) => check.name === name),
  );
}

/** An org whose only session policy has these rules before the built-in one. */
async function sessionPlan(
  check: string,
  rules: readonly RuleSpec[],
  zones: readonly Resource[] = [],
): Promise<FixPlan> {
  const org = await startOrg({
    profile(site) {
      const contents = failingOrg(site);
      const others = contents.policies.filter(({ policy }) => policy.type !== "OKTA_SIGN_ON");
      const session = defaultSignOnPolicy(site, 1, [...rules, defaultSessionRule(rules.length + 1)]);
      return { ...contents, zones: [...contents.zones, ...zones], policies: [...others, session] };
    },
  });
  return planFor(check, (await scanPracticeOrg(org)).document.artifacts);
}

function rule(name: string, priority: number, more: Partial<SessionRule> = {}): RuleSpec {
  const lax = { idleMinutes: 480, lifetimeMinutes: 1080, persistentCookie: false, network: anywhere };
  return sessionRule({ name, priority, ...lax, ...more });
}

async function inFolder(work: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "scanstream-fix-"));
  try {
    await work(folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function write(folder: string, plan: FixPlan): Promise<void> {
  const files = renderFiles(plan, origin, await readFixFolder(folder));
  for (const [name, text] of Object.entries(files)) {
    if (!name.startsWith("pages/")) await writeFile(join(folder, name), text);
  }
}

test("a second stage in the same folder destroys nothing of the first, also when nothing is left to fix", () =>
  inFolder(async (folder) => {
    const artifacts = await failing;
    const first = planFor("authenticator_password_history_5", artifacts);
    const second = planFor("network_zone_block_anonymized_proxies", artifacts);
    await write(folder, first);
    for (const later of [second, planOf(artifacts, [])]) {
      await write(folder, later);
      const main = await readFile(join(folder, "main.tf"), "utf8");
      for (const address of first.resources.map(addressOf)) {
        expect(main).toContain(`removed {\n  from = ${address}\n\n  lifecycle {\n    destroy = false\n  }\n}`);
      }
      expect(main).toMatch(/scopes += \[.*"okta\.networkZones\.manage", "okta\.policies\.manage"\]/);
    }
    expect(await readFile(join(folder, "variables.tf"), "utf8")).toContain("has no variables");
  }));

test("what was edited by hand, or what somebody else wrote, is never replaced", () =>
  inFolder(async (folder) => {
    const plan = planFor("authenticator_password_history_5", await failing);
    await write(folder, plan);
    const main = join(folder, "main.tf");
    await writeFile(main, (await readFile(main, "utf8")).replace("= 5", "= 24"));
    await expect(readFixFolder(folder)).rejects.toThrow(/main\.tf was edited after scanstream fix wrote it/);
    await writeFile(main, 'resource "okta_group" "mine" {}\n');
    await expect(readFixFolder(folder)).rejects.toThrow(/main\.tf was not written by scanstream fix/);
  }));

test("a policy that lets nobody in stays closed", async () => {
  const plan = await guardedPlan();
  const closed = plan.byHand.filter(({ finding }) => finding.resource.name === "Old ledger");
  expect(closed.map(({ check }) => check)).toEqual([zonesOfApps]);
  expect(closed[0]?.why).toContain("its policy lets nobody in");
  expect(plan.resources.filter(({ title }) => title.includes("Old ledger"))).toEqual([]);
});

test("rules that deny are never touched", async () => {
  const titles = (await guardedPlan()).resources.map(({ title }) => title).join("\n");
  expect(titles).toContain('Rule "From anywhere else" of the global session policy "Travelers"');
  expect(titles).not.toMatch(/Rule "(?:Nobody|Not from there|Never reached|High risk|Everybody else)"/);
});

test("rules that no finding names are never touched", async () => {
  const plan = planFor(zonesOfSessions, (await guarded).document.artifacts);
  expect(plan.resources.map(({ title }) => title)).toEqual([
    'Rule "All of them" of the global session policy "Shadowed"',
  ]);
});

test("a new session rule comes after every active rule, so that those who are denied stay denied", async () => {
  const denied = rule("High risk", 1, { access: "DENY" });
  const plan = await sessionPlan("signon_global_session_idle_timeout_15min", [
    { ...denied, conditions: { ...denied.conditions, riskScore: { level: "HIGH" } } },
  ]);
  expect(plan.resources.map(({ title }) => title)).toEqual([
    expect.stringMatching(/^New rule before the built-in one/),
  ]);
  expect(plan.resources[0]?.attributes.get("priority")?.value).toBe(2);
});

test("a change that would not decide is left to a person: the finding is about a rule that denies", async () => {
  const name = "Closed office";
  const zone = ipZone({ url: origin.orgUrl, nowMs: 0 }, name, ["192.0.2.0/24"], { status: "INACTIVE" });
  const notElsewhere = { connection: "ZONE", exclude: [zoneId(name)] };
  const denied = rule("Not from elsewhere", 1, { access: "DENY", network: notElsewhere });
  const lax = rule("Everybody", 2, { idleMinutes: 0, lifetimeMinutes: 0, persistentCookie: true });
  const plan = await sessionPlan(zonesOfSessions, [denied, lax], [zone]);
  expect(plan.resources).toEqual([]);
  expect(plan.byHand[0]?.why).toMatch(/^the change that Terraform can make does not decide: /);
});

test("a role that cannot see every app closes no policy that others may share", async () => {
  const { results, document } = await scanPracticeOrg(
    await startOrg({ profile: { name: "guarded" }, role: "read-only" }),
  );
  const plan = planFixes(results, document.artifacts);
  const zoned = plan.resources.filter(({ attributes }) => attributes.has("network_includes"));
  expect(zoned.filter(({ type }) => type === "okta_app_signon_policy_rule")).toEqual([]);
});

test("no zone is chosen for a person, also where the org has only one", async () => {
  const zones = (await guardedPlan()).variables.filter(({ type }) => type === "list(string)");
  expect(zones.length).toBeGreaterThan(3);
  for (const variable of zones) {
    expect(variable).not.toHaveProperty("default");
    expect(variable.description).toContain('"Embargoed countries" is nzo');
  }
});

test("zones that could not be read are replaced nowhere", async () => {
  const { artifacts } = (await guarded).document;
  const unread = { ...artifacts, network_zones: missing<JsonList>("missing_scope", "okta.networkZones.read") };
  const plan = planOf(unread);
  expect(plan.resources.filter(({ attributes }) => attributes.has("network_includes"))).toEqual([]);
  expect(plan.resources.filter(({ type }) => type === "okta_api_token")).toEqual([]);
});

test("the excluded zones of a token stay", async () => {
  const network = find(await guardedPlan(), 'API token "Backup"').blocks.find(({ name }) => name === "network");
  expect(network?.attributes.get("exclude")?.value).toEqual([expect.stringMatching(/^nzo/)]);
});

test.each([
  [["2000::/3"], false],
  [["0.0.0.0/0"], false],
  [["0.0.0.0/0", "2000::/3"], true],
  [["::/0"], true],
])("a zone of %j is everybody: %j", (networks, isEverybody) => {
  const zone = ipZone({ url: origin.orgUrl, nowMs: 0 }, "Wide", networks);
  expect(isZoneOfEverybody(zone.id, readZones(obtained([zone])))).toBe(isEverybody);
});

test("what was accepted is in no plan", async () => {
  const { results, document } = await guarded;
  const waived = results.map((result) => ({
    ...result,
    findings: result.findings.map((finding) => ({ ...finding, waived: true })),
  }));
  const plan = planFixes(waived, document.artifacts);
  expect(plan.resources).toEqual([]);
  expect(plan.accepted.length).toBeGreaterThan(20);
});

test("a name that Terraform would write in another Unicode form is left to a person", async () => {
  const artifacts = await failing;
  const renamed = editEach(artifacts.password_policies, (policy) => ({ ...policy, name: "Cafe\u0301" }));
  const plan = planFor("authenticator_password_history_5", { ...artifacts, password_policies: renamed });
  expect(plan.resources).toEqual([]);
});
