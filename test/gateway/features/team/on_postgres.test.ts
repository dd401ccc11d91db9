import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { Database } from "../../../../drizzle/database.ts";
import { write } from "../../../../drizzle/transactions.ts";
import { executeAdmin } from "../../../../gateway/operator/operations.ts";
import { accessOf, type Access } from "../../../../gateway/auth/membership.ts";
import type { AllowedPrincipal } from "../../../../gateway/auth/principal.ts";
import { putMonitor } from "../../../../gateway/features/runs/monitors.ts";
import {
  deleteOrganization,
  selectOrganizationRows,
} from "../../../../gateway/features/organizations/organization_store.ts";
import { putScan, requestCancel } from "../../../../gateway/features/runs/scans.ts";
import { monitorStore } from "../../../../gateway/features/runs/store.ts";
import { insertApiKey, revokeApiKey } from "../../../../gateway/features/team/api_key_store.ts";
import { selectAuditEvents, toAuditEvent } from "../../../../gateway/features/team/audit_store.ts";
import {
  deleteMember,
  putMember,
  selectMembers,
  updateMember,
} from "../../../../gateway/features/team/member_store.ts";
import type { AuditEvent } from "../../../../shared/schemas/team.ts";
import { openTestDatabase } from "../../../support/test_gateway.ts";

/** Each managing write leaves one event, by whom it was made. On PostgreSQL, as the application's role. */
let database: Database;
let tenantId: string;
let admin: AllowedPrincipal;
let key: AllowedPrincipal;
let secrets: string[];

beforeAll(async () => {
  database = await openTestDatabase();
});
afterAll(() => database?.close());
beforeEach(async () => {
  secrets = [];
  tenantId = (await operate<{ id: string }>("tenant.create", { name: "Acme" })).id;
  await operate("user.create", { tenant: tenantId, sub: "ada:admin@acme", role: "admin" });
  const made = await operate<{ id: string; api_key: string }>("api-key.create", {
    tenant: tenantId,
    name: "terraform",
    scopes: "read,publish,admin",
  });
  secrets.push(made.api_key);
  const common = { tenantId, expiresAtMs: null, onlyStream: null, permission: "manage" } as const;
  admin = { ...common, kind: "user", id: "ada:admin@acme" };
  key = { ...common, kind: "api_key", id: made.id };
});

const operate = async <Result>(...[operation, args]: [Parameters<typeof executeAdmin>[1], object]) =>
  (await executeAdmin({ database }, operation, args as Record<string, unknown>)) as Result;

async function trail(): Promise<readonly AuditEvent[]> {
  const page = { limit: 200, after: null };
  const filter = { action: null, actor: null, target: null, from: null, to: null };
  const rows = await write(database, { tenantId }, (db) => selectAuditEvents(db, { page, filter }));
  return rows.map(toAuditEvent);
}

/** The events that the work adds to the trail. */
async function written(work: () => Promise<unknown>): Promise<readonly AuditEvent[]> {
  const before = await trail();
  await work();
  const after = await trail();
  expect(after.slice(after.length - before.length)).toEqual(before);
  return after.slice(0, after.length - before.length);
}

const expected = (actor: object, action: string, id: string, detail: object = {}) => [
  expect.objectContaining({
    actor,
    action,
    target: expect.objectContaining({ type: action.split(".")[0], id }),
    detail: expect.objectContaining(detail),
  }),
];
const operator = { kind: "operator", id: "", name: null };
const ada = { kind: "user", id: "ada:admin@acme", name: null };
const asAdmin: Access["write"] = (work) => accessOf(database, admin).write(work);

test("an operator's commands: one event each", async () => {
  expect((await trail()).map(({ action, actor }) => [action, actor])).toEqual([
    ["api_key.created", operator],
    ["member.created", operator],
    ["tenant.created", operator],
  ]);
  expect(await written(() => operate("user.create", { tenant: tenantId, sub: "bob", role: "viewer" }))).toEqual(
    expected(operator, "member.created", "bob", { role: "viewer" }),
  );
  expect(await written(() => operate("user.create", { tenant: tenantId, sub: "bob", role: "operator" }))).toEqual(
    expected(operator, "member.updated", "bob", { role: { from: "viewer", to: "operator" } }),
  );
  expect(await written(() => operate("user.remove", { tenant: tenantId, sub: "bob" }))).toEqual(
    expected(operator, "member.deleted", "bob"),
  );
  expect(await written(() => operate("api-key.revoke", { id: key.id }))).toEqual(
    expected(operator, "api_key.revoked", key.id),
  );
  expect(await written(() => operate("api-key.revoke", { id: key.id }))).toEqual([]);
});

test("a member's requests: one event each, and none for what changes nothing", async () => {
  const put = (role?: "viewer") =>
    asAdmin((db) => putMember(db, admin, { sub: "bob", ...(role === undefined ? {} : { role }) }));
  expect(await written(() => put())).toEqual(expected(ada, "member.created", "bob", { role: "operator" }));
  expect(await written(() => put("viewer"))).toEqual(
    expected(ada, "member.updated", "bob", { role: { from: "operator", to: "viewer" } }),
  );
  expect(await written(() => put("viewer"))).toEqual([]);
  expect(await written(() => asAdmin((db) => updateMember(db, admin, { sub: "bob", role: "operator" })))).toEqual(
    expected(ada, "member.updated", "bob", { role: { from: "viewer", to: "operator" } }),
  );
  expect(await written(() => asAdmin((db) => deleteMember(db, admin, "bob")))).toEqual(
    expected(ada, "member.deleted", "bob"),
  );
});

test("keys: made, used and revoked; the key that did something is named", async () => {
  const terraform = { kind: "api_key", id: key.id, name: "terraform" };
  const body = { name: "ci", scopes: ["read"], expires_at: "2099-01-01T00:00:00Z" } as const;
  let id = "";
  const made = await written(async () => {
    const created = await accessOf(database, key).write((db) => insertApiKey(db, key, body));
    secrets.push(created.api_key);
    id = created.id;
  });
  expect(made).toEqual(expected(terraform, "api_key.created", id, { name: "ci", scopes: ["read"] }));
  const revoked = await written(() => asAdmin((db) => revokeApiKey(db, admin, id)));
  expect(revoked).toEqual(expected(ada, "api_key.revoked", id));
  expect(revoked[0]?.target.name).toBe("ci");
  expect(await written(() => asAdmin((db) => revokeApiKey(db, admin, id)))).toEqual([]);
});

test("scans that are cancelled, monitors and organizations that are deleted", async () => {
  const { row: scan } = await asAdmin((db) => putScan(db, admin, {}));
  expect(await written(() => asAdmin((db) => requestCancel(db, scan.id)))).toEqual(
    expected(ada, "scan.cancel_requested", scan.id),
  );
  const monitorId = crypto.randomUUID();
  const monitor = { org_url: "https://acme.okta.com", interval_seconds: 10 };
  await asAdmin((db) => putMonitor(db, admin, monitorId, monitor));
  expect(await written(() => monitorStore.remove(asAdmin, monitorId, async () => {}))).toEqual(
    expected(ada, "monitor.deleted", monitorId),
  );
  const [organization] = await asAdmin((db) => selectOrganizationRows(db, { limit: 1 }));
  const id = organization?.stored.id ?? "";
  expect(await written(() => deleteOrganization(asAdmin, id))).toEqual(
    expected(ada, "organization.deleted", id, { org_url: monitor.org_url }),
  );
});

test("holds no secret, nor the hash of one", async () => {
  const body = { name: "ci", scopes: ["read"], expires_at: null } as const;
  const created = await asAdmin((db) => insertApiKey(db, admin, body));
  await asAdmin((db) => revokeApiKey(db, admin, created.id));
  const text = JSON.stringify(await trail());
  for (const secret of [...secrets, created.api_key]) expect(text).not.toContain(secret);
  expect(text).not.toMatch(/[0-9a-f]{64}/);
});

test("admins who remove and demote each other at once leave one", async () => {
  const subs = ["ann", "bob", "cyn", "dan"];
  await operate("user.remove", { tenant: tenantId, sub: admin.id });
  for (let round = 0; round < 15; round += 1) {
    for (const sub of subs) await operate("user.create", { tenant: tenantId, sub, role: "admin" });
    const changes = subs.flatMap((caller) =>
      subs
        .filter((sub) => sub !== caller)
        .map((sub) => {
          const principal: AllowedPrincipal = { ...admin, id: caller };
          return accessOf(database, principal).write(async (db) => {
            if (round % 3 === 0) await deleteMember(db, principal, sub);
            else if (round % 3 === 1) await updateMember(db, principal, { sub, role: "viewer" });
            else await putMember(db, principal, { sub, role: "operator" });
          });
        }),
    );
    const results = await Promise.allSettled(changes);
    const codes = results.flatMap((result) =>
      result.status === "rejected" ? [(result.reason as { readonly code: string }).code] : [],
    );
    for (const code of codes) expect(["conflict", "not_found", "permission_denied"]).toContain(code);
    const members = await write(database, { tenantId }, (db) => selectMembers(db, { limit: 10, after: null }));
    expect(members.filter(({ role }) => role === "admin").length).toBeGreaterThanOrEqual(1);
  }
});
