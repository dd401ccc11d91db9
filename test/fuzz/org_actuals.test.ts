import { describe, expect, test } from "vitest";
import { catalog } from "../../scanner/catalog/catalog.ts";
import { findCheck } from "../../scanner/catalog/select_checks.ts";
import { bannerPage } from "../support/artifact_builders.ts";
import { compliantOrg, paths } from "../support/compliant_org.ts";
import { changeAt } from "../support/mutate_json.ts";
import { createRandom } from "../support/random.ts";
import { judgeOrg } from "../support/table_provider.ts";
import { fuzzed } from "./fuzzed.ts";

/** The value that decides, where it stands, and how `actual` names it; by default as it is. */
interface Decider {
  readonly path: string;
  readonly way: string;
  /** Words to try, or the most of a number. */
  readonly values: readonly unknown[] | number;
  readonly says?: (value: never) => string;
}

const sessionRules = "/api/v1/policies/00p1/rules";
const accessRules = "/api/v1/policies/rst1/rules";
const session = (field: string, most: number): Decider => ({
  path: sessionRules,
  way: `0.actions.signon.session.${field}`,
  values: most,
});
const password = (field: string, most: number): Decider => ({
  path: paths.password,
  way: `0.settings.password.${field}`,
  values: most,
});
const method = "0.actions.appSignOn.verificationMethod";
const factorMode: Decider = { path: accessRules, way: `${method}.factorMode`, values: ["1FA", "2FA", "3FA"] };
const resistance: Decider = {
  path: accessRules,
  way: `${method}.constraints.0.possession.phishingResistant`,
  values: ["OPTIONAL", "SOMETIMES"],
};

const deciders: Readonly<Record<string, Decider>> = {
  signon_global_session_idle_timeout_15min: session("maxSessionIdleMinutes", 200),
  signon_global_session_lifetime_18h: session("maxSessionLifetimeMinutes", 3000),
  signon_global_session_cookies_not_persistent: {
    ...session("usePersistentCookie", 0),
    values: [true, false],
    says: (isPersistent) => (isPersistent ? "persistent session cookies" : "no persistent session cookies"),
  },
  signon_global_session_policy_network_zone_enforced: {
    path: sessionRules,
    way: "0.conditions.network",
    values: ["ANYWHERE", "ON_NETWORK", "SOMEWHERE"].map((connection) => ({ connection, include: ["nzo1"] })),
    says: ({ connection }: { readonly connection: string }) => connection,
  },
  signon_dod_warning_banner_configured: {
    path: "/api/v1/brands/bnd1/pages/sign-in/customized",
    way: "pageContent",
    values: [bannerPage, "<p>Welcome</p>", "<p> </p>"],
    says: (page) => (page === bannerPage ? "the whole banner" : "no banner"),
  },
  application_admin_console_session_idle_timeout_15min: {
    path: paths.settings,
    way: "sessionIdleTimeoutMinutes",
    values: 720,
  },
  application_admin_console_mfa_required: factorMode,
  application_dashboard_mfa_required: factorMode,
  application_admin_console_phishing_resistant_authentication: resistance,
  application_dashboard_phishing_resistant_authentication: resistance,
  application_authentication_policy_network_zone_enforced: {
    path: accessRules,
    way: "1.actions.appSignOn.access",
    values: ["ALLOW", "PERHAPS"],
  },
  authenticator_password_minimum_length_15: password("complexity.minLength", 30),
  authenticator_password_complexity_uppercase: password("complexity.minUpperCase", 3),
  authenticator_password_complexity_lowercase: password("complexity.minLowerCase", 3),
  authenticator_password_complexity_number: password("complexity.minNumber", 3),
  authenticator_password_complexity_symbol: password("complexity.minSymbol", 3),
  authenticator_password_minimum_age_24h: password("age.minAgeMinutes", 3000),
  authenticator_password_maximum_age_60d: password("age.maxAgeDays", 120),
  authenticator_password_history_5: password("age.historyCount", 24),
  authenticator_password_common_password_check: {
    ...password("complexity.dictionary.common.exclude", 0),
    values: [true, false],
    says: (isOn) => (isOn ? "on" : "off"),
  },
  authenticator_password_lockout_threshold_3: password("lockout.maxAttempts", 20),
  authenticator_smart_card_active: {
    path: paths.authenticators,
    way: "0.status",
    values: ["ACTIVE", "INACTIVE", "PENDING"],
  },
  authenticator_okta_verify_fips_compliant: {
    path: paths.authenticators,
    way: "1.settings.compliance.fips",
    values: ["REQUIRED", "OPTIONAL", "SOMETIMES"],
  },
  network_zone_block_anonymized_proxies: {
    path: paths.zones,
    way: "1.ipServiceCategories.include",
    values: [["ALL_ANONYMIZERS"], ["NORD_VPN"], ["ALL_ANONYMIZERS_EXCEPT_TOR"]],
    says: ([category]: readonly [string]) => category,
  },
  apitoken_restricted_to_network_zone: {
    path: paths.tokens,
    way: "0.network.connection",
    values: ["ANYWHERE", "ANY_IP", "SOMEWHERE"],
  },
  apitoken_not_super_admin: {
    path: "/api/v1/users/00u1/roles",
    way: "0.type",
    values: ["SUPER_ADMIN", "READ_ONLY_ADMIN"],
    says: (type) => (type === "SUPER_ADMIN" ? "Super Administrator" : "no such role"),
  },
  user_inactivity_automation_35d_enabled: {
    path: paths.lifecycle,
    way: "0.conditions.people.users.inactivity.number",
    values: 90,
  },
  systemlog_streaming_enabled: { path: paths.logStreams, way: "0.status", values: ["ACTIVE", "INACTIVE", "PENDING"] },
  idp_smart_card_dod_approved_ca: {
    path: paths.idps,
    way: "0.protocol.credentials.trust.issuer",
    values: ["CN=Example Corp Root", "CN=DoD Root CA 3, OU=PKI, OU=DoD, O=U.S. Government, C=US"],
  },
};

describe("actual names the value that decided", () => {
  const random = createRandom(fuzzed(0).seed);

  test("for every check of the catalog", () => {
    expect(Object.keys(deciders).toSorted()).toEqual(catalog.map(({ name }) => name).toSorted());
  });

  test.each(Object.entries(deciders))("%s", async (name, { path, way, values, says = String }) => {
    const steps = way.split(".").map((step) => (/^\d+$/.test(step) ? Number(step) : step));
    const tried = typeof values === "number" ? numbersTo(values, random) : values;
    for (const value of tried) {
      const org = { ...compliantOrg, [path]: changeAt(compliantOrg[path], steps, () => value) };
      const [result] = await judgeOrg(org, { checks: [findCheck(name)] });
      const actuals = result?.findings.map(({ actual }) => actual) ?? [];
      expect(actuals.length).toBeGreaterThan(0);
      for (const actual of actuals) expect(actual, JSON.stringify(value)).toContain(says(value as never));
    }
  });
});

function numbersTo(most: number, random: () => number): readonly number[] {
  return [0, 1, ...Array.from({ length: 8 }, () => Math.ceil(random() * most))];
}
