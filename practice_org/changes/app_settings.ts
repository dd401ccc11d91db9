import { accessPolicy, catchAllRule, passwordOnly } from "../objects/access_policies.ts";
import { appObject, isFirstPartyApp } from "../objects/app_objects.ts";
import { brand } from "../objects/brand_objects.ts";
import { policyId } from "../objects/policy_objects.ts";
import { dodBannerPage } from "../objects/sign_in_page.ts";
import { createApp, deleteApp, findApp, moveApp } from "./app_edits.ts";
import { NotPossibleError } from "../not_possible_error.ts";
import { fieldOf, found, type Draft } from "./draft.ts";
import { createBrand, deleteBrand, findBrand, setSignInPage } from "./object_edits.ts";
import { createPolicy, deletePolicy, findPolicy } from "./policy_edits.ts";
import type { Setting } from "./setting.ts";
import type { App, OrgContents, PolicyWithRules } from "../objects/org_contents.ts";

const weakApp = "Lunch orders";
const weakPolicyName = "Password only";
const newBrand = "New subsidiary";

/** Settings of applications and of the page where people sign in. */
export const appSettings: readonly Setting[] = [
  {
    area: "Applications",
    label: `Application ${weakApp}`,
    present: (contents) => (hasApp(contents) ? "there, with a password alone" : "not there"),
    changes: [
      {
        name: "app-added",
        label: "Add an application that asks for a password alone",
        make: (draft) => {
          if (hasApp(draft.contents)) throw new NotPossibleError("The application is there already");
          const policy = weakPolicy(draft);
          createApp(draft, lunchApp(draft), policy);
        },
      },
      {
        name: "app-deleted",
        label: "Delete that application",
        make: (draft) => {
          deleteApp(draft, findApp(draft.contents, isLunchApp, `application ${weakApp}`));
          deleteUnusedPolicy(draft);
        },
      },
    ],
  },
  {
    area: "Applications",
    label: "Policy of the first business application",
    present: (contents) => {
      const app = businessApp(contents);
      const { href = "" } = (fieldOf(app, ["_links", "accessPolicy"]) ?? {}) as { href?: string };
      const bound = contents.policies.find(({ policy }) => href.endsWith(`/${policy.id}`));
      return `${app.label}: ${bound?.policy.name ?? "none"}`;
    },
    changes: [
      {
        name: "app-policy-moved",
        label: "Move the first business application to a policy with a password alone",
        make: (draft) => {
          const app = businessApp(draft.contents);
          moveApp(draft, app, weakPolicy(draft));
        },
      },
      {
        name: "app-policy-restored",
        label: "Move it to its own policy again",
        make: (draft) => {
          const { href } = fieldOf(businessApp(draft.initial), ["_links", "accessPolicy"]) as { href: string };
          const own = draft.contents.policies.find(({ policy }) => href.endsWith(`/${policy.id}`));
          moveApp(draft, businessApp(draft.contents), found(own, "such policy"));
          deleteUnusedPolicy(draft);
        },
      },
    ],
  },
  {
    area: "Sign-in pages",
    label: "Banner on the default sign-in page",
    present: (contents) => (pageOf(contents) === null ? "none: the provider's own page" : "a page with a banner"),
    changes: [
      {
        name: "banner-removed",
        label: "Remove the banner from the sign-in page",
        make: (draft) => setSignInPage(draft, defaultBrand(draft.contents), null),
      },
      {
        name: "banner-restored",
        label: "Put the banner on the sign-in page",
        make: (draft) => setSignInPage(draft, defaultBrand(draft.contents), dodBannerPage()),
      },
    ],
  },
  {
    area: "Sign-in pages",
    label: "Brands",
    present: ({ brands }) => brands.map(({ brand: { name } }) => String(name)).join(", "),
    changes: [
      {
        name: "brand-added",
        label: "Add a brand, without a banner",
        make: (draft) => createBrand(draft, brand(draft.site, { name: newBrand, customizedPage: "uncustomized" })),
      },
      {
        name: "brand-deleted",
        label: "Delete that brand",
        make: (draft) =>
          deleteBrand(
            draft,
            findBrand(draft.contents, ({ name }) => name === newBrand),
          ),
      },
    ],
  },
];

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

function defaultBrand(contents: OrgContents) {
  return findBrand(contents, ({ isDefault }) => isDefault === true);
}

function pageOf(contents: OrgContents): unknown {
  return defaultBrand(contents).customizedPage?.["pageContent"] ?? null;
}
