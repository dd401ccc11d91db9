import { accessPolicy, catchAllRule, passwordOnly } from "../objects/access_policies.ts";
import { appObject, isFirstPartyApp } from "../objects/app_objects.ts";
import { brand, isSubdomainBrand } from "../objects/brand_objects.ts";
import { policyId } from "../objects/policy_objects.ts";
import { dodBannerPage } from "../objects/sign_in_page.ts";
import { createApp, deleteApp, findApp, moveApp } from "./app_edits.ts";
import { NotPossibleError } from "../not_possible_error.ts";
import { fieldOf, found, type Draft } from "./draft.ts";
import { createBrand, deleteBrand, findBrand, setSignInPage } from "./object_edits.ts";
import { createPolicy, deletePolicy, findPolicy } from "./policy_edits.ts";
import { setting, type Setting } from "./setting.ts";
import type { App, OrgContents, PolicyWithRules } from "../objects/org_contents.ts";

const weakApp = "Lunch orders";
const weakPolicyName = "Password only";
const newBrand = "New subsidiary";

/** Settings of applications and of the page where people sign in. */
export const appSettings: readonly Setting[] = [
  setting<boolean>(
    ["Applications", `Application ${weakApp}`],
    (contents) => (hasApp(contents) ? "there, with a password alone" : "not there"),
    (draft, isThere) => {
      if (isThere) {
        if (hasApp(draft.contents)) throw new NotPossibleError("The application is there already");
        const policy = weakPolicy(draft);
        createApp(draft, lunchApp(draft), policy);
      } else {
        deleteApp(draft, findApp(draft.contents, isLunchApp, `application ${weakApp}`));
        deleteUnusedPolicy(draft);
      }
    },
    ["app-added", "Add an application that asks for a password alone", true],
    ["app-deleted", "Delete that application", false],
  ),
  setting<boolean>(
    ["Applications", "Policy of the first business application"],
    (contents) => {
      const app = businessApp(contents);
      return `${app.label}: ${policyOf(contents, app)?.policy.name ?? "none"}`;
    },
    (draft, isMoved) => {
      const app = businessApp(draft.contents);
      if (isMoved) return moveApp(draft, app, weakPolicy(draft));
      moveApp(draft, app, found(policyOf(draft.contents, businessApp(draft.initial)), "such policy"));
      deleteUnusedPolicy(draft);
    },
    ["app-policy-moved", "Move the first business application to a policy with a password alone", true],
    ["app-policy-restored", "Move it to its own policy again", false],
  ),
  setting<string | null>(
    ["Sign-in pages", "Banner on the first page that can be edited"],
    (contents) => (pageOf(contents) === null ? "none: the provider's own page" : "a page with a banner"),
    (draft, html) => setSignInPage(draft, editableBrand(draft.contents), html),
    ["banner-removed", "Remove the banner from the sign-in page", null],
    ["banner-restored", "Put the banner on the sign-in page", dodBannerPage()],
  ),
  setting<boolean>(
    ["Sign-in pages", "Brands"],
    ({ brands }) => brands.map(({ brand: { name } }) => String(name)).join(", "),
    (draft, isThere) => {
      if (isThere) createBrand(draft, brand(draft.site, { name: newBrand, customizedPage: "uncustomized" }));
      else
        deleteBrand(
          draft,
          findBrand(draft.contents, ({ name }) => name === newBrand),
        );
    },
    ["brand-added", "Add a brand, without a banner", true],
    ["brand-deleted", "Delete that brand", false],
  ),
];

/** Among the policies of the contents. */
function policyOf({ policies }: OrgContents, app: App): PolicyWithRules | undefined {
  const href = fieldOf(app, ["_links", "accessPolicy", "href"]);
  return typeof href === "string" ? policies.find(({ policy }) => href.endsWith(`/${policy.id}`)) : undefined;
}

function isLunchApp(app: App): boolean {
  return app.label === weakApp;
}

function hasApp({ apps }: OrgContents): boolean {
  // It is added at the end, wherever it is.
  return apps.length > 0 && isLunchApp(apps.get(apps.length - 1));
}

function lunchApp({ site, contents }: Draft): App {
  return appObject(site, {
    name: "bookmark",
    label: weakApp,
    signOnMode: "BOOKMARK",
    policyId: policyId("ACCESS_POLICY", weakPolicyName),
    orgId: contents.id,
  });
}

/** Made, with its own events, where none exists yet. */
function weakPolicy(draft: Draft): PolicyWithRules {
  const exists = draft.contents.policies.some(({ policy }) => policy.name === weakPolicyName);
  if (!exists) {
    createPolicy(
      draft,
      accessPolicy(draft.site, { name: weakPolicyName, rules: [catchAllRule("ALLOW", passwordOnly)] }),
    );
  }
  return findPolicy(draft.contents, "ACCESS_POLICY", weakPolicyName);
}

/** A policy can be deleted when no application is bound to it any more. */
function deleteUnusedPolicy(draft: Draft): void {
  const weak = findPolicy(draft.contents, "ACCESS_POLICY", weakPolicyName);
  const isBound = ({ _links }: App) =>
    fieldOf(_links, ["accessPolicy", "href"])?.toString().endsWith(`/${weak.policy.id}`) === true;
  if (!hasApp(draft.contents) && !isBound(businessApp(draft.contents))) deletePolicy(draft, weak);
}

function businessApp(contents: OrgContents): App {
  const isBusiness = ({ name, label }: App) => !isFirstPartyApp(name) && label !== weakApp;
  return findApp(contents, isBusiness, "business application");
}

function editableBrand(contents: OrgContents) {
  return found(
    contents.brands.find((branded) => !isSubdomainBrand(branded, contents)),
    "sign-in page that can be edited",
  );
}

function pageOf(contents: OrgContents): unknown {
  return editableBrand(contents).customizedPage?.["pageContent"] ?? null;
}
