import { accessPolicy, anyTwoFactors, catchAllRule } from "../objects/access_policies.ts";
import { appObject } from "../objects/app_objects.ts";
import { commonAuthenticators, oktaVerify } from "../objects/authenticator_objects.ts";
import { brand } from "../objects/brand_objects.ts";
import { oktaId } from "../objects/ids_and_links.ts";
import { listingOf, type App, type OrgContents, type PolicyWithRules, type Site } from "../objects/org_contents.ts";
import { defaultPasswordPolicy } from "../objects/password_policies.ts";
import { builtInGroups } from "../objects/people_objects.ts";
import { policyId } from "../objects/policy_objects.ts";
import { defaultSessionRule, defaultSignOnPolicy } from "../objects/sign_on_policies.ts";
import { builtInZones } from "../objects/zone_objects.ts";

/** A fresh org: what the provider sets up, and nothing that an administrator did. */
export function emptyOrg(site: Site): OrgContents {
  const id = oktaId("00o", "empty");
  return {
    id,
    name: "Fresh practice org",
    pipeline: "idx",
    adminConsoleSettings: { sessionIdleTimeoutMinutes: 15, sessionMaxLifetimeMinutes: 720 },
    apps: listingOf(firstPartyApps(site, id)),
    serviceAppPolicyId: policyId("ACCESS_POLICY", "Any two factors"),
    policies: [
      defaultSignOnPolicy(site, 1, [defaultSessionRule(1)]),
      defaultPasswordPolicy(site, 1),
      ...["Okta Admin Console", "Okta Dashboard", "Okta Browser Plugin"].map((name) =>
        accessPolicy(site, { name, rules: [catchAllRule("ALLOW", anyTwoFactors)] }),
      ),
      anyTwoFactorsPolicy(site),
    ],
    brands: [brand(site, { name: "practice-org", isDefault: true, customizedPage: "uncustomized" })],
    authenticators: [...commonAuthenticators(site), oktaVerify(site, "OPTIONAL")],
    zones: builtInZones(site, "INACTIVE"),
    apiTokens: [],
    logStreams: [],
    identityProviders: [],
    identityProviderKeys: [],
    users: [],
    groups: builtInGroups(site),
    customRoles: [],
  };
}

/** The provider's own policy, to which an app is bound by default. */
export function anyTwoFactorsPolicy(site: Site): PolicyWithRules {
  return accessPolicy(site, {
    name: "Any two factors",
    description: "Require two factors to access.",
    system: true,
    rules: [catchAllRule("ALLOW", anyTwoFactors)],
  });
}

/** The apps that the provider brings: each bound to the policy with its name, unless `policies` names another. */
export function firstPartyApps(
  site: Site,
  orgId: string,
  policies: { readonly browserPlugin?: string } = {},
): readonly App[] {
  const firstParty = (name: string, label: string, policyName: string = label): App =>
    appObject(site, {
      name,
      label,
      signOnMode: "OPENID_CONNECT",
      policyId: policyId("ACCESS_POLICY", policyName),
      orgId,
    });
  return [
    firstParty("saasure", "Okta Admin Console"),
    firstParty("okta_enduser", "Okta Dashboard"),
    firstParty("okta_browser_plugin", "Okta Browser Plugin", policies.browserPlugin),
  ];
}
