import {
  missing,
  type ApiTokenOwner,
  type ApiTokenOwners,
  type Evidence,
  type JsonList,
  type OwnerGroup,
} from "../artifacts.ts";
import type { JsonObject } from "../../../shared/json.ts";
import { readText } from "../../checks/parsing/fields.ts";
import { isSuperAdminRole } from "../../checks/parsing/super_admin_role.ts";
import type { IdpClient } from "../../idp/idp_client.ts";
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

/** Where a role of the user's own already decides, the groups are not asked for. */
async function owner(client: IdpClient, userId: string, groupRoles: GroupRoles): Promise<ApiTokenOwner> {
  const id = pathSegment(userId);
  if (id === null) {
    const unasked = missing<never>("unreadable", "The owner has no usable id, so no roles could be asked for.");
    return { roles: unasked, groups: unasked };
  }
  const path = `/api/v1/users/${id}`;
  const roles = await listRoles(client, path);
  const known = roles.state === "obtained" ? roles.value : (roles.partial ?? []);
  if (known.some((role) => isSuperAdminRole(role) === true)) return { roles, groups: null };
  const groups = await client.getList({ path: `${path}/groups`, scope: "groups.read", keep: keepGroup });
  return {
    roles,
    groups: await mapEvidence(evidenceOf(groups), (found) =>
      Promise.all(found.map((group) => ownerGroup(group, groupRoles))),
    ),
  };
}

async function ownerGroup(group: JsonObject, groupRoles: GroupRoles): Promise<OwnerGroup> {
  const name = readText(group, "profile.name");
  const id = typeof group["id"] === "string" ? group["id"] : "";
  return { id, name: name.kind === "value" ? name.value : id, roles: await groupRoles(id) };
}

/** A group's roles, asked for once however many owners are in it. */
function createGroupRoles(client: IdpClient): GroupRoles {
  const asked = new Map<string, Promise<Evidence<JsonList>>>();
  return async (groupId) => {
    const id = pathSegment(groupId);
    if (id === null) return missing("unreadable", "A group has no usable id, so its roles could not be asked for.");
    const running = asked.get(id) ?? listRoles(client, `/api/v1/groups/${id}`);
    asked.set(id, running);
    return running;
  };
}

/** The roles of a user or a group. */
async function listRoles(client: IdpClient, holderPath: string): Promise<Evidence<JsonList>> {
  return evidenceOf(await client.getList({ path: `${holderPath}/roles`, scope: "roles.read", keep: keepRole }));
}
