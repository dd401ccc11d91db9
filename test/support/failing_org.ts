import { accessPolicy, accessRule, catchAllRule, passwordOnly } from "../../practice_org/objects/access_policies.ts";
import { commonAuthenticators, oktaVerify } from "../../practice_org/objects/authenticator_objects.ts";
import { brand } from "../../practice_org/objects/brand_objects.ts";
import type { OrgContents, PolicyWithRules, Resource, Site } from "../../practice_org/objects/org_contents.ts";
import { defaultPasswordPolicy, passwordPolicy } from "../../practice_org/objects/password_policies.ts";
import { apiToken, groupId } from "../../practice_org/objects/people_objects.ts";
import { policyId, type RuleSpec } from "../../practice_org/objects/policy_objects.ts";
import { dodBannerPage, signInPage } from "../../practice_org/objects/sign_in_page.ts";
import {
  anywhere,
  defaultSessionRule,
  defaultSignOnPolicy,
  fromZones,
  sessionRule,
  signOnPolicy,
} from "../../practice_org/objects/sign_on_policies.ts";
import { builtInZones, ipZone, zoneId } from "../../practice_org/objects/zone_objects.ts";
import { compliantOrg } from "../../practice_org/profiles/compliant.ts";

/** An org in which every rule fails that Terraform can fix, and the two about network zones of rules. */
export function failingOrg(site: Site): OrgContents {
  const org = compliantOrg(site);
  const automations = org.policies.filter(({ policy }) => policy.type === "USER_LIFECYCLE");
  const smartCards = org.authenticators.filter((item) => item["key"] === "smart_card_idp");
  return {
    ...org,
    name: "Failing practice org",
    policies: [...sessionPolicies(site), ...passwordPolicies(site), ...appPolicies(site, org), ...automations],
    brands: [
      brand(site, { name: "Okta subdomain", isDefault: true, customizedPage: { html: dodBannerPage() } }),
      brand(site, { name: "practice-org", customizedPage: "uncustomized" }),
      brand(site, { name: "Agency portal", customizedPage: { html: signInPage() } }),
      brand(site, { name: "Acquired company", customizedPage: "missing" }),
    ],
    authenticators: [...commonAuthenticators(site), oktaVerify(site, "OPTIONAL"), ...smartCards],
    zones: [
      ...builtInZones(site, "INACTIVE").map(withoutAnonymizers),
      ipZone(site, "Headquarters", ["198.51.100.0/24"]),
    ],
    apiTokens: [apiToken(site, { name: "SIEM export", ownerLogin: "siem@practice.example", network: anywhere })],
    logStreams: [],
  };
}

/** The failing org, with rules that deny before and after others that allow. */
export function denyingOrg(site: Site): OrgContents {
  const org = failingOrg(site);
  const lax = { idleMinutes: 480, lifetimeMinutes: 2880, persistentCookie: true, network: anywhere };
  const there = { ...lax, access: "DENY", network: fromZones(zoneId("Headquarters")) } as const;
  const policy = (name: string, priority: number, rules: readonly RuleSpec[]) =>
    signOnPolicy(site, { name, priority, groupIds: [groupId("HR integrations")], rules });
  return {
    ...org,
    policies: [
      ...org.policies.filter(({ policy: { type, name } }) => type !== "OKTA_SIGN_ON" && name !== "Okta Dashboard"),
      policy("Travelers", 1, [
        sessionRule({ ...there, name: "Not from there", priority: 1 }),
        sessionRule({ ...lax, name: "From anywhere else", priority: 2 }),
      ]),
      policy("Shadowed", 2, [
        sessionRule({ ...lax, name: "All of them", priority: 1 }),
        sessionRule({ ...there, name: "Never reached", priority: 2 }),
      ]),
      defaultSignOnPolicy(site, 3, [
        sessionRule({ ...lax, name: "Everybody else", priority: 1, access: "DENY" }),
        defaultSessionRule(2),
      ]),
      accessPolicy(site, {
        name: "Okta Dashboard",
        rules: [
          accessRule({ ...there, name: "Not from there", priority: 0, verification: passwordOnly }),
          catchAllRule("ALLOW", passwordOnly),
        ],
      }),
    ],
  };
}

function sessionPolicies(site: Site): readonly PolicyWithRules[] {
  const lax = sessionRule({
    name: "Convenient",
    priority: 1,
    idleMinutes: 480,
    lifetimeMinutes: 0,
    persistentCookie: true,
    network: anywhere,
  });
  return [
    signOnPolicy(site, { name: "Administrators", priority: 1, groupIds: [groupId("HR integrations")], rules: [lax] }),
    defaultSignOnPolicy(site, 2, [defaultSessionRule(1)]),
  ];
}

function passwordPolicies(site: Site): readonly PolicyWithRules[] {
  const settings = { minLowerCase: 0, minUpperCase: 0, minNumber: 0, maxAttempts: 0 };
  const groupIds = [groupId("HR integrations")];
  return [
    passwordPolicy(site, { name: "Administrators", description: "Of two\nlines", priority: 1, groupIds, settings }),
    defaultPasswordPolicy(site, 2, settings),
  ];
}

/** One with a rule of its own for each app that a rule of the STIG is about, one with nothing but the catch-all. */
function appPolicies(site: Site, org: OrgContents): readonly PolicyWithRules[] {
  const names = org.policies.flatMap(({ policy }) => (policy.type === "ACCESS_POLICY" ? [policy.name] : []));
  const everybody = accessRule({ name: "Everybody", priority: 0, verification: passwordOnly });
  return names.map((name) =>
    accessPolicy(site, {
      name,
      rules:
        policyId("ACCESS_POLICY", name) === org.serviceAppPolicyId
          ? [catchAllRule("ALLOW")]
          : [...(name === "Okta Dashboard" ? [everybody] : []), catchAllRule("ALLOW", passwordOnly)],
    }),
  );
}

/** The enhanced zone as somebody emptied it: not one that only has to be switched on. */
function withoutAnonymizers(zone: Resource): Resource {
  return zone["type"] === "DYNAMIC_V2" ? { ...zone, ipServiceCategories: { include: ["TOR"], exclude: [] } } : zone;
}
