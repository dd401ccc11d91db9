import { missing, obtained, type Artifacts } from "../../scanner/evidence/artifacts.ts";
import type { JsonObject } from "../../shared/json.ts";
import {
  aCatchAll,
  aPasswordPolicy,
  aRole,
  aSessionPolicy,
  aSessionRule,
  aSmartCardIdp,
  aToken,
  aZone,
  adminConsoleApp,
  anAccessRule,
  anAction,
  anAnonymizerZone,
  anApp,
  anAutomation,
  compliantArtifacts,
  dashboardApp,
  set,
} from "./artifact_builders.ts";

/** An org with several things wrong in every place, so that a finding has a choice of what to name. */
export function messyArtifacts(): Artifacts {
  const open = (id: string, changes: JsonObject = {}) =>
    anAccessRule({
      id,
      name: `Open ${id}`,
      priority: 5,
      conditions: { network: { connection: "ANYWHERE" } },
      ...changes,
    });
  const rules = [
    anAccessRule({
      conditions: { network: { connection: "ZONE", include: ["nzo2", "nzo1"], exclude: ["nzo4", "nzo3"] } },
    }),
    open("a"),
    open("b", { priority: 6 }),
    set(aCatchAll(), "actions.appSignOn.access", "ALLOW"),
  ];
  const chains = {
    type: "AUTH_METHOD_CHAIN",
    chains: [lax("okta_email", "phone_number"), lax("webauthn", "okta_email"), lax("google_otp")],
  };
  const constraints = ["OPTIONAL", "REQUIRED", "SOMETIMES", null].map((phishingResistant) => ({
    possession: { phishingResistant },
  }));
  const late = (id: string, days: number) =>
    set(anAutomation({ id, name: id }), "conditions.people.users.inactivity.number", days);
  return compliantArtifacts({
    global_session_policies: obtained([
      {
        policy: aSessionPolicy(),
        rules: obtained([aSessionRule({ priority: 2 }), aSessionRule({ conditions: rules[0]?.["conditions"] })]),
      },
      {
        policy: aSessionPolicy({ id: "00p2" }),
        rules: missing("provider_error", "page 2 failed", [
          aSessionRule({ system: true }),
          aSessionRule({ id: "x", priority: 3 }),
        ]),
      },
      { policy: aSessionPolicy({ id: "00p3", name: "None" }), rules: obtained([]) },
    ]),
    password_policies: obtained([
      aPasswordPolicy(),
      aPasswordPolicy({ id: "00pq", settings: null }),
      aPasswordPolicy({ id: "00pr", status: 1 }),
    ]),
    user_lifecycle_policies: obtained([
      {
        policy: late("b", 90),
        rules: obtained([anAction({ id: "2", name: "Two" }), anAction({ id: "1", name: "One", status: "INACTIVE" })]),
      },
      { policy: late("a", 60), rules: obtained([anAction()]) },
    ]),
    apps: obtained([
      adminConsoleApp,
      dashboardApp,
      anApp(),
      anApp({ id: "0oa2", _links: {} }),
      anApp({ id: "0oa3", label: "Payroll" }),
    ]),
    app_policy_rules: obtained({ rst1: obtained(rules) }),
    admin_console_app: obtained({
      app: adminConsoleApp,
      rules: obtained([set(anAccessRule(), "actions.appSignOn.verificationMethod", chains), aCatchAll()]),
    }),
    dashboard_app: obtained({
      app: dashboardApp,
      rules: obtained([
        set(anAccessRule(), "actions.appSignOn.verificationMethod.constraints", constraints),
        aCatchAll(),
      ]),
    }),
    network_zones: obtained([
      aZone({ id: "nzo1", status: "INACTIVE" }),
      aZone({ id: "nzo2", name: "Block", usage: "BLOCKLIST" }),
      anAnonymizerZone({ id: "nzo3", name: "B", asns: { include: ["2", "1"] } }),
      anAnonymizerZone({ id: "nzo4", name: "A", ipServiceCategories: { include: ["NORD_VPN", "ALL_PROXIES_VPNS"] } }),
    ]),
    api_tokens: obtained([
      aToken({ network: { connection: "ZONE", include: ["nzo2", "nzo1", "nzo9"] } }),
      aToken({ id: "00T2", userId: "00u2" }),
      aToken({ id: "00T3", userId: "00u3" }),
    ]),
    api_token_owners: obtained({
      "00u1": {
        roles: obtained([aRole("APP_ADMIN"), aRole()]),
        groups: obtained(
          ["a", "b"].map((id) => ({ id, name: `Group ${id}`, roles: obtained([aRole("SUPER_ADMIN")]) })),
        ),
      },
      "00u2": {
        roles: obtained([]),
        groups: obtained([
          { id: "c", name: "C", roles: missing("provider_error", "500") },
          { id: "d", name: "D", roles: missing("missing_role", "403") },
        ]),
      },
      "00u3": { roles: obtained([{ id: "1" }, { id: "2" }]), groups: obtained([]) },
    }),
    log_streams: obtained([
      { id: "1", name: "x", status: "INACTIVE" },
      { id: "2", name: "x", status: "INACTIVE" },
    ]),
    smart_card_idps: obtained([
      { idp: aSmartCardIdp(), certificate: obtained(null) },
      { idp: aSmartCardIdp({ id: "0oa9", status: "INACTIVE" }), certificate: missing("provider_error", "404") },
    ]),
  });
}

function lax(...keys: readonly string[]): JsonObject {
  const [key = "", ...rest] = keys;
  const next = rest.length === 0 ? [] : [lax(...rest)];
  return { authenticationMethods: [{ key }, { key: "custom_otp" }], next };
}
