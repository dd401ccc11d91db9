import type { JsonObject } from "../../shared/json.ts";
import {
  accessPolicy,
  accessRule,
  catchAllRule,
  methodChain,
  passwordOnly,
  phishingResistant,
} from "../objects/access_policies.ts";
import { appId, directoryApp, webApp } from "../objects/app_objects.ts";
import { authenticatorObject, oktaVerify, smartCard } from "../objects/authenticator_objects.ts";
import { brand } from "../objects/brand_objects.ts";
import { smartCardIdp } from "../objects/smart_card_idp.ts";
import { oktaId } from "../objects/ids_and_links.ts";
import {
  listingOf,
  type App,
  type BrandWithPages,
  type OrgContents,
  type PolicyWithRules,
  type Resource,
  type Site,
} from "../objects/org_contents.ts";
import { passwordPolicy } from "../objects/password_policies.ts";
import { apiToken, groupId } from "../objects/people_objects.ts";
import { defaultPolicy, policyId, withPolicies, type RuleSpec } from "../objects/policy_objects.ts";
import { hiddenBannerPage, signInPage } from "../objects/sign_in_page.ts";
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
  type SessionRule,
} from "../objects/sign_on_policies.ts";
import { ipZone, zoneId, zoneObject } from "../objects/zone_objects.ts";
import { compliantOrg, office, stig, stigPassword } from "./compliant.ts";
import { firstPartyApps } from "./empty.ts";

const guests = "Guest network";
const closed = "Closed office";
const deleted = "Deleted zone";
const wide = "Nearly everywhere";
const halves = "Everywhere in two halves";
const abroad = "Everywhere but one country";
const unfilled = "Not filled in yet";
const strict = { idleMinutes: 15, lifetimeMinutes: 1080, persistentCookie: false };

/**
 * The compliant org with what decides in rare cases only: rules for a few people, rules that deny, zones that do not restrict,
 * hidden banners, devices, a directory as well as Okta.
 */
export function edgeOrg(site: Site): OrgContents {
  const whole = compliantOrg(site);
  const testCards = smartCardIdp(site, { name: "Test cards", issuedBy: "jitc" });
  const withoutKey = smartCardIdp(site, { name: "Cards without a key", issuedBy: "company" });
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
    brands: [...whole.brands, ...brands(site)],
    zones: [
      ...whole.zones.map((zone) =>
        zone["name"] === "DefaultExemptIpZone"
          ? { ...zone, gateways: [{ type: "CIDR", value: "198.51.100.128/25" }] }
          : zone,
      ),
      ...zones(site),
    ],
    authenticators: [
      ...whole.authenticators.map((one) =>
        one["key"] === "okta_verify" ? oktaVerify(site, "OPTIONAL", "INACTIVE") : one,
      ),
      oktaVerifyPart(site, "totp", "Okta Verify TOTP"),
      oktaVerifyPart(site, "push", "Okta Verify Push"),
      oktaVerifyPart(site, "fastpass", "Okta FastPass", { compliance: { fips: "REQUIRED" } }),
      {
        ...smartCard(site, oktaId("0oa", "Old badges"), "INACTIVE"),
        id: oktaId("aut", "Old badges"),
        name: "Old badges",
      },
    ],
    identityProviders: [...whole.identityProviders, testCards.identityProvider, withoutKey.identityProvider],
    identityProviderKeys: [...whole.identityProviderKeys, testCards.key],
    apiTokens: [
      ...whole.apiTokens,
      apiToken(site, { name: "Old token", ownerLogin: "siem@practice.example" }),
      ...[halves, unfilled].map((zone) =>
        apiToken(site, {
          name: `Only from ${zone}`,
          ownerLogin: "siem@practice.example",
          network: fromZones(zoneId(zone)),
        }),
      ),
    ],
    // A SIEM pulls the log with a token.
    logStreams: [],
    outsideResourceSet: [
      policyId("OKTA_SIGN_ON", defaultPolicy.name),
      policyId("PASSWORD", defaultPolicy.name),
      ...whole.brands.filter(({ brand }) => brand["isDefault"] === true).map(({ brand }) => brand.id),
    ],
  };
}

/** Two banners that nobody sees, one that a script passes to nothing, and a brand that no domain shows. */
function brands(site: Site): readonly BrandWithPages[] {
  const notice = "I've read & consent to terms in IS user agreem't.";
  return [
    brand(site, { name: "Hidden notice", customizedPage: { html: hiddenBannerPage("hidden") } }),
    brand(site, { name: "Invisible notice", customizedPage: { html: hiddenBannerPage('style="opacity: 0"') } }),
    brand(site, {
      name: "Unused notice",
      customizedPage: { html: signInPage(`        var notice = "${notice}";\n`) },
    }),
    brand(site, { name: "Not launched yet", domain: null, customizedPage: "uncustomized" }),
  ];
}

/** Some orgs have three authenticators instead of one. */
function oktaVerifyPart(site: Site, part: string, name: string, settings: JsonObject = {}): Resource {
  return authenticatorObject(site, { key: `okta_verify_${part}`, type: "app", name, settings });
}

function zones(site: Site) {
  const range = { type: "RANGE", value: "1.0.0.0-223.255.255.255" };
  return [
    ipZone(site, guests, ["203.0.113.0/24"]),
    ipZone(site, closed, ["192.0.2.0/24"], { status: "INACTIVE" }),
    ipZone(site, unfilled, []),
    ipZone(site, halves, ["0.0.0.0/1", "128.0.0.0/1"]),
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
  const rule = (name: string, priority: number, more: Partial<SessionRule> = {}) =>
    sessionRule({ name, priority, ...strict, network: anywhere, ...more });
  const policy = (name: string, priority: number, ...rules: readonly RuleSpec[]) =>
    signOnPolicy(site, { name, priority, groupIds: [groupId("HR integrations")], rules });
  const lax = { idleMinutes: 60 };
  const fromOffice = rule("Office", 1, { network: fromZones(zoneId(office)) });
  const denied = rule("Not as a guest", 1, { network: fromZones(zoneId(guests)), access: "DENY" });
  return [
    policy("Denied first", 1, denied, rule("Everybody else", 2)),
    policy("All but a closed zone", 2, rule("Elsewhere", 1, { network: allBut(closed) })),
    policy("Office, then lax", 3, fromOffice, rule("On the road", 2, lax)),
    policy("Not used yet", 4),
    policy("First rule switched off", 5, { ...rule("Off", 1, lax), status: "INACTIVE" }, rule("On", 2)),
    policy("Any defined zone", 6, forGroup(rule("Everyone", 1, { network: fromZones("ALL_ZONES") }), "Everyone")),
    // Strict for one group; all other users get the built-in rule.
    defaultSignOnPolicy(site, 7, [forGroup(fromOffice, "HR integrations"), defaultSessionRule(2)]),
  ];
}

function appPolicies(site: Site): readonly PolicyWithRules[] {
  const allow = (name: string, priority: number, network: JsonObject, verification = phishingResistant) =>
    accessRule({ name, priority, network, verification });
  // Chains of one step, in which a user proves two factors: a security key with its PIN, and a smart card.
  const securityKey = methodChain({ key: "webauthn", method: "webauthn", userVerification: "REQUIRED" });
  const card = methodChain({ key: "smart_card_idp", method: "cert" });
  const deny = (name: string, network: JsonObject) =>
    accessRule({ name, priority: 0, access: "DENY", network, verification: phishingResistant });
  const policy = (name: string, ...rules: readonly RuleSpec[]) => accessPolicy(site, { name, rules });
  return [
    policy(
      "Okta Dashboard",
      deny("Not as a guest", fromZones(zoneId(guests))),
      onManagedDevices(allow("Managed devices", 1, fromZones(zoneId(office)), card)),
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
      forGroup(allow("Everyone", 0, fromZones(zoneId(office)), securityKey), "Everyone"),
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
