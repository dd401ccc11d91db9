import { describe, expect, test } from "vitest";
import { catalog } from "../../../scanner/catalog/catalog.ts";
import { obtained } from "../../../scanner/evidence/artifacts.ts";
import { renderMain } from "../../../scanner/fix/fix_files.ts";
import { addressOf } from "../../../scanner/fix/terraform.ts";
import type { JsonObject } from "../../../shared/json.ts";
import { resourceSchemas } from "../../support/terraform_schema.ts";
import { changed, editEach, failing, find, planOf, typical } from "./planned_orgs.ts";

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
      network_includes: { kind: "reference", to: "var.session_zones_contractors_00pSgkIcdem0cePVi5d7" },
    });
    const made = find(plan, 'New rule before the built-in one of the global session policy "Default Policy"');
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
  test.each(["Branch offices", "Headquarters"])(
    "a person names them, also where only one fits, without %s",
    async (name) => {
      const artifacts = await typical;
      const one = editEach(artifacts.network_zones, (zone) =>
        zone["name"] === name ? { ...zone, status: "INACTIVE" } : zone,
      );
      for (const zones of [artifacts.network_zones, one]) {
        const plan = planOf({ ...artifacts, network_zones: zones });
        const variables = plan.variables.filter(({ type }) => type === "list(string)");
        // With one zone gone, the Dashboard's first rule would take people from its catch-all, which asks for a password.
        const isKept = zones === artifacts.network_zones;
        const apps = ["app", "app", "app", ...(isKept ? ["app"] : [])];
        expect(variables.map(({ name: of }) => of.replace(/_\w+$/, ""))).toEqual([
          ...apps,
          "session",
          "session",
          "token",
        ]);
        const reasons = plan.byHand.map(({ why }) => why).join("\n");
        expect(reasons.includes('"Offices, phishing resistant" would decide instead of rule "Catch-all Rule"')).toBe(
          !isKept,
        );
        for (const variable of variables) {
          expect(variable).not.toHaveProperty("default");
          expect(variable.description.includes(`"${name}" is nzo`)).toBe(zones !== one);
        }
      }
    },
  );

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
    const made = find(plan, 'New rule before the catch-all of the authentication policy of "Okta Admin Console"');
    expect(made.attributes.get("constraints")?.value).toEqual([
      {
        kind: "json",
        value: { possession: { required: true, deviceBound: "REQUIRED", phishingResistant: "REQUIRED" } },
      },
    ]);
    const closed = find(plan, 'Rule "Catch-all Rule" of the authentication policy of "Okta Admin Console"');
    expect(changed(closed.attributes)).toMatchObject({ access: "DENY" });
    expect(closed.dependsOn).toEqual([addressOf(made)]);
    expect(closed.warnings.join(" ")).toMatch(/locked out.*are denied access/);
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
      {
        ...artifacts,
        app_policy_rules: undefined,
        admin_console_app: obtained({ app: consoleApp.app, rules: obtained([edited]) }),
      },
      catalog.filter(({ name }) => name === "application_admin_console_mfa_required"),
    );
    expect(plan.resources).toEqual([]);
    expect(plan.byHand[0]?.why).toContain("authentication method chains");
  });
});

describe("Okta Verify", () => {
  test.each([[undefined], [""], ["0oaApp"]])("settings with the app instance %j are written", async (appInstanceId) => {
    const artifacts = await failing;
    const plan = planOf({
      ...artifacts,
      authenticators: editEach(artifacts.authenticators, (item) => ({
        ...item,
        settings: {
          allowedFor: "any",
          compliance: { fips: "OPTIONAL" },
          ...(appInstanceId === undefined ? {} : { appInstanceId }),
        },
      })),
    });
    const main = renderMain(plan, { orgUrl: "https://acme.okta.com", collectedAt: "" });
    expect(main).toMatch(/fips\s+= "REQUIRED"/);
    expect(main.includes("appInstanceId")).toBe(appInstanceId === "0oaApp");
  });
});
