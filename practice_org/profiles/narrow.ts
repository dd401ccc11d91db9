import { accessPolicy, accessRule, catchAllRule, passwordOnly, phishingResistant } from "../objects/access_policies.ts";
import { apiToken } from "../objects/people_objects.ts";
import { withPolicies } from "../objects/policy_objects.ts";
import { brand } from "../objects/brand_objects.ts";
import { hiddenBannerPage } from "../objects/sign_in_page.ts";
import {
  defaultSessionRule,
  defaultSignOnPolicy,
  forGroup,
  fromZones,
  sessionRule,
} from "../objects/sign_on_policies.ts";
import { ipZone, zoneId } from "../objects/zone_objects.ts";
import { compliantOrg } from "./compliant.ts";
import type { OrgContents, PolicyWithRules, Site } from "../objects/org_contents.ts";

const office = "Office network";
const everywhere = "Everywhere in two halves";
const nowhere = "Not filled in yet";

/** The compliant org, with rules for a few people only and with zones that do not restrict. */
export function narrowOrg(site: Site): OrgContents {
  const whole = compliantOrg(site);
  return {
    ...whole,
    name: "Narrow practice org",
    policies: withPolicies(whole.policies, [sessionPolicy(site), consolePolicy(site)]),
    zones: [
      ...whole.zones.map((zone) =>
        zone["name"] === "DefaultExemptIpZone"
          ? { ...zone, gateways: [{ type: "CIDR", value: "198.51.100.128/25" }] }
          : zone,
      ),
      ipZone(site, everywhere, ["0.0.0.0/1", "128.0.0.0/1"]),
      ipZone(site, nowhere, []),
    ],
    brands: [
      ...whole.brands,
      brand(site, { name: "Hidden notice", customizedPage: { html: hiddenBannerPage("hidden") } }),
      brand(site, { name: "Invisible notice", customizedPage: { html: hiddenBannerPage('style="opacity: 0"') } }),
      brand(site, { name: "Not launched yet", domain: null, customizedPage: "uncustomized" }),
    ],
    apiTokens: [office, everywhere, nowhere].map((zone) =>
      apiToken(site, {
        name: `Only from ${zone}`,
        ownerLogin: "siem@practice.example",
        network: fromZones(zoneId(zone)),
      }),
    ),
  };
}

/** Strict for one group; all other users get the built-in rule. */
function sessionPolicy(site: Site): PolicyWithRules {
  const strict = sessionRule({
    name: "STIG session",
    priority: 1,
    idleMinutes: 15,
    lifetimeMinutes: 1080,
    persistentCookie: false,
    network: fromZones(zoneId(office)),
  });
  return defaultSignOnPolicy(site, 2, [forGroup(strict, "HR integrations"), defaultSessionRule(2)]);
}

/** Phishing resistant for one group; all other users need a password alone. */
function consolePolicy(site: Site): PolicyWithRules {
  const strict = accessRule({
    name: "Phishing resistant for a group",
    priority: 0,
    network: fromZones(zoneId(everywhere)),
    verification: phishingResistant,
  });
  return accessPolicy(site, {
    name: "Okta Admin Console",
    rules: [forGroup(strict, "HR integrations"), catchAllRule("ALLOW", passwordOnly)],
  });
}
