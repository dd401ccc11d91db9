import { directoryApp } from "../objects/app_objects.ts";
import { oktaId } from "../objects/ids_and_links.ts";
import { itemsOf, listingOf, type OrgContents, type Resource, type Site, type User } from "../objects/org_contents.ts";
import { defaultPasswordPolicy, passwordPolicy } from "../objects/password_policies.ts";
import { apiToken, groupId, user } from "../objects/people_objects.ts";
import { fromZones } from "../objects/sign_on_policies.ts";
import { zoneId } from "../objects/zone_objects.ts";
import { compliantOrg, office, stig, stigPassword } from "./compliant.ts";
import { activeDirectoryFeatures } from "./typical_apps.ts";

const domain = "practice.example";
const agentLogin = "ad-agent@practice.example";

/**
 * The compliant org with users of Active Directory only. DISA leaves inactive accounts and lockout to the directory: the org
 * has no automation, its Default Policy, which nobody can delete, keeps Okta's lockout, and the directory's policy has none.
 */
export function directoryOrg(site: Site): OrgContents {
  const whole = compliantOrg(site);
  const kept = whole.policies.filter(({ policy }) => policy.type !== "PASSWORD" && policy.type !== "USER_LIFECYCLE");
  const users = [...whole.users, user(site, { login: agentLogin, firstName: "AD", lastName: "Agent" })];
  return {
    ...whole,
    name: "Directory practice org",
    apps: listingOf([
      ...itemsOf(whole.apps),
      directoryApp(site, {
        name: "active_directory",
        label: domain,
        features: activeDirectoryFeatures,
        policy: stig,
        orgId: whole.id,
      }),
    ]),
    policies: [
      ...kept,
      defaultPasswordPolicy(site, 1, { ...stigPassword, maxAttempts: 10 }),
      passwordPolicy(site, {
        name: "Active Directory Policy",
        priority: 2,
        system: true,
        provider: "ACTIVE_DIRECTORY",
        groupIds: [groupId("Everyone")],
        settings: { ...stigPassword, maxAttempts: 0 },
      }),
    ],
    // Nobody signs in with it: whether the rule about it applies is for a person to say.
    authenticators: whole.authenticators.filter((one) => one["key"] !== "okta_verify"),
    apiTokens: [
      ...whole.apiTokens,
      apiToken(site, {
        name: "Okta AD Agent",
        clientName: "Okta AD Agent",
        ownerLogin: agentLogin,
        network: fromZones(zoneId(office)),
      }),
    ],
    identityProviders: [...whole.identityProviders, partnerAgency(site)],
    users: users.map(ofDirectory),
  };
}

function ofDirectory(member: User): User {
  const credentials = { provider: { type: "ACTIVE_DIRECTORY", name: domain } };
  return { ...member, user: { ...member.user, credentials } };
}

/** A SAML provider that is the source of its users' profiles. */
function partnerAgency(site: Site): Resource {
  return {
    id: oktaId("0oa", "SAML2 Partner agency"),
    type: "SAML2",
    name: "Partner agency",
    status: "ACTIVE",
    protocol: { type: "SAML2", endpoints: { acs: { binding: "HTTP-POST", type: "INSTANCE" } } },
    policy: { provisioning: { action: "AUTO", profileMaster: true, groups: { action: "NONE" } } },
    _links: { acs: { href: `${site.url}/sso/saml2`, type: "application/xml" } },
  };
}
