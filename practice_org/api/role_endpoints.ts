import { paged, whole } from "./call.ts";
import { roleAssignment } from "../objects/people_objects.ts";
import { notFound } from "./provider_errors.ts";
import type { Answer, Call } from "./call.ts";

export function roleAssignees({ contents, url }: Call): Answer {
  const assignees = contents.users
    .filter(({ roles }) => roles.length > 0)
    .map(({ user }) => ({
      id: user.id,
      orn: `orn:okta:directory:${contents.id}:users:${user.id}`,
      _links: {
        roles: { href: `${url}/api/v1/users/${user.id}/roles` },
        self: { href: `${url}/api/v1/users/${user.id}` },
      },
    }));
  return { ...paged(assignees, { defaultLimit: 100, maxLimit: 200 }), envelope: "value" };
}

export function userRoles({ contents, segments }: Call): Answer {
  const found = contents.users.find(({ user }) => user.id === segments[0]);
  return found === undefined ? notFound(segments[0] ?? "", "User") : whole(found.roles);
}

export function userGroups({ contents, segments }: Call): Answer {
  const found = contents.users.find(({ user }) => user.id === segments[0]);
  if (found === undefined) return notFound(segments[0] ?? "", "User");
  return whole(contents.groups.map(({ group }) => group).filter(({ id }) => found.groupIds.includes(id)));
}

export function groupRoles({ contents, segments }: Call): Answer {
  const found = contents.groups.find(({ group }) => group.id === segments[0]);
  return found === undefined ? notFound(segments[0] ?? "", "UserGroup") : whole(found.roles);
}

export function clientRoles({ clientId, role, segments, url }: Call): Answer {
  if (segments[0] !== clientId) return notFound(segments[0] ?? "", "PublicClientApp");
  const type = role === "super" ? "SUPER_ADMIN" : "READ_ONLY_ADMIN";
  return whole([roleAssignment(type, "CLIENT", clientId, `${url}/oauth2/v1/clients/${clientId}`)]);
}
