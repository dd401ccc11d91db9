import { accessPolicy, catchAllRule, methodChain } from "../objects/access_policies.ts";
import { authenticatorObject, commonAuthenticators, smartCard } from "../objects/authenticator_objects.ts";
import { brand } from "../objects/brand_objects.ts";
import { passwordPolicy } from "../objects/password_policies.ts";
import { groupId } from "../objects/people_objects.ts";
import { withPolicies } from "../objects/policy_objects.ts";
import { signInPage } from "../objects/sign_in_page.ts";
import { smartCardIdp } from "../objects/smart_card_idp.ts";
import { emptyOrg } from "./empty.ts";
import type { OrgContents, PolicyWithRules, Resource, Site } from "../objects/org_contents.ts";
import type { JsonObject } from "../../shared/json.ts";

/** A fresh org with settings whose verdict depends on more than one object, or on what the API does not show. */
export function unclearOrg(site: Site): OrgContents {
  const fresh = emptyOrg(site);
  const smartCards = smartCardIdp(site, { name: "Cards without a key", issuedBy: "dod" });
  return {
    ...fresh,
    name: "Unclear practice org",
    policies: [
      ...withPolicies(fresh.policies, chains(site)),
      passwordPolicy(site, {
        name: "Active Directory Policy",
        priority: 2,
        provider: "ACTIVE_DIRECTORY",
        groupIds: [groupId("Everyone")],
      }),
    ],
    brands: [brand(site, { name: "practice-org", isDefault: true, customizedPage: { html: unusedBannerPage() } })],
    authenticators: [
      ...commonAuthenticators(site),
      oktaVerifyPart(site, "totp"),
      oktaVerifyPart(site, "push"),
      oktaVerifyPart(site, "fastpass", { compliance: { fips: "REQUIRED" } }),
      smartCard(site, smartCards.identityProvider.id),
    ],
    identityProviders: [smartCards.identityProvider],
  };
}

/** Chains of one step, in which a user proves two factors: a security key with its PIN, and a smart card. */
function chains(site: Site): readonly PolicyWithRules[] {
  const policy = (name: string, step: JsonObject) =>
    accessPolicy(site, { name, rules: [catchAllRule("ALLOW", methodChain(step))] });
  return [
    policy("Okta Admin Console", { key: "webauthn", method: "webauthn", userVerification: "REQUIRED" }),
    policy("Okta Dashboard", { key: "smart_card_idp", method: "cert" }),
  ];
}

function oktaVerifyPart(site: Site, part: "totp" | "push" | "fastpass", settings: JsonObject = {}): Resource {
  const names = { totp: "Okta Verify TOTP", push: "Okta Verify Push", fastpass: "Okta FastPass" };
  return authenticatorObject(site, { key: `okta_verify_${part}`, type: "app", name: names[part], settings });
}

/** A page whose script holds the short form of DISA's banner and passes it to nothing. */
function unusedBannerPage(): string {
  return signInPage(`        var notice = "I've read & consent to terms in IS user agreem't.";\n`);
}
