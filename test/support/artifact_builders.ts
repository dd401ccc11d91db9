import type { JsonObject } from "../../shared/json.ts";
import { hash } from "node:crypto";
import {
  obtained,
  type Artifacts,
  type CollectedArtifacts,
  type TrustedCertificate,
} from "../../scanner/evidence/artifacts.ts";
import { findCheck } from "../../scanner/catalog/select_checks.ts";
import type { EvaluationContext } from "../../scanner/evaluate.ts";
import { evaluateCheck } from "../../scanner/evaluate.ts";
import type { CheckResult } from "../../shared/report.ts";
import { bannerSentences } from "../../scanner/checks/parsing/dod_banner.ts";

/** Builders of the provider's objects, compliant by default, so that a test shows only what matters. */

export const context: EvaluationContext = {
  engine: "identity",
  evaluatedAt: "2026-11-21T12:00:00.000Z",
  orgUrl: "https://acme.okta.com",
  digest: (text) => hash("sha256", text, "hex"),
};

export function evaluate(
  name: string,
  artifacts: CollectedArtifacts,
  changes: Partial<EvaluationContext> = {},
): CheckResult {
  return evaluateCheck(findCheck(name), artifacts, { ...context, ...changes });
}

/** The status, and of a MANUAL its reason. */
export function outcomeOf({ status, reason, automated }: CheckResult): string {
  return automated ?? reason ?? status;
}

/** `set(object, "a.b.c", value)`: a copy with one field changed; `undefined` removes it. */
export function set(object: JsonObject, path: string, value: unknown): JsonObject {
  const [field = "", ...rest] = path.split(".");
  const inner = object[field];
  const parent = typeof inner === "object" && inner !== null ? (inner as JsonObject) : {};
  const changed = rest.length === 0 ? value : set(parent, rest.join("."), value);
  const { [field]: _removed, ...others } = object;
  return changed === undefined ? others : { ...others, [field]: changed };
}

/** Returns a function that makes this object, with the changes that a test names. */
function builder(defaults: JsonObject): (changes?: JsonObject) => JsonObject {
  return (changes = {}) => ({ ...defaults, ...changes });
}

export const aSessionPolicy = builder({
  id: "00p1",
  type: "OKTA_SIGN_ON",
  name: "Default Policy",
  status: "ACTIVE",
  priority: 1,
  system: true,
});

export const aSessionRule = builder({
  id: "0pr1",
  name: "STIG rule",
  status: "ACTIVE",
  priority: 1,
  system: false,
  conditions: { network: { connection: "ZONE", include: ["nzo1"] } },
  actions: {
    signon: {
      access: "ALLOW",
      session: { maxSessionIdleMinutes: 15, maxSessionLifetimeMinutes: 1080, usePersistentCookie: false },
    },
  },
});

/** Rule that Okta starts with. */
export const aDefaultRule = builder(
  aSessionRule({
    id: "0pr0",
    name: "Default Rule",
    priority: 2,
    system: true,
    conditions: { network: { connection: "ANYWHERE" } },
    actions: {
      signon: { session: { maxSessionIdleMinutes: 120, maxSessionLifetimeMinutes: 0, usePersistentCookie: false } },
    },
  }),
);

export const aPasswordPolicy = builder({
  id: "00pp",
  type: "PASSWORD",
  name: "Default Policy",
  status: "ACTIVE",
  priority: 1,
  system: true,
  conditions: { authProvider: { provider: "OKTA" } },
  settings: {
    password: {
      complexity: {
        minLength: 15,
        minLowerCase: 1,
        minUpperCase: 1,
        minNumber: 1,
        minSymbol: 1,
        dictionary: { common: { exclude: true } },
      },
      age: { maxAgeDays: 60, minAgeMinutes: 1440, historyCount: 5 },
      lockout: { maxAttempts: 3 },
    },
  },
});

export const anApp = builder({
  id: "0oa1",
  name: "oidc_client",
  label: "Payroll",
  status: "ACTIVE",
  _links: { accessPolicy: { href: "https://acme.okta.com/api/v1/policies/rst1" } },
});

export const adminConsoleApp = anApp({ id: "0oaAdmin", name: "saasure", label: "Okta Admin Console" });
export const dashboardApp = anApp({ id: "0oaDash", name: "okta_enduser", label: "Okta Dashboard" });

export const anAccessRule = builder({
  id: "rul1",
  name: "Known networks",
  status: "ACTIVE",
  priority: 0,
  system: false,
  conditions: { network: { connection: "ZONE", include: ["nzo1"] } },
  actions: {
    appSignOn: {
      access: "ALLOW",
      verificationMethod: {
        type: "ASSURANCE",
        factorMode: "2FA",
        constraints: [{ possession: { phishingResistant: "REQUIRED" } }],
      },
    },
  },
});

export const aCatchAll = builder({
  id: "rul99",
  name: "Catch-all Rule",
  status: "ACTIVE",
  priority: 99,
  system: true,
  conditions: null,
  actions: { appSignOn: { access: "DENY", verificationMethod: { type: "ASSURANCE", factorMode: "1FA" } } },
});

/** A rule of one factor. */
export const aLaxRule = builder(
  aCatchAll({
    id: "rulLax",
    name: "Lax",
    system: false,
    actions: {
      appSignOn: {
        access: "ALLOW",
        verificationMethod: { type: "ASSURANCE", factorMode: "1FA", constraints: [] },
      },
    },
  }),
);

/** A catch-all that is lax. */
export const lastRule = builder(aLaxRule({ id: "rulLast", name: "Catch-all Rule", system: true, priority: 99 }));

export const aZone = builder({
  id: "nzo1",
  name: "Offices",
  type: "IP",
  status: "ACTIVE",
  usage: "POLICY",
  gateways: [{ type: "CIDR", value: "192.0.2.0/24" }],
});

export const anAnonymizerZone = builder(
  aZone({
    id: "nzoBlock",
    name: "DefaultEnhancedDynamicZone",
    type: "DYNAMIC_V2",
    usage: "BLOCKLIST",
    gateways: undefined,
    ipServiceCategories: { include: ["ALL_ANONYMIZERS"], exclude: [] },
    asns: { include: [], exclude: [] },
    locations: { include: [], exclude: [] },
  }),
);

export const aToken = builder({
  id: "00T1",
  name: "SIEM export",
  userId: "00u1",
  clientName: "Okta API",
  network: { connection: "ZONE", include: ["nzo1"] },
});

export function aRole(type = "READ_ONLY_ADMIN", changes: JsonObject = {}): JsonObject {
  return { id: `ra-${type}`, type, label: type, status: "ACTIVE", ...changes };
}

export const anAutomation = builder({
  id: "rstAuto",
  name: "User Inactivity",
  status: "ACTIVE",
  conditions: {
    people: { users: { inactivity: { number: 35, unit: "DAYS" } }, groups: { include: ["00gEveryone"] } },
  },
});

export const anAction = builder({
  id: "rulAuto",
  name: "Suspend",
  status: "ACTIVE",
  actions: { updateUserLifecycle: { targetStatus: "SUSPENDED" } },
});

export const aSmartCardIdp = builder({
  id: "0oaIdp",
  name: "DOD CAC",
  type: "X509",
  status: "ACTIVE",
  protocol: {
    type: "MTLS",
    credentials: { trust: { issuer: "CN=DoD Root CA 3, OU=PKI, OU=DoD, O=U.S. Government, C=US", kid: "kid1" } },
  },
});

export const dodCertificate: TrustedCertificate = {
  subject: "C=US, O=U.S. Government, OU=DoD, OU=PKI, CN=DOD ID CA-59",
  issuer: "C=US, O=U.S. Government, OU=DoD, OU=PKI, CN=DoD Root CA 3",
  serial: "0305",
  sha256: "ab".repeat(32),
  chain: [],
  valid_from: "2020-01-01T00:00:00.000Z",
  valid_to: "2030-01-01T00:00:00.000Z",
  x5c: "MIIB",
};

export const bannerPage = `<html><body><div>${bannerSentences.join("<br>")}</div></body></html>`;

export const anEveryoneGroup = builder({ id: "00gEveryone", type: "BUILT_IN", profile: { name: "Everyone" } });

/** Everything collected, and every check PASSes. */
export function compliantArtifacts(changes: Partial<Artifacts> = {}): Artifacts {
  const accessRules = obtained([anAccessRule(), aCatchAll()]);
  return {
    global_session_policies: obtained([
      {
        policy: aSessionPolicy(),
        rules: obtained([aSessionRule(), aDefaultRule({ actions: aSessionRule()["actions"] })]),
      },
    ]),
    password_policies: obtained([aPasswordPolicy()]),
    user_lifecycle_policies: obtained([{ policy: anAutomation(), rules: obtained([anAction()]) }]),
    automation_groups: obtained([anEveryoneGroup()]),
    apps: obtained([adminConsoleApp, dashboardApp, anApp()]),
    app_policy_rules: obtained({ rst1: accessRules }),
    access_policies: obtained([{ id: "rst1", type: "ACCESS_POLICY", name: "Two factors", status: "ACTIVE" }]),
    admin_console_app: obtained({ app: adminConsoleApp, rules: accessRules }),
    dashboard_app: obtained({ app: dashboardApp, rules: accessRules }),
    admin_console_settings: obtained({ sessionIdleTimeoutMinutes: 15, sessionMaxLifetimeMinutes: 720 }),
    authenticators: obtained([
      { id: "aut1", key: "smart_card_idp", name: "Smart Card Authenticator", status: "ACTIVE" },
      {
        id: "aut2",
        key: "okta_verify",
        name: "Okta Verify",
        status: "ACTIVE",
        settings: { compliance: { fips: "REQUIRED" } },
      },
    ]),
    brand_sign_in_pages: obtained([
      { brand: { id: "bnd1", name: "acme" }, page: obtained({ kind: "customized" as const, content: bannerPage }) },
    ]),
    network_zones: obtained([aZone(), anAnonymizerZone()]),
    api_tokens: obtained([aToken()]),
    api_token_owners: obtained({
      "00u1": {
        login: "siem@acme.example",
        roles: obtained([aRole()]),
        groups: obtained([{ id: "00gEveryone", name: "Everyone", roles: obtained([]) }]),
      },
    }),
    built_in_groups: obtained([anEveryoneGroup()]),
    log_streams: obtained([{ id: "0oaLog", name: "SIEM", type: "splunk_cloud_logstreaming", status: "ACTIVE" }]),
    saml_idps: obtained([]),
    smart_card_idps: obtained([{ idp: aSmartCardIdp(), certificate: obtained(dodCertificate) }]),
    ...changes,
  };
}
