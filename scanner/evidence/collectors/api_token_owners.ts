import type { JsonObject } from "../../../shared/json.ts";
import { readText } from "../../checks/parsing/fields.ts";
import { isSuperAdminRole } from "../../checks/parsing/super_admin_role.ts";
import type { IdpClient, Reading } from "../../okta/idp_client.ts";
import { partPath, partPaths } from "../artifact_table.ts";
import { entriesOf, missing, type ApiTokenOwner, type JsonList } from "../artifacts.ts";
import { evidenceOf, keeping, listReader, mapEntries, mapEvidence, pathSegment, type Collector } from "./collector.ts";

export const collectApiTokenOwners: Collector<"api_token_owners"> = async ({ client, obtain }) => {
  // Fetched once however many owners are in a group.
  const groupRoles = listReader("A group has no usable id, so its roles", (id) =>
    listRoles(client, partPath(partPaths.groupRoles, id)),
  );
  return mapEvidence(await obtain("api_tokens"), async (tokens) => {
    const userIds = new Set(tokens.map((token) => token["userId"]).filter((id) => typeof id === "string"));
    const owners = [...userIds].map(async (id) => [id, await ownerOf(client, id, groupRoles)] as const);
    return Object.fromEntries(await Promise.all(owners));
  });
};

const keepRole = keeping(["id", "type", "label", "status"]);
const keepGroup = keeping(["id", "profile.name"]);

/** The groups are not requested where a role of the user's own already decides. */
async function ownerOf(
  client: IdpClient,
  userId: string,
  groupRoles: ReturnType<typeof listReader>,
): Promise<ApiTokenOwner> {
  const id = pathSegment(userId);
  if (id === null) {
    const unusable = missing<never>("unreadable", "The owner has no usable id, so no roles could be asked for.");
    return { login: null, roles: unusable, groups: unusable };
  }
  const [user, listed] = await Promise.all([
    client.getObject({ path: partPath(partPaths.user, id), scope: "users.read" }),
    listRoles(client, partPath(partPaths.userRoles, id)),
  ]);
  const login = user.state === "obtained" ? textOf(user.value, "profile.login") : null;
  const roles = await evidenceOf(listed);
  if (entriesOf(roles).some((role) => isSuperAdminRole(role) === true)) return { login, roles, groups: null };
  const path = partPath(partPaths.userGroups, id);
  const groups = await mapEntries(
    await client.getList({ path, scope: "users.read", keep: keepGroup }),
    async (group) => {
      const groupId = typeof group["id"] === "string" ? group["id"] : "";
      return { id: groupId, name: textOf(group, "profile.name") ?? groupId, roles: await groupRoles(groupId) };
    },
  );
  return { login, roles, groups };
}

function textOf(object: JsonObject, path: string): string | null {
  const found = readText(object, path);
  return found.kind === "value" ? found.value : null;
}

/** The roles of a user or a group. */
function listRoles(client: IdpClient, path: string): Promise<Reading<JsonList>> {
  return client.getList({ path, scope: "roles.read", keep: keepRole });
}
