import type { Mutation } from "./mutation.ts";

const lacksRole = "a role or a scope that may not, on any route, whatever the route forgot";
const handsOn = "a key that hands on more than it has: other scopes, a longer life";
const lockedOut =
  "a tenant without anybody who can manage it: the last admin removed, two who remove each other, one's own role given away";
const trail = "a change that nobody can be asked about, a trail that was edited";

/** Members, roles and keys, in the first table of `docs/threat_model.md`. */
export const team: readonly Mutation[] = [
  {
    mistake: "a route of members asks for nothing",
    holds: [lacksRole],
    file: "gateway/features/team/routes.ts",
    find: 'routes.get("/members", allow("manage"), async',
    replace: 'routes.get("/members", async',
    testFile: "test/gateway/auth/permission_table.test.ts",
    test: "docs/permissions.md names",
  },
  {
    mistake: "monitors are deleted by whoever may read",
    holds: [lacksRole],
    file: "gateway/features/monitors/routes.ts",
    find: 'routes.delete("/monitors/:id", allow("delete")',
    replace: 'routes.delete("/monitors/:id", allow("read")',
    testFile: "test/gateway/auth/permission_table.test.ts",
    test: "docs/permissions.md names",
  },
  {
    mistake: "the role is not looked at, only that one is a member",
    holds: [lacksRole],
    file: "gateway/auth/membership.ts",
    find: " and role = any ($3::text[])",
    replace: " and $3::text[] is not null",
    testFile: "test/conformance/permissions/permission_cases.ts",
    via: "test/gateway/auth/permissions.test.ts",
    test: "",
  },
  {
    mistake: "a key gives any scopes",
    holds: [handsOn],
    file: "gateway/features/team/api_key_store.ts",
    find: "const mayGive = isByKey ?",
    replace: "const mayGive = isByKey && scopes.length > 9 ?",
    testFile: "test/gateway/features/team/api_keys.test.ts",
    test: "a key gives scopes",
  },
  {
    mistake: "a key that expires makes one that does not",
    holds: [handsOn],
    file: "gateway/features/team/api_key_store.ts",
    find: "(expiresAt === null || Date.parse(expiresAt) > expiresAtMs)",
    replace: "expiresAt !== null && Date.parse(expiresAt) > expiresAtMs",
    testFile: "test/gateway/features/team/api_keys.test.ts",
    test: "a key makes none that outlives it",
  },
  {
    mistake: "the last admin is removed",
    holds: [lockedOut],
    file: "gateway/features/team/member_store.ts",
    find: "where ${isMember(principal, sub)} and ${leavesAnAdmin({ sub, role: null })}",
    replace: "where ${isMember(principal, sub)}",
    testFile: "test/gateway/features/team/members.test.ts",
    test: "cannot be %s",
  },
  {
    mistake: "admins who remove each other do not wait for each other",
    holds: [lockedOut],
    file: "gateway/features/team/member_store.ts",
    find: " order by user_id for update of memberships)",
    replace: " order by user_id)",
    testFile: "test/gateway/features/team/on_postgres.test.ts",
    test: "admins who remove",
  },
  {
    mistake: "an admin gives their own role away",
    holds: [lockedOut],
    file: "gateway/features/team/member_store.ts",
    find: 'if (kind !== "user" || id !== sub || role === "admin") return;',
    replace: 'if (kind !== "user" || id !== sub || role !== undefined) return;',
    testFile: "test/gateway/features/team/members.test.ts",
    test: "an admin is not %s",
  },
  {
    mistake: "a role that is changed leaves nothing in the trail",
    holds: [trail],
    file: "drizzle/migrations/0006_team.sql",
    find: "AFTER INSERT OR UPDATE OR DELETE ON public.memberships",
    replace: "AFTER INSERT OR DELETE ON public.memberships",
    testFile: "test/gateway/features/team/audit_suite.ts",
    via: "test/gateway/features/team/audit.test.ts",
    test: "a member's requests",
  },
  {
    mistake: "the trail of audit events may be deleted",
    holds: [trail],
    file: "drizzle/migrations/0006_team.sql",
    find: "GRANT SELECT, INSERT ON public.audit_events TO",
    replace: "GRANT SELECT, INSERT, DELETE ON public.audit_events TO",
    testFile: "test/gateway/features/team/audit_suite.ts",
    via: "test/gateway/features/team/audit.test.ts",
    test: "%s neither changes",
  },
  {
    mistake: "the audit trail shows the hash of a key",
    holds: [trail],
    file: "drizzle/migrations/0006_team.sql",
    find: "changed - secret",
    replace: "changed",
    testFile: "test/gateway/features/team/audit_suite.ts",
    via: "test/gateway/features/team/audit.test.ts",
    test: "holds no secret",
  },
];
