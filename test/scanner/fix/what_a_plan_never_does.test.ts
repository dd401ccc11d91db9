import { expect, test } from "vitest";
import { missing, obtained, type CollectedArtifacts, type JsonList } from "../../../scanner/evidence/artifacts.ts";
import type { FixPlan } from "../../../scanner/fix/plan_fixes.ts";
import { planFixes } from "../../../scanner/fix/plan_fixes.ts";
import type { JsonObject } from "../../../shared/json.ts";
import { startOrg } from "../../practice_org/start_org.ts";
import type { Resource } from "../../../practice_org/contents/org_contents.ts";
import { set } from "../../support/artifact_builders.ts";
import { failingOrg } from "../../support/failing_org.ts";
import { scanPracticeOrg } from "../../support/scan_practice_org.ts";
import { denying, editEach, failing, failingWith, find, planFor, planOf } from "./planned_orgs.ts";

/** Each of these once let somebody in, locked somebody out, or reset something. */

const idleTime = "signon_global_session_idle_timeout_15min";

/** The plan for the failing org with other rules in its default session policy, which has the built-in rule alone. */
async function sessionPlan(rulesOf: (builtIn: Resource) => readonly Resource[]): Promise<FixPlan> {
  const org = await startOrg({
    profile(site) {
      const contents = failingOrg(site);
      const others = contents.policies.filter(({ policy }) => policy.type !== "OKTA_SIGN_ON");
      const parent = contents.policies.find(
        ({ policy: { type, system } }) => type === "OKTA_SIGN_ON" && system === true,
      );
      if (parent?.rules[0] === undefined) throw new TypeError("The failing org has no built-in session rule");
      return { ...contents, policies: [...others, { ...parent, rules: rulesOf(parent.rules[0]) }] };
    },
  });
  return planFor(idleTime, (await scanPracticeOrg(org)).document.artifacts);
}

function atHighRisk(rule: Resource): Resource {
  return { ...rule, conditions: { ...(rule["conditions"] as JsonObject), riskScore: { level: "HIGH" } } };
}

function withSignOn(rule: Resource, more: JsonObject): Resource {
  const { signon } = rule["actions"] as { readonly signon: JsonObject };
  return { ...rule, actions: { signon: { ...signon, ...more } } };
}

test("rules that deny, and conditions of rules, are never touched", async () => {
  const { resources } = planOf(await denying);
  const titles = resources.map(({ title }) => title).join("\n");
  expect(titles).toContain('Rule "From anywhere else" of the global session policy "Travelers"');
  expect(titles).not.toMatch(/Rule "(?:Not from there|Never reached|Everybody else)"/);
  const ofRules = resources.filter(({ type }) => type.includes("signon"));
  const set = ofRules.flatMap(({ attributes }) =>
    [...attributes].flatMap(([name, { change }]) => (change ? [name] : [])),
  );
  expect(new Set(set)).toEqual(
    new Set(["session_idle", "session_lifetime", "session_persistent", "factor_mode", "constraints"]),
  );
});

test("a new session rule comes after every active rule, so that those who are denied stay denied", async () => {
  const plan = await sessionPlan((builtIn) => [
    { ...withSignOn(atHighRisk(builtIn), { access: "DENY" }), id: "0prHighRisk", name: "High risk", system: false },
    { ...builtIn, priority: 2 },
  ]);
  expect(plan.resources.map(({ title }) => title)).toEqual([
    expect.stringMatching(/^New rule before the built-in one/),
  ]);
  expect(plan.resources[0]?.attributes.get("priority")?.value).toBe(2);
});

test("a new session rule keeps what is stricter in the built-in one than the STIG asks", async () => {
  const session = { maxSessionIdleMinutes: 5, maxSessionLifetimeMinutes: 60, usePersistentCookie: false };
  const plan = await sessionPlan((builtIn) => [withSignOn(builtIn, { session })]);
  const { attributes } = find(plan, "New rule");
  expect([attributes.get("session_idle")?.value, attributes.get("session_lifetime")?.value]).toEqual([5, 60]);
});

test("a built-in rule with a condition gets no rule before it", async () => {
  const plan = await sessionPlan((builtIn) => [atHighRisk(builtIn)]);
  expect(plan.resources).toEqual([]);
  expect(plan.byHand.map(({ why }) => why)).toEqual([expect.stringContaining("riskScore")]);
});

test("no zone is chosen for a person, and none is replaced that could not be read", async () => {
  const artifacts = await failing;
  const [variable] = planOf(artifacts).variables.filter(({ type }) => type === "list(string)");
  expect(variable).not.toHaveProperty("default");
  expect(variable?.description).toContain('"Headquarters" is nzo');
  const unread = { ...artifacts, network_zones: missing<JsonList>("missing_scope", "okta.networkZones.read") };
  expect(planOf(unread).resources.filter(({ type }) => type === "okta_api_token")).toEqual([]);
  const without = { ...artifacts, network_zones: obtained<JsonList>([]) };
  expect(planOf(without).resources.filter(({ type }) => type === "okta_api_token")).toEqual([]);
});

test("the excluded zones of a token stay", async () => {
  const network = { connection: "ZONE", exclude: ["nzoHeadquarters"] };
  const plan = planOf(await failingWith("api_tokens", (token) => ({ ...token, network })));
  const { attributes } = find(plan, 'API token "SIEM export"');
  expect(attributes.get("network.exclude")?.value).toEqual([expect.stringMatching(/^nzo/)]);
});

test("an inactive Okta Verify stays inactive, because it would be another way to sign in", async () => {
  const inactive = await failingWith("authenticators", (item) => ({ ...item, status: "INACTIVE" }));
  const plan = planFor("authenticator_okta_verify_fips_compliant", inactive);
  expect(plan.resources).toEqual([]);
});

test("the page of the Okta subdomain stays where the org has a brand of its own: Okta refuses any other", async () => {
  const artifacts = await failing;
  const pages = editEach(artifacts.brand_sign_in_pages, (one) => ({
    ...one,
    brand: { ...one.brand, isDefault: true },
  }));
  const plan = planFor("signon_dod_warning_banner_configured", { ...artifacts, brand_sign_in_pages: pages });
  expect(plan.resources).toEqual([]);
  expect(plan.byHand.length).toBeGreaterThan(0);
});

test("findings that a waiver accepts are in no plan", async () => {
  const { results, document } = await scanPracticeOrg(await startOrg({ profile: failingOrg }));
  const waived = results.map((result) => ({
    ...result,
    findings: result.findings.map((finding) => ({ ...finding, waived: true })),
  }));
  const plan = planFixes(waived, document.artifacts);
  expect([plan.resources, plan.byHand]).toEqual([[], []]);
  expect(plan.accepted.length).toBeGreaterThan(20);
});

test.each([
  ["a field that the provider does not know", "recovery.push", { status: "ACTIVE" }, "settings.recovery.push.status"],
  ["a field that it writes back in part", "password.complexity.excludeAttributes", ["email"], "excludeAttributes"],
  ["a field without its partner", "password.breachedProtection", { expireAfterDays: 3 }, "breachedProtection"],
] as const)("a password policy with %s is left to a person", async (_, path, value, field) => {
  const plan = planFor("authenticator_password_history_5", await withSetting(path, value));
  expect(plan.resources).toEqual([]);
  expect(plan.byHand.map(({ why }) => why)).toEqual([expect.stringContaining(field), expect.stringContaining(field)]);
});

test("a limit of the organization is written, unless the value that is there is not known", async () => {
  const plannedFor = async (maxAttempts: number | null) => {
    const artifacts = await withSetting("password.lockout.maxAttempts", maxAttempts);
    const plan = planOf(artifacts, undefined, { password_lockout_attempts: 50 });
    return find(plan, 'Password policy "Default Policy"').attributes.get("password_max_lockout_attempts")?.value;
  };
  expect([await plannedFor(80), await plannedFor(null)]).toEqual([50, undefined]);
});

function withSetting(path: string, value: unknown): Promise<CollectedArtifacts> {
  return failingWith("password_policies", (policy) => set(policy, `settings.${path}`, value));
}
