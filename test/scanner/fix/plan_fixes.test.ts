import { describe, expect, test } from "vitest";
import { catalog } from "../../../scanner/catalog/catalog.ts";
import { findCheck } from "../../../scanner/catalog/select_checks.ts";
import { evaluateCheck } from "../../../scanner/evaluate.ts";
import { obtained, type CollectedArtifacts } from "../../../scanner/evidence/artifacts.ts";
import { renderMain, renderVariables } from "../../../scanner/fix/fix_files.ts";
import { manualSteps } from "../../../scanner/fix/manual_steps.ts";
import { planFixes } from "../../../scanner/fix/plan_fixes.ts";
import { renderPlanPage } from "../../../scanner/fix/plan_page.ts";
import {
  adminConsoleApp,
  anAccessRule,
  anApp,
  compliantArtifacts,
  context,
  set,
} from "../../support/artifact_builders.ts";
import { denying, editEach, failing, failingWith, planFor, planOf, typical } from "./planned_orgs.ts";

const origin = { orgUrl: "https://acme.okta.com", collectedAt: "2026-11-22T00:00:00.000Z" };

describe("planFixes", () => {
  test("what only a person found to fail is left to a person, but for the log stream that is missing", () => {
    const attested = (name: string, artifacts: CollectedArtifacts) => {
      const result = evaluateCheck(findCheck(name), artifacts, context);
      const attestation = { status: "FAIL", reason: "Ben looked", by: "Ada", expires: null } as const;
      const plan = planFixes([{ ...result, attestation }], artifacts);
      expect(renderPlanPage({ plan, results: [{ ...result, attestation }], origin, artifacts })).not.toMatch(
        /nothing to fix|Manual review/,
      );
      return plan;
    };
    const logs = attested("systemlog_streaming_enabled", compliantArtifacts({ log_streams: obtained([]) }));
    expect([logs.fixed.length, logs.byHand]).toEqual([1, []]);
    const { byHand, resources } = attested("apitoken_restricted_to_network_zone", compliantArtifacts());
    expect([resources, byHand[0]?.why]).toEqual([[], "a person attested the failure: Ben looked"]);
  });

  // The time is that of minutes of work, were all apps looked through for each policy.
  test("the steps for 5,000 authentication policies name the apps of each", { timeout: 20_000 }, async () => {
    const policies = Array.from({ length: 5000 }, (_, index) => `rst${index}`);
    const rule = { id: "rul1", name: "Catch-all Rule", system: true, actions: { appSignOn: { access: "ALLOW" } } };
    const appOf = (policy: string, name: string) =>
      anApp({
        id: `0oa${name}`,
        label: `App ${name}`,
        _links: { accessPolicy: { href: `https://x/policies/${policy}` } },
      });
    const artifacts = compliantArtifacts({
      apps: obtained(policies.flatMap((id) => ["a", "b", "c", "d"].map((letter) => appOf(id, `${id}${letter}`)))),
      app_policy_rules: obtained(Object.fromEntries(policies.map((id) => [id, obtained([rule])]))),
    });
    const check = findCheck("application_authentication_policy_network_zone_enforced");
    const { byHand } = planFor(check.name, artifacts);
    expect(byHand).toHaveLength(20_000);
    const steps = manualSteps(check, byHand, artifacts);
    expect(steps.find((step) => step.includes("rst2999a"))).toContain('"App rst2999a", "App rst2999b"');
  });

  test("authentication method chains are a person's decision", () => {
    const chains = [{ authenticationMethods: [{ key: "okta_password", method: "password" }] }];
    const verification = { type: "AUTH_METHOD_CHAIN", chains };
    const rules = obtained([set(anAccessRule(), "actions.appSignOn.verificationMethod", verification)]);
    const artifacts = compliantArtifacts({ admin_console_app: obtained({ app: adminConsoleApp, rules }) });
    const plan = planFor("application_admin_console_mfa_required", artifacts);
    expect(plan.resources).toEqual([]);
    expect(plan.byHand[0]?.why).toContain("authentication method chains");
  });

  test("an id that is not as the provider has it is planned nowhere", async () => {
    const artifacts = await failingWith("api_tokens", (token) => ({ ...token, id: "00T (sha256 12)" }));
    expect(planFor("apitoken_restricted_to_network_zone", artifacts).resources).toEqual([]);
  });
});

describe("plan.md", () => {
  async function page(artifacts: CollectedArtifacts): Promise<string> {
    const results = catalog.map((check) => evaluateCheck(check, artifacts, context));
    return renderPlanPage({ plan: planOf(artifacts), results, origin, artifacts }).replaceAll("`", "");
  }

  test("zones are steps that name the policy, the rule, the apps and who decides next", async () => {
    const text = await page(await denying);
    expect(text).toMatch(/\d+\. .*Global Session Policy and the policy "Shadowed"\n/);
    expect(text).toMatch(/\d+\. Edit the rule "All of them": set "IF User's IP is"/);
    expect(text).toMatch(/\d+\. Review the rule "Never reached": .* denies them\n/);
    expect(text).toMatch(
      /\d+\. .*App sign-in policies \(Authentication Policies\) and the policy of .*"Travel portal"/,
    );
    expect(text).toMatch(/\d+\. Edit the rule "Catch-all Rule": set "Access is" to Denied/);
  });

  test("resources have the numbers of the changes that they make", async () => {
    const text = await page(await typical);
    expect(text).toMatch(
      /^1\. In the password policy "Default Policy": .+\(closes 2 rules now, .+\): okta_policy_password_default/m,
    );
    expect(text).toContain('### Change 1: Password policy "Default Policy"');
  });
});

test("names that look like Terraform stay text in every file", async () => {
  const artifacts = await failing;
  const hostile = '"}\n${file("/etc/passwd")} %{ for x in y } */ # \u202E';
  const plan = planOf({
    ...artifacts,
    password_policies: editEach(artifacts.password_policies, (policy) => ({ ...policy, name: hostile })),
    api_tokens: editEach(artifacts.api_tokens, (token) => ({ ...token, name: hostile })),
  });
  const text = renderMain(plan, origin) + renderVariables(plan, origin);
  expect(text).toContain(String.raw`\u0024{file(\"/etc/passwd\")}`);
  const code = text.replaceAll(/^ *#.*$/gm, "");
  expect(code).not.toMatch(/[^$]\$\{file|[^%]%\{ for|\u202E/);
  const lines = text.split("\n").filter((line) => line.includes("etc/passwd"));
  expect(lines.every((line) => /^ *#|= "/.test(line))).toBe(true);
});
