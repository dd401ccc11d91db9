import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { catalog } from "../../scanner/catalog/catalog.ts";
import { readScannerConfig } from "../../scanner/config.ts";
import type { ConnectionSettings } from "../../scanner/idp/connection_settings.ts";
import { connect } from "../../scanner/idp/connection.ts";
import { createPracticeOrg, type PracticeOrg } from "../../practice_org/create_practice_org.ts";
import type { FaultName } from "../../practice_org/api/faults.ts";
import { runScan } from "../../scanner/run_scan.ts";
import type { CheckResult, ManualReason } from "../../shared/report.ts";
import { createFakeClock } from "../support/fake_clock.ts";

/** What each way of failing is called in a report. Anything but PASS and FAIL: an answer that was not obtained proves nothing. */
const reasons: Partial<Record<FaultName, ManualReason>> = {
  forbidden: "missing_role",
  "insufficient-scope": "missing_scope",
  "not-available": "not_available",
  "invalid-token": "provider_error",
  "not-found": "provider_error",
  "server-error": "provider_error",
  unavailable: "provider_error",
  "rate-limit": "provider_error",
  timeout: "provider_error",
  reset: "provider_error",
  "cut-connection": "provider_error",
  html: "provider_error",
  "truncated-json": "provider_error",
};

/** Of lists only: a page chain that breaks off. */
const listReasons: Partial<Record<FaultName, ManualReason>> = {
  "second-page-fails": "provider_error",
  "next-link-elsewhere": "provider_error",
  "repeated-cursor": "provider_error",
  "null-entry": "unreadable",
};

const session = [
  "signon_global_session_idle_timeout_15min",
  "signon_global_session_lifetime_18h",
  "signon_global_session_cookies_not_persistent",
  "signon_global_session_policy_network_zone_enforced",
];
const builtInApps = [
  "application_admin_console_mfa_required",
  "application_dashboard_mfa_required",
  "application_admin_console_phishing_resistant_authentication",
  "application_dashboard_phishing_resistant_authentication",
];
const zonesOfApps = "application_authentication_policy_network_zone_enforced";
const inactivity = "user_inactivity_automation_35d_enabled";
const passwords = catalog.map(({ name }) => name).filter((name) => name.startsWith("authenticator_password_"));

interface Endpoint {
  readonly path: string;
  /** Every check that rests on it in a compliant org; all others still pass. */
  readonly checks: readonly string[];
  readonly isList: boolean;
  /** Ways of failing that mean something else here. */
  readonly except?: readonly FaultName[];
}

const endpoints: readonly Endpoint[] = [
  { path: "/api/v1/policies$?type=OKTA_SIGN_ON", checks: session, isList: true },
  { path: "/api/v1/policies$?type=PASSWORD", checks: passwords, isList: true },
  { path: "/api/v1/policies$?type=USER_LIFECYCLE", checks: [inactivity], isList: true },
  { path: "/api/v1/policies/*/rules", checks: [...session, ...builtInApps, zonesOfApps, inactivity], isList: true },
  { path: "/api/v1/apps", checks: [...builtInApps, zonesOfApps], isList: true },
  {
    path: "/api/v1/first-party-app-settings/admin-console",
    checks: ["application_admin_console_session_idle_timeout_15min"],
    isList: false,
  },
  { path: "/api/v1/brands$", checks: ["signon_dod_warning_banner_configured"], isList: true },
  {
    path: "/api/v1/brands/*/pages/sign-in/customized",
    checks: ["signon_dod_warning_banner_configured"],
    isList: false,
    // 404 is how a brand without a customized page answers: then the default page decides.
    except: ["not-found"],
  },
  {
    path: "/api/v1/authenticators",
    checks: ["authenticator_smart_card_active", "authenticator_okta_verify_fips_compliant"],
    isList: true,
  },
  { path: "/api/v1/idps/credentials/keys/*", checks: ["idp_smart_card_dod_approved_ca"], isList: false },
  {
    path: "/api/v1/zones",
    checks: [
      "network_zone_block_anonymized_proxies",
      "apitoken_restricted_to_network_zone",
      "signon_global_session_policy_network_zone_enforced",
      zonesOfApps,
    ],
    isList: true,
  },
  {
    path: "/api/v1/api-tokens",
    checks: ["apitoken_restricted_to_network_zone", "apitoken_not_super_admin"],
    isList: true,
  },
  { path: "/api/v1/users/*/roles", checks: ["apitoken_not_super_admin"], isList: true },
  { path: "/api/v1/users/*/groups", checks: ["apitoken_not_super_admin"], isList: true },
  { path: "/api/v1/groups/*/roles", checks: ["apitoken_not_super_admin"], isList: true },
  { path: "/api/v1/logStreams", checks: ["systemlog_streaming_enabled"], isList: true },
  { path: "/api/v1/idps$", checks: ["idp_smart_card_dod_approved_ca"], isList: true },
];

const clock = createFakeClock();
let org: PracticeOrg;
let config: ConnectionSettings;

beforeAll(async () => {
  // The organization and the scanner share one clock, so that waiting costs no time.
  org = await createPracticeOrg({ profile: { name: "compliant" }, role: "super", clock: () => clock.nowMs() });
  const env = { IDP_ORG_URL: org.url, IDP_CLIENT_ID: org.clientId, IDP_PRIVATE_KEY: org.privateKeyPem };
  config = readScannerConfig(
    { timeout: "0.4" },
    { ...env, IDP_SCOPES: [...defaultScopeNames, "users.read"].join(" ") },
  );
});

afterAll(() => org.stop());

const defaultScopeNames = [...new Set(catalog.flatMap(({ rule }) => rule.scopes))];

async function scanWith(name: FaultName, path: string): Promise<readonly CheckResult[]> {
  org.setFaults([{ name, path }]);
  return scan(config);
}

async function scan(connected: ConnectionSettings): Promise<readonly CheckResult[]> {
  const { orgUrl, clientId } = connected;
  const { signal } = new AbortController();
  const plan = { orgUrl, clientId, checks: catalog, approvedIssuers: null, signal };
  const { results } = await runScan(plan, {
    connect: (options) => connect(connected, { ...options, clock }),
    onResult: () => {},
    now: () => new Date(clock.nowMs()),
  });
  return results;
}

test("a compliant org passes every check, so that what follows shows the fault alone", async () => {
  const results = await scanWith("forbidden", "/api/v1/nowhere");
  expect(results.filter(({ status }) => status !== "PASS").map(({ check, detail }) => [check, detail])).toEqual([]);
});

describe("what an org gets wrong FAILs beside an entry that is no object", () => {
  test.each([
    ["/api/v1/policies$?type=PASSWORD", passwords],
    ["/api/v1/policies$?type=OKTA_SIGN_ON", session],
    ["/api/v1/apps", [zonesOfApps]],
    ["/api/v1/api-tokens", ["apitoken_restricted_to_network_zone", "apitoken_not_super_admin"]],
    ["/api/v1/users/*/roles", ["apitoken_not_super_admin"]],
    ["/api/v1/zones", ["apitoken_restricted_to_network_zone"]],
  ])("%s", async (path, names) => {
    const lax = await createPracticeOrg({ profile: { name: "typical" }, role: "super", clock: () => clock.nowMs() });
    try {
      const whole = await statusesOf(lax, names);
      expect(Object.values(whole)).toContain("FAIL");
      lax.setFaults([{ name: "null-entry", path }]);
      const failing = Object.entries(whole).filter(([, status]) => status === "FAIL");
      expect(await statusesOf(lax, names)).toMatchObject(Object.fromEntries(failing));
    } finally {
      await lax.stop();
    }
  });

  async function statusesOf(of: PracticeOrg, names: readonly string[]): Promise<Record<string, string>> {
    const env = { IDP_ORG_URL: of.url, IDP_CLIENT_ID: of.clientId, IDP_PRIVATE_KEY: of.privateKeyPem };
    const scopes = [...defaultScopeNames, "users.read"].join(" ");
    const results = await scan(readScannerConfig({ timeout: "0.4" }, { ...env, IDP_SCOPES: scopes }));
    const named = results.filter(({ check }) => names.includes(check));
    return Object.fromEntries(named.map(({ check, status }) => [check, status]));
  }
});

describe.each(endpoints)("$path", ({ path, checks, isList, except = [] }) => {
  const faults = Object.entries({ ...reasons, ...(isList ? listReasons : {}) }) as [FaultName, ManualReason][];

  test.each(faults.filter(([name]) => !except.includes(name)))("%s is %s", async (name, reason) => {
    const results = await scanWith(name, path);
    // V2: every selected check exactly once.
    expect(results.map(({ check }) => check)).toEqual(catalog.map((check) => check.name));
    // V1: the checks that rest on the endpoint say why they cannot tell; everything else is still evaluated.
    const open = results.filter(({ status }) => status !== "PASS");
    expect(open.map(({ check }) => check).toSorted()).toEqual([...checks].toSorted());
    for (const result of open) {
      expect([result.check, result.status, result.reason]).toEqual([result.check, "MANUAL", reason]);
      expect(result.findings.filter(({ status }) => status === "FAIL")).toEqual([]);
    }
  });
});
