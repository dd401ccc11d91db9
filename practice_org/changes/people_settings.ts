import { apiToken } from "../objects/people_objects.ts";
import { anywhere, fromZones } from "../objects/sign_on_policies.ts";
import { fieldOf, found } from "./draft.ts";
import {
  create,
  findGroup,
  findNamed,
  findUser,
  ownZone,
  remove,
  setSuperAdminGroup,
  setMembership,
  setSuperAdmin,
  update,
} from "./object_edits.ts";
import { setting, type Setting } from "./setting.ts";
import type { OrgContents, Resource } from "../objects/org_contents.ts";

const scriptToken = "Migration script";
const hrLogin = "hr@practice.example";
const hrToken = "HR import";
const hrGroup = "HR integrations";

/** Settings of who may administer the org: tokens, roles, memberships. */
export const peopleSettings: readonly Setting[] = [
  setting<boolean>(
    ["API tokens", "API tokens"],
    ({ apiTokens }) => apiTokens.map((token) => String(token["name"])).join(", ") || "none",
    (draft, isThere) => {
      if (!isThere) return remove(draft, "apiTokens", findNamed(draft.contents, "apiTokens", scriptToken));
      const owner = found(draft.contents.users[0], "user");
      const ownerLogin = String(fieldOf(owner.user, ["profile", "login"]));
      const site = { ...draft.site, nowMs: draft.nowMs };
      create(draft, "apiTokens", apiToken(site, { name: scriptToken, ownerLogin, network: anywhere }));
    },
    ["api-token-created", "Create an API token for use from anywhere", true],
    ["api-token-revoked", "Revoke that API token", false],
  ),
  setting<boolean>(
    ["API tokens", `Where the token ${hrToken} may be used`],
    (contents) => {
      const { connection } = findNamed(contents, "apiTokens", hrToken)["network"] as { connection?: string };
      return connection === "ANYWHERE" ? "anywhere" : "in a network zone";
    },
    (draft, isOpen) => {
      const token = findNamed(draft.contents, "apiTokens", hrToken);
      const network = isOpen ? anywhere : fromZones(ownZone(draft.contents).id);
      update(draft, "apiTokens", token, (old) => ({ ...old, network }));
    },
    ["api-token-opened", `Allow the token ${hrToken} from anywhere`, true],
    ["api-token-restricted", `Restrict the token ${hrToken} to a network zone`, false],
  ),
  setting<boolean>(
    ["Administrators", `Roles of ${hrLogin}`],
    (contents) => labelsOf(findUser(contents, hrLogin).roles),
    (draft, isHeld) => setSuperAdmin(draft, findUser(draft.contents, hrLogin), isHeld),
    ["super-admin-granted", `Make ${hrLogin}, who owns a token, Super Administrator`, true],
    ["super-admin-revoked", "Revoke that role", false],
  ),
  setting<boolean>(
    ["Administrators", `Roles of the group ${hrGroup}`],
    (contents) => labelsOf(findGroup(contents, hrGroup).roles),
    (draft, isHeld) => setSuperAdminGroup(draft, findGroup(draft.contents, hrGroup), isHeld),
    ["group-role-granted", `Make the group ${hrGroup} Super Administrator`, true],
    ["group-role-revoked", "Revoke that role of the group", false],
  ),
  setting<boolean>(
    ["Administrators", `Members of the group ${hrGroup}`],
    (contents) => {
      const { group } = findGroup(contents, hrGroup);
      const members = contents.users.filter(({ groupIds }) => groupIds.includes(group.id));
      return members.map(({ user }) => String(fieldOf(user, ["profile", "login"]))).join(", ") || "none";
    },
    (draft, isMember) =>
      setMembership(draft, serviceUser(draft.contents), findGroup(draft.contents, hrGroup), isMember),
    ["group-member-added", `Add a service account to the group ${hrGroup}`, true],
    ["group-member-removed", "Remove it from the group", false],
  ),
];

function labelsOf(roles: readonly Resource[]): string {
  return roles.map((role) => String(role["label"])).join(", ") || "none";
}

/** The service account that reads only. */
function serviceUser(contents: OrgContents) {
  const isReader = ({ roles }: { readonly roles: readonly Resource[] }) =>
    roles.some((role) => role["type"] === "READ_ONLY_ADMIN");
  return found(contents.users.find(isReader), "service account that reads only");
}
