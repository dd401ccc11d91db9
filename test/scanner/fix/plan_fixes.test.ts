import { describe, expect, test } from "vitest";
import { catalog } from "../../../scanner/catalog/catalog.ts";
import { evaluateCheck } from "../../../scanner/evaluate.ts";
import {
  availableValue,
  obtained,
  type CollectedArtifacts,
  type Evidence,
  type JsonList,
} from "../../../scanner/evidence/artifacts.ts";
import { createCollection } from "../../../scanner/evidence/collect.ts";
import { renderMain, renderVariables } from "../../../scanner/fix/fix_files.ts";
import type { FixPlan } from "../../../scanner/fix/plan_draft.ts";
import { planFixes, terraformChecks } from "../../../scanner/fix/plan_fixes.ts";
import { addressOf, type Attributes, type TerraformResource, type Value } from "../../../scanner/fix/terraform.ts";
import type { JsonObject } from "../../../shared/json.ts";
import { typicalOrg } from "../../../practice_org/profiles/typical.ts";
import { failingOrg } from "../../support/failing_org.ts";
import { context } from "../../support/artifact_builders.ts";
import { createOrgGenerator } from "../../support/generated_orgs.ts";
import { aRefusal, mapIdpClient, type Answers } from "../../support/map_idp_client.ts";
import { createRandom } from "../../support/random.ts";
import { scanPracticeOrg } from "../../support/scan_practice_org.ts";
import { Refused } from "../../support/table_provider.ts";
import { startOrg } from "../../practice_org/start_org.ts";
import schema from "../../fixtures/terraform/provider_schema.json" with { type: "json" };

interface AttributeSchema {
  readonly type?: string | readonly string[];
  readonly use?: string;
  readonly block?: string;
  readonly attributes?: Readonly<Record<string, AttributeSchema>>;
}

const resourceSchemas = schema.resources as unknown as Readonly<
  Record<string, { readonly attributes: Readonly<Record<string, AttributeSchema>>; readonly import_id: string }>
>;

async function artifactsOf(profile: typeof failingOrg): Promise<CollectedArtifacts> {
  return (await scanPracticeOrg(await startOrg({ profile }))).document.artifacts;
}

function planOf(artifacts: CollectedArtifacts, checks = catalog): FixPlan {
  return planFixes(
    checks.map((check) => evaluateCheck(check, artifacts, context)),
    artifacts,
  );
}

/** What is wrong with a resource by the provider's own schema. */
function schemaProblems({ type, attributes, blocks, importId }: TerraformResource): readonly string[] {
  const known = resourceSchemas[type];
  if (known === undefined) return [`${type} is no resource`];
  const forms: Readonly<Record<string, RegExp>> = { ".": /^\.$/, "<policy_id>/<rule_id>": /^[^/\s]+\/[^/\s]+$/ };
  const form = forms[known.import_id] ?? /^[^/\s]+$/;
  return [
    ...attributeProblems(attributes, known.attributes),
    ...blocks.flatMap((block) => {
      const inside = known.attributes[block.name];
      return inside?.block === undefined
        ? [`${block.name} is no block`]
        : attributeProblems(block.attributes, inside.attributes ?? {});
    }),
    ...(importId === null || form.test(importId) ? [] : [`${importId} is no ${known.import_id}`]),
  ];
}

function attributeProblems(
  attributes: Attributes,
  known: Readonly<Record<string, AttributeSchema>>,
): readonly string[] {
  const missing = Object.entries(known)
    .filter(([name, { use }]) => use === "required" && !attributes.has(name))
    .map(([name]) => `${name} is missing`);
  const wrong = [...attributes].flatMap(([name, { value }]) => {
    const wanted = known[name];
    if (wanted?.type === undefined || wanted.use === "computed") return [`${name} cannot be set`];
    return isOfType(value, wanted.type) ? [] : [`${name} is no ${String(wanted.type)}`];
  });
  return [...missing, ...wrong];
}

function isOfType(value: Value, type: string | readonly string[]): boolean {
  if (typeof value === "object" && "kind" in value) return value.kind === "reference" || type === "string";
  if (typeof type === "string") return typeof value === { bool: "boolean" }[type] || typeof value === type;
  return Array.isArray(value) && value.every((item: Value) => isOfType(item, type[1] ?? ""));
}

function problemsOf({ resources }: FixPlan): readonly string[] {
  return resources.flatMap((resource) => schemaProblems(resource).map((text) => `${addressOf(resource)}: ${text}`));
}

function find(plan: FixPlan, title: string): TerraformResource {
  const found = plan.resources.find((resource) => resource.title.includes(title));
  if (found === undefined) throw new Error(`No ${title} among ${plan.resources.map((item) => item.title).join(", ")}`);
  return found;
}

function changed(attributes: Attributes): Readonly<Record<string, Value>> {
  return Object.fromEntries(
    [...attributes].flatMap(([name, { value, change }]) => (change === null ? [] : [[name, value]])),
  );
}

const typical = artifactsOf(typicalOrg);
const failing = artifactsOf(failingOrg);

describe("planFixes", () => {
  test("has a resource for 24 rules, and leaves five to a person", async () => {
    const plan = planOf(await failing);
    expect(terraformChecks.size).toBe(24);
    expect(new Set(plan.fixed.map(({ check }) => check))).toEqual(terraformChecks);
    expect(plan.byHand).toEqual([]);
    const byHand = catalog.filter(({ name }) => !terraformChecks.has(name)).map(({ name }) => name);
    expect(byHand).toHaveLength(5);
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
    expect(planOf(await failing, [])).toEqual({ resources: [], variables: [], fixed: [], byHand: [] });
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

  test("no answer of a provider makes it fail, and no plan leaves the schema", async () => {
    const generate = createOrgGenerator(createRandom(7));
    let planned = 0;
    for (let number = 0; number < 300; number += 1) {
      const collection = createCollection(mapIdpClient(toAnswers(generate())));
      for (const check of catalog) await collection.obtainFor(check);
      const plan = planOf(collection.artifacts());
      planned += plan.resources.length;
      expect(problemsOf(plan)).toEqual([]);
      renderMain(plan, { orgUrl: "https://acme.okta.com", collectedAt: "" });
    }
    expect(planned).toBeGreaterThan(200);
  }, 60_000);
});

describe("password policies", () => {
  test("are whole, with the failing values changed; the default one comes after the others", async () => {
    const plan = planOf(await typical);
    const resource = find(plan, 'Password policy "Default Policy"');
    expect(resource).toMatchObject({ type: "okta_policy_password_default", importId: "." });
    expect(changed(resource.attributes)).toEqual({
      password_min_length: 15,
      password_min_symbol: 1,
      password_dictionary_lookup: true,
      password_max_age_days: 60,
      password_min_age_minutes: 1440,
      password_history_count: 5,
      password_max_lockout_attempts: 3,
    });
    expect(resource.dependsOn).toEqual([addressOf(find(plan, '"Active Directory Policy"'))]);
    const written = [...resource.attributes.keys()];
    const writable = Object.entries(resourceSchemas[resource.type]?.attributes ?? {}).filter(
      ([, { use }]) => use !== "computed",
    );
    // Those that are left out mean the same absent: nothing is excluded, nothing was breached.
    expect(writable.map(([name]) => name).filter((name) => !written.includes(name))).toEqual([
      "breached_password_delegated_workflow_id",
      "breached_password_expire_after_days",
      "id",
      "password_exclude_first_name",
      "password_exclude_last_name",
    ]);
  });

  test("a field that Terraform would reset, or that is missing, leaves the policy to a person", async () => {
    const artifacts = await failing;
    const edit = (change: (settings: JsonObject) => unknown) =>
      planOf({
        ...artifacts,
        password_policies: editEach(artifacts.password_policies, (policy) => ({
          ...policy,
          settings: change(policy["settings"] as JsonObject),
        })),
      });
    const withPush = edit((settings) => ({
      ...settings,
      recovery: { ...(settings["recovery"] as JsonObject), push: { status: "ACTIVE" } },
    }));
    const without = edit(({ password }) => ({ password }));
    expect(withPush.byHand.map(({ why }) => why)).toContain("Terraform would reset settings.recovery.push.status");
    expect(without.byHand.map(({ why }) => why)).toContain(
      "the evidence does not have settings.recovery.factors.recovery_question.status, settings.recovery.factors.okta_email.status, " +
        "settings.recovery.factors.okta_email.properties.recoveryToken.tokenLifetimeMinutes",
    );
    for (const plan of [withPush, without]) {
      expect(plan.resources.filter(({ type }) => type.startsWith("okta_policy_password"))).toEqual([]);
    }
  });
});

describe("global session rules", () => {
  test("a rule of one's own is changed, and before a built-in one a new one is made", async () => {
    const plan = planOf(await typical);
    expect(changed(find(plan, 'Rule "Migration"').attributes)).toEqual({
      session_idle: 15,
      session_lifetime: 1080,
      session_persistent: false,
      network_connection: "ZONE",
      network_includes: { kind: "reference", to: "var.session_zones" },
    });
    const made = find(plan, 'New first rule of the global session policy "Default Policy"');
    expect(made.importId).toBeNull();
    expect([...made.attributes].map(([name, { value }]) => [name, value])).toEqual(
      expect.arrayContaining([
        ["name", "STIG session"],
        ["priority", 1],
        ["session_idle", 15],
      ]),
    );
  });
});

describe("network zones", () => {
  test("several fitting zones: a person names them", async () => {
    const [zones] = planOf(await typical).variables.filter(({ name }) => name === "session_zones");
    expect(zones).not.toHaveProperty("default");
    expect(zones?.description).toMatch(/"Branch offices" is nzo\w+, "Headquarters" is nzo\w+\.$/);
  });

  test("one fitting zone is the default", async () => {
    const artifacts = await typical;
    const one = editEach(artifacts.network_zones, (zone) =>
      zone["name"] === "Branch offices" ? { ...zone, status: "INACTIVE" } : zone,
    );
    const [zones] = planOf({ ...artifacts, network_zones: one }).variables.filter(
      ({ name }) => name === "session_zones",
    );
    expect(zones?.default).toEqual([expect.stringMatching(/^nzo/)]);
  });

  test("no fitting zone: one is made of the networks that a person names", async () => {
    const plan = planOf(await failing);
    expect(plan.variables.map(({ name }) => name)).toContain("approved_networks");
    expect(find(plan, "Approved networks").attributes.get("gateways")?.value).toEqual({
      kind: "reference",
      to: "var.approved_networks",
    });
  });

  test("the built-in zone is switched on where it would block anonymizers", async () => {
    expect(changed(find(planOf(await typical), "DefaultEnhancedDynamicZone").attributes)).toEqual({ status: "ACTIVE" });
  });
});

describe("app rules", () => {
  test("what an app's deciding rule demands goes into the new rule that takes its place", async () => {
    const plan = planOf(await typical);
    const made = find(plan, 'New first rule of the authentication policy of "Okta Admin Console"');
    expect(made.attributes.get("constraints")?.value).toEqual([
      {
        kind: "json",
        value: { possession: { required: true, deviceBound: "REQUIRED", phishingResistant: "REQUIRED" } },
      },
    ]);
    const closed = find(plan, 'Rule "Catch-all Rule" of the authentication policy of "Okta Admin Console"');
    expect(changed(closed.attributes)).toMatchObject({ access: "DENY" });
    expect(closed.dependsOn).toEqual([addressOf(made)]);
    expect(closed.warnings.join(" ")).toMatch(/locked out.*refused then/);
  });

  test("authentication method chains are a person's decision", async () => {
    const artifacts = await typical;
    const chains = {
      type: "AUTH_METHOD_CHAIN",
      chains: [{ authenticationMethods: [{ key: "okta_password", method: "password" }] }],
    };
    const consoleApp = (
      artifacts.admin_console_app as { value: { app: JsonObject; rules: { value: readonly JsonObject[] } } }
    ).value;
    const [rule] = consoleApp.rules.value;
    const edited = { ...rule, actions: { appSignOn: { access: "ALLOW", verificationMethod: chains } } };
    const plan = planOf(
      { ...artifacts, admin_console_app: obtained({ app: consoleApp.app, rules: obtained([edited]) }) },
      catalog.filter(({ name }) => name === "application_admin_console_mfa_required"),
    );
    expect(plan.resources).toEqual([]);
    expect(plan.byHand[0]?.why).toContain("authentication method chains");
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
      api_tokens: editEach(artifacts.api_tokens, ({ clientName, created, ...token }) => token),
      brand_sign_in_pages: editEach(artifacts.brand_sign_in_pages, ({ brand }) => ({
        brand,
        page: obtained({ kind: "default" as const, content: "<body></body>" }),
      })),
    };
    const plan = planOf(thin);
    expect(new Set(plan.byHand.map(({ why }) => why))).toEqual(
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
    expect(plan.byHand.map(({ check }) => check)).toEqual(["apitoken_restricted_to_network_zone"]);
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

function editEach<Item>(
  evidence: Evidence<readonly Item[]> | undefined,
  edit: (item: Item) => Item,
): Evidence<readonly Item[]> {
  return obtained((evidence === undefined ? [] : (availableValue(evidence) ?? [])).map((item) => edit(item)));
}

function policiesOf({ password_policies: policies }: CollectedArtifacts): JsonList {
  return policies === undefined ? [] : (availableValue(policies) ?? []);
}

function toAnswers(org: Readonly<Record<string, unknown>>): Answers {
  return Object.fromEntries(
    Object.entries(org).map(([path, value]) => [path, value instanceof Refused ? aRefusal(value.status) : value]),
  ) as Answers;
}
