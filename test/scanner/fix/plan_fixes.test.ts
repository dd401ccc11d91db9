import { describe, expect, test } from "vitest";
import { catalog } from "../../../scanner/catalog/catalog.ts";
import { obtained } from "../../../scanner/evidence/artifacts.ts";
import { renderMain, renderVariables } from "../../../scanner/fix/fix_files.ts";
import type { FixPlan } from "../../../scanner/fix/plan_draft.ts";
import { terraformChecks } from "../../../scanner/fix/plan_fixes.ts";
import { addressOf, type TerraformResource } from "../../../scanner/fix/terraform.ts";
import { problemsOf, schemaProblems } from "../../support/terraform_schema.ts";
import { changed, editEach, failing, planOf, policiesOf, typical } from "./planned_orgs.ts";

/** What is left to a person of the rules that Terraform has resources for. */
function leftOf(plan: FixPlan): FixPlan["byHand"] {
  return plan.byHand.filter(({ check }) => terraformChecks.has(check));
}

describe("planFixes", () => {
  test("has a resource for 24 rules, and leaves the others to a person", async () => {
    const plan = planOf(await failing);
    expect(terraformChecks.size).toBe(24);
    expect(new Set(plan.fixed.map(({ check }) => check))).toEqual(terraformChecks);
    expect(leftOf(plan)).toEqual([]);
  });

  test.each([
    ["typical", typical],
    ["failing", failing],
  ])("every resource of the %s org is what the provider's schema has", async (_, artifacts) => {
    const plan = planOf(await artifacts);
    expect(plan.resources.length).toBeGreaterThan(10);
    expect(problemsOf(plan)).toEqual([]);
  });

  test("the schema test sees an unknown attribute, a wrong type and a missing one", () => {
    const attributes = new Map([
      ["key", { value: 1, change: null }],
      ["fips", { value: true, change: null }],
    ]);
    const resource = {
      type: "okta_authenticator",
      attributes,
      blocks: [],
      importId: "a/b",
    } as unknown as TerraformResource;
    expect(schemaProblems(resource)).toEqual([
      "name is missing",
      "key is no string",
      "fips cannot be set",
      "a/b is no <authenticator_id>",
    ]);
  });

  test("the same evidence gives the same plan, and other evidence no other names", async () => {
    const artifacts = await typical;
    const shuffled = { ...artifacts, password_policies: obtained(policiesOf(artifacts).toReversed()) };
    const names = (plan: FixPlan) => plan.resources.map(addressOf).sort();
    expect(planOf(artifacts)).toEqual(planOf(artifacts));
    expect(names(planOf(shuffled))).toEqual(names(planOf(artifacts)));
  });

  test("nothing fails: nothing is planned", async () => {
    expect(planOf(await failing, [])).toEqual({
      resources: [],
      variables: [],
      fixed: [],
      byHand: [],
      losses: [],
      accepted: [],
    });
  });

  test("only the checks that were selected are planned", async () => {
    const plan = planOf(
      await failing,
      catalog.filter(({ name }) => name === "authenticator_password_history_5"),
    );
    expect(plan.resources.map(({ attributes }) => changed(attributes))).toEqual([
      { password_history_count: 5 },
      { password_history_count: 5 },
    ]);
  });
});

describe("evidence of an earlier version", () => {
  test("what was not kept is named, and nothing is reset", async () => {
    const artifacts = await failing;
    const thin = {
      ...artifacts,
      authenticators: editEach(artifacts.authenticators, (item) => ({
        ...item,
        settings: { compliance: { fips: "OPTIONAL" } },
      })),
      api_tokens: editEach(artifacts.api_tokens, ({ id, name, userId, network }) => ({ id, name, userId, network })),
      brand_sign_in_pages: editEach(artifacts.brand_sign_in_pages, ({ brand }) => ({
        brand,
        page: obtained({ kind: "default" as const, content: "<body></body>" }),
      })),
    };
    const plan = planOf(thin);
    expect(new Set(leftOf(plan).map(({ why }) => why))).toEqual(
      new Set([
        "the evidence has no more of its settings than FIPS: collect it again",
        "the evidence does not have clientName, created: collect it again",
        "the evidence does not have the page's other settings: collect it again",
      ]),
    );
  });

  test("an id that is not as the provider has it is planned nowhere", async () => {
    const artifacts = await failing;
    const changedIds = editEach(artifacts.api_tokens, (token) => ({ ...token, id: "00T (sha256 12)" }));
    const plan = planOf({ ...artifacts, api_tokens: changedIds });
    expect(leftOf(plan).map(({ check }) => check)).toEqual(["apitoken_restricted_to_network_zone"]);
  });
});

test("names that look like Terraform stay text in every file", async () => {
  const artifacts = await failing;
  const hostile = '"}\n${file("/etc/passwd")} %{ for x in y } */ # \u202E';
  const renamed = {
    ...artifacts,
    password_policies: editEach(artifacts.password_policies, (policy) => ({ ...policy, name: hostile })),
    api_tokens: editEach(artifacts.api_tokens, (token) => ({ ...token, name: hostile })),
  };
  const plan = planOf(renamed);
  const origin = { orgUrl: "https://acme.okta.com", collectedAt: "2026-11-22T00:00:00.000Z" };
  const text = renderMain(plan, origin) + renderVariables(plan, origin);
  expect(text).toContain(String.raw`\u0024{file(\"/etc/passwd\")}`);
  const code = text.replaceAll(/^ *#.*$/gm, "");
  expect(code).not.toMatch(/[^$]\$\{file|[^%]%\{ for|\u202E/);
  expect(
    text
      .split("\n")
      .filter((line) => line.includes("etc/passwd"))
      .every((line) => /^ *#|= "/.test(line)),
  ).toBe(true);
});
