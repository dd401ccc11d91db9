import { accessPolicy, catchAllRule, passwordOnly } from "../objects/access_policies.ts";
import { appObject } from "../objects/app_objects.ts";
import { brand } from "../objects/brand_objects.ts";
import { logStream } from "../objects/log_stream_objects.ts";
import { apiToken } from "../objects/people_objects.ts";
import { policyId } from "../objects/policy_objects.ts";
import { dodBannerPage } from "../objects/sign_in_page.ts";
import { anywhere, fromZones } from "../objects/sign_on_policies.ts";
import { smartCardIdp } from "../objects/smart_card_idp.ts";
import { fieldOf, found, NotPossibleError, withField, type Draft, type ListName, type Status } from "./draft.ts";
import {
  create,
  createApp,
  createBrand,
  deleteApp,
  deleteBrand,
  findApp,
  findBrand,
  findGroup,
  findResource,
  findUser,
  moveApp,
  remove,
  replaceIdpKey,
  setGroupRole,
  setMembership,
  setSignInPage,
  setStatus,
  setUserRole,
  update,
} from "./object_edits.ts";
import { createPolicy, deletePolicy, findPolicy } from "./policy_edits.ts";
import type { Setting } from "./setting.ts";
import type { App, OrgContents, PolicyWithRules, Resource } from "../objects/org_contents.ts";
import type { JsonObject } from "../../shared/json.ts";

const scriptToken = "Migration script";
const secondStream = "Second archive";
const weakApp = "Lunch orders";
const weakPolicyName = "Password only";
const newBrand = "New subsidiary";
const hrLogin = "hr@practice.example";
const hrToken = "HR import";
const hrGroup = "HR integrations";

/** Settings of everything but policies. */
export const objectSettings: readonly Setting[] = [
  statusSetting("Log streams", "Log stream", {
    list: "logStreams",
    what: "log stream",
    isWanted: () => true,
    off: ["log-stream-off", "Stop the log stream"],
    on: ["log-stream-on", "Start the log stream"],
  }),
  {
    area: "Log streams",
    label: "Number of log streams",
    present: ({ logStreams }) => String(logStreams.length),
    changes: [
      {
        name: "log-stream-added",
        label: "Add a second log stream",
        make: (draft) =>
          create(
            draft,
            "logStreams",
            logStream(draft.site, {
              name: secondStream,
              type: "aws_eventbridge",
              settings: { accountId: "123456789012", eventSourceName: "practice_second", region: "us-east-1" },
            }),
          ),
      },
      {
        name: "log-stream-deleted",
        label: "Delete the second log stream",
        make: (draft) => remove(draft, "logStreams", named(draft.contents, "logStreams", secondStream)),
      },
    ],
  },
  statusSetting("Network zones", "First network zone", {
    list: "zones",
    what: "network zone of its own",
    isWanted: isOwnZone,
    off: ["zone-off", "Switch off the first network zone"],
    on: ["zone-on", "Switch on the first network zone"],
  }),
  {
    area: "Network zones",
    label: "Addresses of the first network zone",
    present: (contents) => addressesOf(ownZone(contents)),
    changes: [
      {
        name: "zone-widened",
        label: "Add all addresses to the first network zone",
        make: (draft) =>
          update(draft, "zones", ownZone(draft.contents), (zone) => ({
            ...zone,
            gateways: [{ type: "CIDR", value: "0.0.0.0/0" }],
          })),
      },
      {
        name: "zone-narrowed",
        label: "Take them out again",
        make: (draft) =>
          update(draft, "zones", ownZone(draft.contents), (zone) => ({
            ...zone,
            gateways: ownZone(draft.initial)["gateways"],
          })),
      },
    ],
  },
  statusSetting("Network zones", "Anonymizers blocked", {
    list: "zones",
    what: "enhanced dynamic zone",
    isWanted: (zone) => zone["name"] === "DefaultEnhancedDynamicZone",
    off: ["anonymizers-allowed", "Stop blocking anonymizers"],
    on: ["anonymizers-blocked", "Block anonymizers"],
  }),
  {
    area: "API tokens",
    label: "API tokens",
    present: ({ apiTokens }) => apiTokens.map((token) => String(token["name"])).join(", ") || "none",
    changes: [
      {
        name: "api-token-created",
        label: "Create an API token for use from anywhere",
        make: (draft) => {
          const owner = found(draft.contents.users[0], "user");
          const ownerLogin = String(fieldOf(owner.user, ["profile", "login"]));
          const site = { ...draft.site, nowMs: draft.nowMs };
          create(draft, "apiTokens", apiToken(site, { name: scriptToken, ownerLogin, network: anywhere }));
        },
      },
      {
        name: "api-token-revoked",
        label: "Revoke that API token",
        make: (draft) => remove(draft, "apiTokens", named(draft.contents, "apiTokens", scriptToken)),
      },
    ],
  },
  {
    area: "API tokens",
    label: `Where the token ${hrToken} may be used`,
    present: (contents) => {
      const { connection } = named(contents, "apiTokens", hrToken)["network"] as { connection?: string };
      return connection === "ANYWHERE" ? "anywhere" : "in a network zone";
    },
    changes: [
      {
        name: "api-token-opened",
        label: `Allow the token ${hrToken} from anywhere`,
        make: setTokenNetwork(() => anywhere),
      },
      {
        name: "api-token-restricted",
        label: `Restrict the token ${hrToken} to a network zone`,
        make: setTokenNetwork((contents) => fromZones(ownZone(contents).id)),
      },
    ],
  },
  {
    area: "Administrators",
    label: `Roles of ${hrLogin}`,
    present: (contents) => labelsOf(findUser(contents, hrLogin).roles),
    changes: [
      {
        name: "super-admin-granted",
        label: `Make ${hrLogin}, who owns a token, Super Administrator`,
        make: (draft) => setUserRole(draft, findUser(draft.contents, hrLogin), "SUPER_ADMIN", true),
      },
      {
        name: "super-admin-revoked",
        label: "Revoke that role",
        make: (draft) => setUserRole(draft, findUser(draft.contents, hrLogin), "SUPER_ADMIN", false),
      },
    ],
  },
  {
    area: "Administrators",
    label: `Roles of the group ${hrGroup}`,
    present: (contents) => labelsOf(findGroup(contents, hrGroup).roles),
    changes: [
      {
        name: "group-role-granted",
        label: `Make the group ${hrGroup} Super Administrator`,
        make: (draft) => setGroupRole(draft, findGroup(draft.contents, hrGroup), "SUPER_ADMIN", true),
      },
      {
        name: "group-role-revoked",
        label: "Revoke that role of the group",
        make: (draft) => setGroupRole(draft, findGroup(draft.contents, hrGroup), "SUPER_ADMIN", false),
      },
    ],
  },
  {
    area: "Administrators",
    label: `Members of the group ${hrGroup}`,
    present: (contents) => {
      const { group } = findGroup(contents, hrGroup);
      const members = contents.users.filter(({ groupIds }) => groupIds.includes(group.id));
      return members.map(({ user }) => String(fieldOf(user, ["profile", "login"]))).join(", ") || "none";
    },
    changes: [
      {
        name: "group-member-added",
        label: `Add a service account to the group ${hrGroup}`,
        make: (draft) => setMembership(draft, serviceUser(draft.contents), findGroup(draft.contents, hrGroup), true),
      },
      {
        name: "group-member-removed",
        label: "Remove it from the group",
        make: (draft) => setMembership(draft, serviceUser(draft.contents), findGroup(draft.contents, hrGroup), false),
      },
    ],
  },
  statusSetting("Authenticators", "Smart card authenticator", {
    list: "authenticators",
    what: "smart card authenticator",
    isWanted: (item) => item["key"] === "smart_card_idp",
    off: ["smart-card-off", "Switch off the smart card authenticator"],
    on: ["smart-card-on", "Switch on the smart card authenticator"],
  }),
  {
    area: "Authenticators",
    label: "Okta Verify: FIPS",
    present: (contents) => String(fieldOf(oktaVerifyOf(contents), fipsPath)),
    changes: [
      { name: "fips-off", label: "Let Okta Verify run without FIPS", make: setFips("OPTIONAL") },
      { name: "fips-on", label: "Require FIPS of Okta Verify", make: setFips("REQUIRED") },
    ],
  },
  statusSetting("Smart card identity provider", "Smart card identity provider", {
    list: "identityProviders",
    what: "smart card identity provider",
    isWanted: () => true,
    off: ["idp-off", "Switch off the smart card identity provider"],
    on: ["idp-on", "Switch on the smart card identity provider"],
  }),
  {
    area: "Smart card identity provider",
    label: "Trusted certificate authority",
    present: (contents) => String(fieldOf(cardProvider(contents), ["protocol", "credentials", "trust", "issuer"])),
    changes: [
      {
        name: "idp-untrusted",
        label: "Trust a company's certificate authority",
        make: setTrust("company"),
      },
      { name: "idp-trusted", label: "Trust the DOD's certificate authority", make: setTrust("dod") },
    ],
  },
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

interface StatusSpec {
  readonly list: Exclude<ListName, "apiTokens">;
  readonly what: string;
  readonly isWanted: (item: Resource) => boolean;
  readonly off: readonly [name: string, label: string];
  readonly on: readonly [name: string, label: string];
}

function statusSetting(area: string, label: string, { list, what, isWanted, off, on }: StatusSpec): Setting {
  const change = ([name, text]: readonly [string, string], status: Status) => ({
    name,
    label: text,
    make: (draft: Draft) => setStatus(draft, list, findResource(draft.contents, list, what, isWanted), status),
  });
  return {
    area,
    label,
    present: (contents) => {
      const item = findResource(contents, list, what, isWanted);
      return `${String(item["name"])}: ${String(item["status"])}`;
    },
    changes: [change(off, "INACTIVE"), change(on, "ACTIVE")],
  };
}

function named(contents: OrgContents, list: ListName, name: string): Resource {
  return findResource(contents, list, `entry ${JSON.stringify(name)}`, (item) => item["name"] === name);
}

function isOwnZone(zone: Resource): boolean {
  return zone["system"] !== true && zone["type"] === "IP";
}

function ownZone(contents: OrgContents): Resource {
  return findResource(contents, "zones", "network zone of its own", isOwnZone);
}

function addressesOf(zone: Resource): string {
  return (zone["gateways"] as readonly { readonly value: string }[]).map(({ value }) => value).join(", ");
}

function setTokenNetwork(networkOf: (contents: OrgContents) => JsonObject) {
  return (draft: Draft) =>
    update(draft, "apiTokens", named(draft.contents, "apiTokens", hrToken), (token) => ({
      ...token,
      network: networkOf(draft.contents),
    }));
}

function labelsOf(roles: readonly Resource[]): string {
  return roles.map((role) => String(role["label"])).join(", ") || "none";
}

/** The service account that reads only. */
function serviceUser(contents: OrgContents) {
  const isReader = ({ roles }: { readonly roles: readonly Resource[] }) =>
    roles.some((role) => role["type"] === "READ_ONLY_ADMIN");
  return found(contents.users.find(isReader), "service account that reads only");
}

const fipsPath = ["settings", "compliance", "fips"];

function oktaVerifyOf(contents: OrgContents): Resource {
  return findResource(contents, "authenticators", "Okta Verify", (item) => item["key"] === "okta_verify");
}

function setFips(value: "OPTIONAL" | "REQUIRED") {
  return (draft: Draft) =>
    update(draft, "authenticators", oktaVerifyOf(draft.contents), (item) => withField(item, fipsPath, value));
}

function cardProvider(contents: OrgContents): Resource {
  return findResource(contents, "identityProviders", "smart card identity provider", () => true);
}

function setTrust(issuedBy: "dod" | "company") {
  return (draft: Draft) => {
    const provider = cardProvider(draft.contents);
    const { identityProvider, key } = smartCardIdp(draft.site, { name: String(provider["name"]), issuedBy });
    replaceIdpKey(draft, provider, identityProvider, key);
  };
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

/** Made, with events of its own, where there is none yet. */
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
  const isBusiness = ({ name, label }: App) => name !== "saasure" && !name.startsWith("okta_") && label !== weakApp;
  return findApp(contents, isBusiness, "business application");
}

function defaultBrand(contents: OrgContents) {
  return findBrand(contents, ({ isDefault }) => isDefault === true);
}

function pageOf(contents: OrgContents): unknown {
  return defaultBrand(contents).customizedPage?.["pageContent"] ?? null;
}
