import type { JsonObject } from "../../shared/json.ts";
import {
  accessPolicy,
  accessRule,
  anyTwoFactors,
  catchAllRule,
  passwordOnly,
  phishingResistant,
} from "../objects/access_policies.ts";
import { webApp } from "../objects/app_objects.ts";
import { listingOf, type App, type OrgContents, type PolicyWithRules, type Site } from "../objects/org_contents.ts";
import { apiToken, groupId } from "../objects/people_objects.ts";
import { withPolicies, type RuleSpec } from "../objects/policy_objects.ts";
import {
  allBut,
  anywhere,
  atHighRisk,
  defaultSessionRule,
  defaultSignOnPolicy,
  forGroup,
  fromZones,
  onManagedDevices,
  sessionRule,
  signOnPolicy,
} from "../objects/sign_on_policies.ts";
import { ipZone, zoneId, zoneObject } from "../objects/zone_objects.ts";
import { anyTwoFactorsPolicy } from "./empty.ts";
import { typicalOrg } from "./typical.ts";
import { highAssurance } from "./typical_apps.ts";

const blocked = "Embargoed countries";
const closedOffice = "Closed office";
const lax = { idleMinutes: 480, lifetimeMinutes: 2880, persistentCookie: true };
const strict = { idleMinutes: 15, lifetimeMinutes: 1080, persistentCookie: false };
const shared = "Any two factors";
const closedApps = "Closed since the incident";

/**
 * The typical org, guarded by rules that a careless fix would undo: policies that only deny, rules that deny before others
 * that allow, rules that no one reaches, many apps on one policy, and a zone of countries to be kept out, the only one that
 * a policy can name.
 */
export function guardedOrg(site: Site): OrgContents {
  const whole = typicalOrg(site);
  const kept = whole.policies.filter(({ policy }) => policy.type !== "OKTA_SIGN_ON");
  const system = whole.zones.filter((zone) => zone["system"] === true);
  return {
    ...whole,
    name: "Guarded practice org",
    apps: listingOf([
      ...appsOf(whole),
      ...sharedApps(site, whole.id),
      webApp(site, { label: "Old ledger", policy: closedApps, orgId: whole.id }),
    ]),
    policies: withPolicies(kept, [...sessionPolicies(site), ...appPolicies(site)]),
    zones: [
      ...system,
      zoneObject(site, {
        name: blocked,
        type: "DYNAMIC",
        usage: "POLICY",
        fields: { locations: [{ country: "KP", region: null }], asns: [], proxyType: null },
      }),
      ipZone(site, closedOffice, ["192.0.2.0/24"], { status: "INACTIVE" }),
    ],
    apiTokens: [
      apiToken(site, { name: "Payroll", ownerLogin: "hr@practice.example", network: allBut(closedOffice) }),
      apiToken(site, { name: "Backup", ownerLogin: "hr@practice.example", network: allBut(blocked) }),
    ],
  };
}

function sessionPolicies(site: Site): readonly PolicyWithRules[] {
  const policy = (name: string, priority: number, ...rules: readonly RuleSpec[]) =>
    signOnPolicy(site, { name, priority, groupIds: [groupId("Employees")], rules });
  const deny = (name: string, priority: number, network: JsonObject) =>
    sessionRule({ name, priority, ...strict, network, access: "DENY" });
  return [
    policy("Suspended staff", 1, deny("Nobody", 1, anywhere)),
    policy(
      "Travelers",
      2,
      deny("Not from there", 1, fromZones(zoneId(blocked))),
      sessionRule({ name: "From anywhere else", priority: 2, ...lax, network: anywhere }),
    ),
    policy(
      "Shadowed",
      3,
      sessionRule({ name: "All of them", priority: 1, ...lax, network: anywhere }),
      deny("Never reached", 2, fromZones(zoneId(blocked))),
    ),
    defaultSignOnPolicy(site, 4, [
      atHighRisk(deny("High risk", 1, anywhere)),
      forGroup(sessionRule({ name: "Contractors", priority: 2, ...strict, network: anywhere }), "Contractors"),
      deny("Everybody else", 3, anywhere),
      defaultSessionRule(4),
    ]),
  ];
}

function appPolicies(site: Site): readonly PolicyWithRules[] {
  const deny = (name: string, priority: number, network: JsonObject = anywhere) =>
    accessRule({ name, priority, access: "DENY", network, verification: phishingResistant });
  return [
    accessPolicy(site, {
      name: "Okta Admin Console",
      rules: [
        atHighRisk(deny("High risk", 0)),
        forGroup(accessRule({ name: "Platform team", priority: 1, verification: phishingResistant }), "Platform team"),
        accessRule({ name: "Everybody", priority: 2, verification: passwordOnly }),
        catchAllRule("DENY"),
      ],
    }),
    accessPolicy(site, {
      name: "Okta Dashboard",
      rules: [
        deny("Not from there", 0, fromZones(zoneId(blocked))),
        onManagedDevices(accessRule({ name: "Managed devices", priority: 1, verification: anyTwoFactors })),
        catchAllRule("ALLOW", passwordOnly),
      ],
    }),
    anyTwoFactorsPolicy(site),
    accessPolicy(site, {
      name: highAssurance,
      rules: [
        accessRule({ name: "Elsewhere", priority: 0, network: allBut(blocked), verification: phishingResistant }),
        catchAllRule("DENY"),
      ],
    }),
    accessPolicy(site, {
      name: closedApps,
      rules: [
        accessRule({ name: "Before it", priority: 0, status: "INACTIVE", verification: passwordOnly }),
        catchAllRule("DENY", passwordOnly),
      ],
    }),
  ];
}

function sharedApps(site: Site, orgId: string): readonly App[] {
  return Array.from({ length: 15 }, (_, index) =>
    webApp(site, { label: `Department ${index + 1}`, policy: shared, orgId }),
  );
}

function appsOf({ apps }: OrgContents): readonly App[] {
  return Array.from({ length: apps.length }, (_, index) => apps.get(index));
}
