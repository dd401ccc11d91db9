import { appObject } from "../objects/app_objects.ts";
import { oktaId } from "../objects/ids_and_links.ts";
import { listingOf, type OrgContents, type Site } from "../objects/org_contents.ts";
import { emptyOrg } from "./empty.ts";

const orgId = oktaId("00o", "classic");

/** A fresh org of the Classic Engine: no app is bound to a policy, and authenticators are no feature of it. */
export function classicOrg(site: Site): OrgContents {
  const fresh = emptyOrg(site);
  const builtIn = [
    ["saasure", "Okta Admin Console"],
    ["okta_enduser", "Okta Dashboard"],
  ] as const;
  return {
    ...fresh,
    id: orgId,
    name: "Classic practice org",
    pipeline: "v1",
    apps: listingOf(
      builtIn.map(([name, label]) =>
        appObject(site, { name, label, signOnMode: "OPENID_CONNECT", policyId: null, orgId }),
      ),
    ),
    serviceAppPolicyId: null,
    missingFeatures: ["/api/v1/authenticators"],
    policies: fresh.policies.filter(({ policy }) => policy.type !== "ACCESS_POLICY"),
  };
}
