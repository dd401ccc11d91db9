import {
  accessPolicy,
  accessRule,
  anyTwoFactors,
  catchAllRule,
  methodChain,
  passwordOnly,
  phishingResistant,
} from "../objects/access_policies.ts";
import { authenticatorObject, commonAuthenticators, oktaVerify, smartCard } from "../objects/authenticator_objects.ts";
import { automation, policyId } from "../objects/policy_objects.ts";
import { brand } from "../objects/brand_objects.ts";
import { logStream } from "../objects/log_stream_objects.ts";
import { oktaId } from "../objects/ids_and_links.ts";
import {
  listingOf,
  type OrgContents,
  type PolicyWithRules,
  type Resource,
  type Site,
} from "../objects/org_contents.ts";
import { defaultPasswordPolicy, passwordPolicy } from "../objects/password_policies.ts";
import { apiToken, builtInGroups, customRole, group, groupId, user } from "../objects/people_objects.ts";
import { dodBannerPage, shortenedBannerPage } from "../objects/sign_in_page.ts";
import {
  anywhere,
  defaultSessionRule,
  defaultSignOnPolicy,
  fromZones,
  sessionRule,
  signOnPolicy,
} from "../objects/sign_on_policies.ts";
import { smartCardIdp } from "../objects/smart_card_idp.ts";
import { builtInZones, ipZone, zoneId } from "../objects/zone_objects.ts";
import { anyTwoFactorsPolicy, firstPartyApps } from "./empty.ts";
import { businessApps, highAssurance, passwordThenEmail } from "./typical_apps.ts";

const orgId = oktaId("00o", "typical");
const headquarters = "Headquarters";
const branch = "Branch offices";

/** An org as found in practice: some settings right, some never reviewed, policies shared by many apps. */
export function typicalOrg(site: Site): OrgContents {
  const smartCards = smartCardIdp(site, { name: "Company badges", issuedBy: "company" });
  return {
    id: orgId,
    name: "Typical practice org",
    pipeline: "idx",
    adminConsoleSettings: { sessionIdleTimeoutMinutes: 30, sessionMaxLifetimeMinutes: 720 },
    apps: listingOf([
      ...firstPartyApps(site, orgId, { browserPlugin: "Any two factors" }),
      ...businessApps(site, orgId),
    ]),
    serviceAppPolicyId: policyId("ACCESS_POLICY", "Any two factors"),
    policies: [...sessionPolicies(site), ...passwordPolicies(site), ...appPolicies(site), ...automations(site)],
    brands: [
      brand(site, { name: "practice-org", isDefault: true, customizedPage: "uncustomized" }),
      brand(site, { name: "Agency portal", customizedPage: { html: dodBannerPage() } }),
      brand(site, { name: "Contractor portal", customizedPage: { html: shortenedBannerPage() } }),
      brand(site, { name: "Acquired company", customizedPage: "missing" }),
    ],
    authenticators: [
      ...commonAuthenticators(site),
      authenticatorObject(site, { key: "google_otp", type: "app", name: "Google Authenticator", settings: {} }),
      oktaVerify(site, "OPTIONAL"),
      smartCard(site, smartCards.identityProvider.id),
      authenticatorObject(site, { key: "webauthn", type: "security_key", name: "Security Key or Biometric" }),
    ],
    zones: [
      ...builtInZones(site, "INACTIVE"),
      ipZone(site, headquarters, ["198.51.100.0/24"]),
      ipZone(site, branch, ["203.0.113.0/25", "203.0.113.128/25"]),
      ipZone(site, "Closed data center", ["192.0.2.0/24"], { status: "INACTIVE" }),
    ],
    apiTokens: apiTokens(site),
    logStreams: [
      logStream(site, {
        name: "Splunk",
        type: "splunk_cloud_logstreaming",
        settings: { host: "practice.splunkcloud.com", edition: "aws" },
      }),
      logStream(site, {
        name: "Old archive",
        type: "aws_eventbridge",
        status: "INACTIVE",
        settings: { accountId: "123456789012", eventSourceName: "practice_archive", region: "us-east-1" },
      }),
    ],
    identityProviders: [smartCards.identityProvider],
    identityProviderKeys: [smartCards.key],
    users: [
      user(site, { login: "alex@practice.example", firstName: "Alex", lastName: "Admin", roles: ["SUPER_ADMIN"] }),
      user(site, { login: "bea@practice.example", firstName: "Bea", lastName: "Builder", groups: ["Platform team"] }),
      user(site, {
        login: "ci@practice.example",
        firstName: "CI",
        lastName: "Service",
        roles: ["APP_ADMIN", "READ_ONLY_ADMIN"],
      }),
      user(site, { login: "hr@practice.example", firstName: "HR", lastName: "Service", groups: ["HR integrations"] }),
    ],
    groups: [
      ...builtInGroups(site),
      group(site, "Employees"),
      group(site, "Contractors"),
      group(site, "Platform team", ["SUPER_ADMIN"]),
      group(site, "HR integrations", ["USER_ADMIN"]),
    ],
    customRoles: [customRole(site, "UserCreatorRole", "Creates users"), customRole(site, "AppViewer", "Sees apps")],
  };
}

function sessionPolicies(site: Site): readonly PolicyWithRules[] {
  const usual = { idleMinutes: 60, lifetimeMinutes: 720, persistentCookie: false, network: anywhere };
  const offices = { idleMinutes: 15, network: fromZones(zoneId(headquarters), zoneId(branch)) };
  const migration = { idleMinutes: 120, lifetimeMinutes: 2880, persistentCookie: true };
  return [
    signOnPolicy(site, {
      name: "Employees",
      priority: 1,
      groupIds: [groupId("Employees")],
      rules: [
        sessionRule({ ...usual, ...offices, name: "From our offices", priority: 1 }),
        sessionRule({ ...usual, name: "On the road", priority: 2 }),
      ],
    }),
    signOnPolicy(site, {
      name: "Contractors",
      description: "Extended for the 2024 migration",
      priority: 2,
      groupIds: [groupId("Contractors")],
      rules: [sessionRule({ ...usual, ...migration, name: "Migration", priority: 1 })],
    }),
    signOnPolicy(site, {
      name: "Legacy VPN",
      priority: 3,
      status: "INACTIVE",
      groupIds: [groupId("Employees")],
      rules: [],
    }),
    defaultSignOnPolicy(site, 4, [defaultSessionRule(1)]),
  ];
}

function passwordPolicies(site: Site): readonly PolicyWithRules[] {
  return [
    passwordPolicy(site, {
      name: "Employees",
      description: "Passwords of everybody who works here",
      priority: 1,
      groupIds: [groupId("Employees")],
      settings: {
        minLength: 15,
        minSymbol: 1,
        commonPasswordsExcluded: true,
        maxAgeDays: 60,
        minAgeMinutes: 1440,
        historyCount: 5,
        maxAttempts: 3,
      },
    }),
    defaultPasswordPolicy(site, 2),
    passwordPolicy(site, {
      name: "Active Directory Policy",
      description:
        "The active directory policy contains settings that apply to users using delegated authentication from active directory integrations.",
      priority: 3,
      system: true,
      provider: "ACTIVE_DIRECTORY",
      groupIds: [groupId("Everyone")],
      settings: { maxAttempts: 0 },
    }),
  ];
}

function appPolicies(site: Site): readonly PolicyWithRules[] {
  const fromOffices = accessRule({
    name: "Offices, phishing resistant",
    priority: 0,
    network: fromZones(zoneId(headquarters), zoneId(branch)),
    verification: phishingResistant,
  });
  return [
    accessPolicy(site, { name: "Okta Admin Console", rules: [catchAllRule("ALLOW", anyTwoFactors)] }),
    accessPolicy(site, {
      name: "Okta Dashboard",
      rules: [fromOffices, catchAllRule("ALLOW", passwordOnly)],
    }),
    anyTwoFactorsPolicy(site),
    accessPolicy(site, {
      name: highAssurance,
      rules: [
        fromOffices,
        accessRule({ name: "Pilot", priority: 1, status: "INACTIVE", verification: anyTwoFactors }),
        catchAllRule("DENY"),
      ],
    }),
    accessPolicy(site, {
      name: passwordThenEmail,
      rules: [
        accessRule({
          name: "Everybody",
          priority: 0,
          verification: methodChain(
            { key: "okta_password", method: "password" },
            { key: "okta_email", method: "email" },
          ),
        }),
        catchAllRule("ALLOW", passwordOnly),
      ],
    }),
  ];
}

function automations(site: Site): readonly PolicyWithRules[] {
  return [
    automation(site, {
      name: "Dormant contractors",
      status: "ACTIVE",
      inactiveDays: 90,
      groupIds: [groupId("Contractors")],
    }),
    automation(site, {
      name: "User Inactivity (draft)",
      status: "INACTIVE",
      inactiveDays: 35,
      groupIds: [],
    }),
  ];
}

function apiTokens(site: Site): readonly Resource[] {
  return [
    apiToken(site, { name: "Terraform", ownerLogin: "alex@practice.example", network: anywhere }),
    apiToken(site, {
      name: "Bea's laptop",
      ownerLogin: "bea@practice.example",
      network: fromZones(zoneId(headquarters)),
    }),
    apiToken(site, { name: "CI", ownerLogin: "ci@practice.example", network: fromZones(zoneId("Closed data center")) }),
    apiToken(site, { name: "HR import", ownerLogin: "hr@practice.example", network: fromZones(zoneId(headquarters)) }),
  ];
}
