import {
  accessPolicy,
  accessRule,
  anyTwoFactors,
  catchAllRule,
  phishingResistant,
} from "../objects/access_policies.ts";
import { appObject } from "../objects/app_objects.ts";
import { anywhere, fromZones } from "../objects/sign_on_policies.ts";
import { policyId } from "../objects/policy_objects.ts";
import { zoneId } from "../objects/zone_objects.ts";
import { typicalOrg } from "./typical.ts";
import type { App, Listing, OrgContents, PolicyWithRules, Site } from "../objects/org_contents.ts";

const sharedPolicies = 25;

/** The apps that the provider brings, and the service application itself. */
export const smallestLargeOrg = 4;

/**
 * A typical org with `appCount` apps in all, the provider's own and the service application among them. The others share
 * a few policies, as in real orgs, and are made when their page is requested: the org's memory does not grow with them.
 */
export function largeOrg(site: Site, appCount: number): OrgContents {
  const typical = typicalOrg(site);
  const policies = Array.from({ length: sharedPolicies }, (_, index) => sharedPolicy(site, index));
  return {
    ...typical,
    name: `Practice org of ${appCount} apps`,
    apps: generatedApps(site, typical, appCount - 1),
    policies: [...typical.policies, ...policies],
  };
}

function generatedApps(site: Site, typical: OrgContents, length: number): Listing<App> {
  const builtIn = smallestLargeOrg - 1;
  const policyIds = Array.from({ length: sharedPolicies }, (_, shared) =>
    policyId("ACCESS_POLICY", policyName(shared)),
  );
  return {
    length,
    get(index) {
      if (index < builtIn) return typical.apps.get(index);
      const number = index - builtIn + 1;
      return appObject(site, {
        name: "oidc_client",
        label: `App ${String(number).padStart(6, "0")}`,
        signOnMode: "OPENID_CONNECT",
        policyId: policyIds[number % sharedPolicies] ?? null,
        orgId: typical.id,
      });
    },
  };
}

function policyName(index: number): string {
  return `Department ${String(index + 1).padStart(2, "0")}`;
}

/** Every fifth policy is reachable from anywhere: large orgs have findings too. */
function sharedPolicy(site: Site, index: number): PolicyWithRules {
  const isLax = index % 5 === 4;
  return accessPolicy(site, {
    name: policyName(index),
    rules: [
      accessRule({
        name: "Staff",
        priority: 0,
        network: isLax ? anywhere : fromZones(zoneId("Headquarters")),
        verification: phishingResistant,
      }),
      isLax ? catchAllRule("ALLOW", anyTwoFactors) : catchAllRule("DENY"),
    ],
  });
}
