import type { JsonObject } from "../../shared/json.ts";
import { accessPolicy, accessRule, catchAllRule, passwordOnly, phishingResistant } from "../objects/access_policies.ts";
import { appId, directoryApp, webApp } from "../objects/app_objects.ts";
import { oktaVerify, smartCard } from "../objects/authenticator_objects.ts";
import { smartCardIdp } from "../objects/smart_card_idp.ts";
import { oktaId } from "../objects/ids_and_links.ts";
import { listingOf, type App, type OrgContents, type PolicyWithRules, type Site } from "../objects/org_contents.ts";
import { passwordPolicy } from "../objects/password_policies.ts";
import { apiToken, groupId } from "../objects/people_objects.ts";
import { defaultPolicy, policyId, withPolicies, type RuleSpec } from "../objects/policy_objects.ts";
import {
  allBut,
  anywhere,
  defaultSessionRule,
  defaultSignOnPolicy,
  forGroup,
  fromZones,
  onManagedDevices,
  sessionRule,
  signOnPolicy,
} from "../objects/sign_on_policies.ts";
import { ipZone, zoneId, zoneObject } from "../objects/zone_objects.ts";
import { compliantOrg, stigPassword } from "./compliant.ts";
import { firstPartyApps } from "./empty.ts";

const office = "Office network";
const guests = "Guest network";
const closed = "Closed office";
const deleted = "Deleted zone";
const wide = "Nearly everywhere";
const abroad = "Everywhere but one country";
const unfilled = "Not filled in yet";
const strict = { idleMinutes: 15, lifetimeMinutes: 1080, persistentCookie: false };
const stig = "STIG strong authentication";

/** The compliant org with what decides in rare cases only: rules that deny, zones left out, devices, a directory as well as Okta. */
export function edgeOrg(site: Site): OrgContents {
  const whole = compliantOrg(site);
  const testCards = smartCardIdp(site, { name: "Test cards", issuedBy: "jitc" });
  return {
    ...whole,
    name: "Edge practice org",
    apps: listingOf([...firstPartyApps(site, whole.id, { browserPlugin: stig }), ...apps(site, whole.id)]),
    assignedApps: [appId("Travel portal")],
    policies: [
      ...withPolicies(whole.policies, [...sessionPolicies(site), ...appPolicies(site)]),
      passwordPolicy(site, {
        name: "Active Directory Policy",
        priority: 3,
        system: true,
        provider: "ACTIVE_DIRECTORY",
        groupIds: [groupId("Everyone")],
        settings: { ...stigPassword, maxAttempts: 0 },
      }),
    ],
    zones: [...whole.zones, ...zones(site)],
    authenticators: [
      ...whole.authenticators.map((one) =>
        one["key"] === "okta_verify" ? oktaVerify(site, "OPTIONAL", "INACTIVE") : one,
      ),
      {
        ...smartCard(site, oktaId("0oa", "Old badges"), "INACTIVE"),
        id: oktaId("aut", "Old badges"),
        name: "Old badges",
      },
    ],
    identityProviders: [...whole.identityProviders, testCards.identityProvider],
    identityProviderKeys: [...whole.identityProviderKeys, testCards.key],
    apiTokens: [...whole.apiTokens, apiToken(site, { name: "Old token", ownerLogin: "siem@practice.example" })],
    // A SIEM pulls the log with a token.
    logStreams: [],
    outsideResourceSet: [
      policyId("OKTA_SIGN_ON", defaultPolicy.name),
      policyId("PASSWORD", defaultPolicy.name),
      ...whole.brands.filter(({ brand }) => brand["isDefault"] === true).map(({ brand }) => brand.id),
    ],
  };
}

function zones(site: Site) {
  const range = { type: "RANGE", value: "1.0.0.0-223.255.255.255" };
  return [
    ipZone(site, guests, ["203.0.113.0/24"]),
    ipZone(site, closed, ["192.0.2.0/24"], { status: "INACTIVE" }),
    ipZone(site, unfilled, []),
    zoneObject(site, {
      name: wide,
      type: "IP",
      usage: "POLICY",
      fields: { gateways: [range, { type: "CIDR", value: "2000::/3" }], proxies: null },
    }),
    zoneObject(site, {
      name: abroad,
      type: "DYNAMIC_V2",
      usage: "POLICY",
      fields: {
        locations: { include: [], exclude: [{ country: "KP", region: null }] },
        ipServiceCategories: { include: [], exclude: [] },
        asns: { include: [], exclude: [] },
      },
    }),
  ];
}

function sessionPolicies(site: Site): readonly PolicyWithRules[] {
  const denied = sessionRule({
    name: "Not as a guest",
    priority: 1,
    ...strict,
    network: fromZones(zoneId(guests)),
    access: "DENY",
  });
  const lax = { idleMinutes: 60, lifetimeMinutes: 1080, persistentCookie: false };
  return [
    signOnPolicy(site, {
      name: "Denied first",
      priority: 1,
      groupIds: [groupId("HR integrations")],
      rules: [denied, sessionRule({ name: "Everybody else", priority: 2, ...strict, network: anywhere })],
    }),
    signOnPolicy(site, {
      name: "All but a closed zone",
      priority: 2,
      groupIds: [groupId("HR integrations")],
      rules: [sessionRule({ name: "Elsewhere", priority: 1, ...strict, network: allBut(closed) })],
    }),
    signOnPolicy(site, {
      name: "Office, then lax",
      priority: 3,
      groupIds: [groupId("HR integrations")],
      rules: [
        sessionRule({ name: "Office", priority: 1, ...strict, network: fromZones(zoneId(office)) }),
        sessionRule({ name: "On the road", priority: 2, ...lax, network: anywhere }),
      ],
    }),
    signOnPolicy(site, { name: "Not used yet", priority: 4, groupIds: [groupId("HR integrations")], rules: [] }),
    signOnPolicy(site, {
      name: "First rule switched off",
      priority: 5,
      groupIds: [groupId("HR integrations")],
      rules: [
        { ...sessionRule({ name: "Off", priority: 1, ...lax, network: anywhere }), status: "INACTIVE" },
        sessionRule({ name: "On", priority: 2, ...strict, network: anywhere }),
      ],
    }),
    defaultSignOnPolicy(site, 6, [
      forGroup(sessionRule({ name: "Everyone", priority: 1, ...strict, network: fromZones("ALL_ZONES") }), "Everyone"),
      defaultSessionRule(2),
    ]),
  ];
}

function appPolicies(site: Site): readonly PolicyWithRules[] {
  const allow = (name: string, priority: number, network: JsonObject) =>
    accessRule({ name, priority, network, verification: phishingResistant });
  const deny = (name: string, network: JsonObject) =>
    accessRule({ name, priority: 0, access: "DENY", network, verification: phishingResistant });
  const policy = (name: string, ...rules: readonly RuleSpec[]) => accessPolicy(site, { name, rules });
  return [
    policy(
      "Okta Dashboard",
      deny("Not as a guest", fromZones(zoneId(guests))),
      onManagedDevices(allow("Managed devices", 1, fromZones(zoneId(office)))),
      accessRule({
        name: "Other devices",
        priority: 2,
        network: fromZones(zoneId(office)),
        verification: passwordOnly,
      }),
      catchAllRule("DENY"),
    ),
    policy(
      "Okta Admin Console",
      forGroup(allow("Everyone", 0, fromZones(zoneId(office))), "Everyone"),
      catchAllRule("DENY"),
    ),
    policy(
      "Denied without a zone",
      deny("Nobody of HR", anywhere),
      allow("Office", 1, fromZones(zoneId(office))),
      catchAllRule("DENY"),
    ),
    policy(wide, allow("From there", 0, fromZones(zoneId(wide))), catchAllRule("DENY")),
    policy(abroad, allow("From there", 0, fromZones(zoneId(abroad))), catchAllRule("DENY")),
    policy("All but a deleted zone", allow("Elsewhere", 0, allBut(deleted)), catchAllRule("DENY")),
    policy("Any defined zone", allow("From there", 0, fromZones("ALL_ZONES")), catchAllRule("DENY")),
    policy("Unclear zone, open catch-all", allow("From there", 0, fromZones(zoneId(unfilled))), catchAllRule("ALLOW")),
  ];
}

/** One app for each of these policies, named after it; one that is as it should be; and an identity source, which nobody signs in to. */
function apps(site: Site, orgId: string): readonly App[] {
  const names = [
    "Denied without a zone",
    wide,
    abroad,
    "All but a deleted zone",
    "Any defined zone",
    "Unclear zone, open catch-all",
  ];
  return [
    webApp(site, { label: "Travel portal", policy: stig, orgId }),
    ...names.map((name) => webApp(site, { label: name, policy: name, orgId })),
    directoryApp(site, {
      name: "custom_identity_source",
      label: "Identity source",
      features: ["IMPORT_NEW_USERS"],
      policy: wide,
      orgId,
    }),
  ];
}
