import type { LogTarget } from "../log/system_log.ts";
import { NotPossibleError } from "../not_possible_error.ts";
import { roleAssignment } from "../contents/new_objects.ts";
import { fieldOf, found, record, replaced, targetOf, type Draft } from "./edit.ts";
import type { Group, OrgContents, Resource, User } from "../contents/org_contents.ts";

/** Users and groups, their roles and memberships. */

export function loginOf(user: Resource): string {
  return String(fieldOf(user, "profile.login"));
}

export function findUser(contents: OrgContents, login: string): User {
  return found(
    contents.users.find(({ user }) => loginOf(user) === login),
    `user ${login}`,
  );
}

export function findGroup(contents: OrgContents, name: string): Group {
  return found(
    contents.groups.find(({ group }) => fieldOf(group, "profile.name") === name),
    `group ${JSON.stringify(name)}`,
  );
}

function userTarget({ user }: User): LogTarget {
  const name = `${String(fieldOf(user, "profile.firstName"))} ${String(fieldOf(user, "profile.lastName"))}`;
  return targetOf("userRoles", user.id, name, { alternateId: loginOf(user) });
}

function groupTarget({ group }: Group): LogTarget {
  return targetOf("groupRoles", group.id, String(fieldOf(group, "profile.name")));
}

/** Assigns the role Super Administrator, or revokes it. */
export function setSuperAdmin(draft: Draft, holder: User | Group, isHeld: boolean): void {
  const isUser = "user" in holder;
  const { id } = isUser ? holder.user : holder.group;
  const href = `${draft.site.url}/api/v1/${isUser ? "users" : "groups"}/${id}`;
  const role = roleAssignment("SUPER_ADMIN", { type: isUser ? "USER" : "GROUP", id, href });
  const held = holder.roles.find((one) => one.id === role.id) ?? null;
  if ((held !== null) === isHeld) throw new NotPossibleError("The role is assigned so already");
  const roles = replaced(holder.roles, held, isHeld ? role : null, ({ id: roleId }) => roleId);
  const { users, groups } = draft.contents;
  draft.contents = {
    ...draft.contents,
    users: users.map((one) => (one === holder ? { ...one, roles } : one)),
    groups: groups.map((one) => (one === holder ? { ...one, roles } : one)),
  };
  const target = isUser ? userTarget(holder) : groupTarget(holder);
  record(draft, isUser ? "userRoles" : "groupRoles", isHeld ? "grant" : "revoke", target);
}

export function setMembership(draft: Draft, member: User, into: Group, isMember: boolean): void {
  const { groupIds } = member;
  const { group } = into;
  if (groupIds.includes(group.id) === isMember) throw new NotPossibleError("The membership is so already");
  const after = isMember ? [...groupIds, group.id] : groupIds.filter((id) => id !== group.id);
  const lastMembershipUpdated = new Date(draft.nowMs).toISOString();
  const { users, groups } = draft.contents;
  draft.contents = {
    ...draft.contents,
    users: users.map((one) => (one === member ? { ...one, groupIds: after } : one)),
    groups: groups.map((one) => (one === into ? { ...one, group: { ...group, lastMembershipUpdated } } : one)),
  };
  draft.events.push({
    eventType: `group.user_membership.${isMember ? "add" : "remove"}`,
    displayMessage: isMember ? "Add user to group membership" : "Remove user from group membership",
    targets: [userTarget(member), groupTarget(into)],
  });
}
