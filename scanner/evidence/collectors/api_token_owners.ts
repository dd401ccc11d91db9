import type { JsonObject } from "../../../shared/json.ts";
import {
  entriesOf,
  missing,
  type ApiTokenOwner,
  type ApiTokenOwners,
  type Evidence,
  type JsonList,
  type OwnerGroup,
} from "../artifacts.ts";
import { partPath, partPaths } from "../artifact_table.ts";
import { memoize } from "../../checks/evaluating/memoize.ts";
import { readText } from "../../checks/parsing/fields.ts";
import { isSuperAdminRole } from "../../checks/parsing/super_admin_role.ts";
import type { IdpClient } from "../../okta/idp_client.ts";
import { keeping, mapEvidence, pathSegment, type Collector, evidenceOf } from "./collector.ts";

export const collectApiTokenOwners: Collector<"api_token_owners"> = async ({ client, obtain }) => {
  const tokens = await obtain("api_tokens");
  const groupRoles = createGroupRoles(client);
  return mapEvidence(tokens, async (found): Promise<ApiTokenOwners> => {
    const userIds = new Set(found.map((token) => token["userId"]).filter((id) => typeof id === "string"));
    const owners = [...userIds].map(async (id) => [id, await owner(client, id, groupRoles)] as const);
    return Object.fromEntries(await Promise.all(owners));
  });
};

const keepRole = keeping(["id", "type", "label", "status"]);
const keepGroup = keeping(["id", "profile.name"]);

type GroupRoles = (groupId: unknown) => Promise<Evidence<JsonList>>;

/** The groups are not requested where a role of the user's own already decides. */
async function owner(client: IdpClient, userId: string, groupRoles: GroupRoles): Promise<ApiTokenOwner> {
  const id = pathSegment(userId);
  if (id === null) {
    const unusable = missing<never>("unreadable", "The owner has no usable id, so no roles could be asked for.");
    return { login: null, roles: unusable, groups: unusable };
  }
  const [login, roles] = await Promise.all([
    loginOf(client, partPath(partPaths.user, id)),
    listRoles(client, partPath(partPaths.userRoles, id)),
  ]);
  if (entriesOf(roles).some((role) => isSuperAdminRole(role) === true)) return { login, roles, groups: null };
  const groups = await client.getList({
    path: partPath(partPaths.userGroups, id),
    scope: "users.read",
    keep: keepGroup,
  });
  return {
    login,
    roles,
    groups: await mapEvidence(evidenceOf(groups), (found) =>
      Promise.all(found.map((group) => ownerGroup(group, groupRoles))),
    ),
  };
}

async function loginOf(client: IdpClient, path: string): Promise<string | null> {
  const user = await client.getObject({ path, scope: "users.read" });
  const login = user.state === "obtained" ? readText(user.value, "profile.login") : null;
  return login?.kind === "value" ? login.value : null;
}

async function ownerGroup(group: JsonObject, groupRoles: GroupRoles): Promise<OwnerGroup> {
  const name = readText(group, "profile.name");
  const id = typeof group["id"] === "string" ? group["id"] : "";
  return { id, name: name.kind === "value" ? name.value : id, roles: await groupRoles(id) };
}

/** A group's roles, fetched once however many owners are in it. */
function createGroupRoles(client: IdpClient): GroupRoles {
  return memoize(async (groupId: unknown): Promise<Evidence<JsonList>> => {
    const id = pathSegment(groupId);
    if (id === null) return missing("unreadable", "A group has no usable id, so its roles could not be asked for.");
    return listRoles(client, partPath(partPaths.groupRoles, id));
  });
}

/** The roles of a user or a group. */
async function listRoles(client: IdpClient, path: string): Promise<Evidence<JsonList>> {
  return evidenceOf(await client.getList({ path, scope: "roles.read", keep: keepRole }));
}
