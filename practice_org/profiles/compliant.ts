import { accessPolicy, accessRule, catchAllRule, phishingResistant } from "../objects/access_policies.ts";
import { appObject, webApp } from "../objects/app_objects.ts";
import { commonAuthenticators, oktaVerify, smartCard } from "../objects/authenticator_objects.ts";
import { automation, policyId } from "../objects/policy_objects.ts";
import { brand } from "../objects/brand_objects.ts";
import { logStream } from "../objects/log_stream_objects.ts";
import { oktaId } from "../objects/ids_and_links.ts";
import { listingOf, type OrgContents, type PolicyWithRules, type Site } from "../objects/org_contents.ts";
import { defaultPasswordPolicy, passwordPolicy, type PasswordSettings } from "../objects/password_policies.ts";
import { apiToken, builtInGroups, customRole, group, groupId, user } from "../objects/people_objects.ts";
import { bannerDialogPage } from "../objects/sign_in_page.ts";
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
import { firstPartyApps } from "./empty.ts";

export const office = "Office network";
export const stig = "STIG strong authentication";

/** A DoD org that followed the STIG and its guides to the letter; some settings are exactly at their limit. */
export function compliantOrg(site: Site): OrgContents {
  const id = oktaId("00o", "compliant");
  const smartCards = smartCardIdp(site, { name: "DoD CAC", issuedBy: "dod" });
  return {
    id,
    name: "Compliant practice org",
    pipeline: "idx",
    adminConsoleSettings: { sessionIdleTimeoutMinutes: 15, sessionMaxLifetimeMinutes: 720 },
    apps: listingOf([
      ...firstPartyApps(site, id, { browserPlugin: stig }),
      webApp(site, { label: "Travel portal", policy: stig, orgId: id }),
      appObject(site, {
        name: "practice_timekeeping_1",
        label: "Timekeeping",
        signOnMode: "SAML_2_0",
        policyId: policyId("ACCESS_POLICY", stig),
        orgId: id,
      }),
    ]),
    serviceAppPolicyId: policyId("ACCESS_POLICY", stig),
    policies: [
      ...sessionPolicies(site),
      ...passwordPolicies(site),
      ...["Okta Admin Console", "Okta Dashboard", stig].map((name) => strongPolicy(site, name)),
      automation(site, {
        name: "User Inactivity",
        status: "ACTIVE",
        inactiveDays: 35,
        groupIds: [groupId("Everyone")],
      }),
    ],
    // The subdomain brand cannot have a page of its own: Okta answers 404 for it.
    brands: [
      brand(site, { name: "practice-org", isDefault: true, customizedPage: "missing" }),
      brand(site, { name: "Agency sign-in", customizedPage: { html: bannerDialogPage() } }),
    ],
    authenticators: [
      ...commonAuthenticators(site),
      oktaVerify(site, "REQUIRED"),
      smartCard(site, smartCards.identityProvider.id),
    ],
    zones: [...builtInZones(site, "ACTIVE"), ipZone(site, office, ["198.51.100.0/24"])],
    apiTokens: [
      apiToken(site, { name: "SIEM export", ownerLogin: "siem@practice.example", network: fromZones(zoneId(office)) }),
      apiToken(site, { name: "HR import", ownerLogin: "hr@practice.example", network: fromZones(zoneId(office)) }),
    ],
    logStreams: [
      logStream(site, {
        name: "SIEM",
        type: "aws_eventbridge",
        settings: { accountId: "123456789012", eventSourceName: "practice_siem", region: "us-gov-west-1" },
      }),
    ],
    identityProviders: [smartCards.identityProvider],
    identityProviderKeys: [smartCards.key],
    users: [
      user(site, {
        login: "siem@practice.example",
        firstName: "SIEM",
        lastName: "Service",
        roles: ["READ_ONLY_ADMIN"],
      }),
      user(site, { login: "hr@practice.example", firstName: "HR", lastName: "Service", groups: ["HR integrations"] }),
      user(site, { login: "admin@practice.example", firstName: "Alex", lastName: "Admin", roles: ["SUPER_ADMIN"] }),
    ],
    groups: [...builtInGroups(site), group(site, "HR integrations", ["USER_ADMIN"])],
    customRoles: [customRole(site, "UserCreatorRole", "Creates users")],
  };
}

function sessionPolicies(site: Site): readonly PolicyWithRules[] {
  const limits = { idleMinutes: 15, lifetimeMinutes: 1080, persistentCookie: false };
  const rule = sessionRule({ name: "STIG session", priority: 1, ...limits, network: fromZones(zoneId(office)) });
  // Otherwise the built-in rule, which cannot be removed, lets in from anywhere.
  const denied = sessionRule({ name: "Elsewhere", priority: 2, ...limits, network: anywhere, access: "DENY" });
  return [
    signOnPolicy(site, {
      name: "Administrators",
      priority: 1,
      groupIds: [groupId("HR integrations")],
      rules: [rule],
    }),
    defaultSignOnPolicy(site, 2, [rule, denied, defaultSessionRule(3)]),
  ];
}

/** Each value exactly at the STIG's limit. */
export const stigPassword: PasswordSettings = {
  minLength: 15,
  minLowerCase: 1,
  minUpperCase: 1,
  minNumber: 1,
  minSymbol: 1,
  commonPasswordsExcluded: true,
  maxAgeDays: 60,
  minAgeMinutes: 1440,
  historyCount: 5,
  maxAttempts: 3,
};

function passwordPolicies(site: Site): readonly PolicyWithRules[] {
  return [
    passwordPolicy(site, {
      name: "Administrators",
      priority: 1,
      groupIds: [groupId("HR integrations")],
      settings: stigPassword,
    }),
    defaultPasswordPolicy(site, 2, stigPassword),
  ];
}

/** Phishing-resistant from known networks, nothing from anywhere else. */
function strongPolicy(site: Site, name: string): PolicyWithRules {
  return accessPolicy(site, {
    name,
    rules: [
      accessRule({
        name: "Known networks, phishing resistant",
        priority: 0,
        network: fromZones(zoneId(office)),
        verification: phishingResistant,
      }),
      catchAllRule("DENY"),
    ],
  });
}
