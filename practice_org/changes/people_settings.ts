import { apiToken } from "../objects/people_objects.ts";
import { anywhere, fromZones } from "../objects/sign_on_policies.ts";
import { fieldOf, found, type Draft } from "./draft.ts";
import {
  create,
  findGroup,
  findNamed,
  findUser,
  ownZone,
  remove,
  setGroupRole,
  setMembership,
  setUserRole,
  update,
} from "./object_edits.ts";
import type { Setting } from "./setting.ts";
import type { OrgContents, Resource } from "../objects/org_contents.ts";
import type { JsonObject } from "../../shared/json.ts";

const scriptToken = "Migration script";
const hrLogin = "hr@practice.example";
const hrToken = "HR import";
const hrGroup = "HR integrations";

/** Settings of who may administer the org: tokens, roles, memberships. */
export const peopleSettings: readonly Setting[] = [
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
        make: (draft) => remove(draft, "apiTokens", findNamed(draft.contents, "apiTokens", scriptToken)),
      },
    ],
  },
  {
    area: "API tokens",
    label: `Where the token ${hrToken} may be used`,
    present: (contents) => {
      const { connection } = findNamed(contents, "apiTokens", hrToken)["network"] as { connection?: string };
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
];

function setTokenNetwork(networkOf: (contents: OrgContents) => JsonObject) {
  return (draft: Draft) =>
    update(draft, "apiTokens", findNamed(draft.contents, "apiTokens", hrToken), (token) => ({
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
