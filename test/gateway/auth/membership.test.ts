import { sql } from "drizzle-orm";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Database } from "../../../drizzle/database.ts";
import { accessOf } from "../../../gateway/auth/membership.ts";
import { executeAdmin } from "../../../gateway/operator/operations.ts";
import type { AllowedPrincipal } from "../../../gateway/auth/principal.ts";
import { openTestPglite } from "../../support/pglite.ts";
import { watchDatabase } from "../../support/watched_database.ts";

let database: Database;
let transactions = 0;
let tenantId: string;
let otherTenantId: string;
let user: AllowedPrincipal;
let key: AllowedPrincipal;

beforeAll(async () => {
  const real = await openTestPglite();
  database = watchDatabase(real, (run) => {
    transactions += 1;
    return run();
  });
  tenantId = await createTenant("Acme");
  otherTenantId = await createTenant("Globex");
  user = await createUser(tenantId, "alice");
  key = await createKey(tenantId);
});
afterAll(() => database.close());

async function createTenant(name: string): Promise<string> {
  return ((await executeAdmin({ database }, "tenant.create", { name })) as { id: string }).id;
}
async function createUser(tenant: string, sub: string): Promise<AllowedPrincipal> {
  await executeAdmin({ database }, "user.create", { tenant, sub });
  return { kind: "user", tenantId: tenant, id: sub, expiresAtMs: null, onlyStream: null, permission: "read" };
}
async function createKey(tenant: string): Promise<AllowedPrincipal> {
  const { id } = (await executeAdmin({ database }, "api-key.create", { tenant, name: "k" })) as { id: string };
  return { kind: "api_key", tenantId: tenant, id, expiresAtMs: null, onlyStream: null, permission: "read" };
}

test("accessOf: rejects callers without authority, and changes nothing", async () => {
  const write = (principal: AllowedPrincipal) =>
    accessOf(database, principal).write((db) =>
      db.execute(sql`insert into scans (tenant_id) values (${principal.tenantId}::uuid) returning id`),
    );
  for (const outsider of [
    { ...user, id: "bob" },
    { ...user, id: "' or true --" },
    { ...user, id: key.id },
    { ...user, tenantId: otherTenantId },
  ]) {
    await expect(write(outsider)).rejects.toMatchObject({ code: "permission_denied" });
  }
  for (const outsider of [
    { ...key, id: "7c9e6679-7425-40de-944b-e07fc1f90ae7" },
    { ...key, id: "no-uuid" },
    { ...key, tenantId: otherTenantId },
  ]) {
    await expect(write(outsider)).rejects.toMatchObject({ code: "not_authenticated" });
  }
  for (const tenant of [user, { ...(await createUser(otherTenantId, "carol")) }]) {
    await expect(
      accessOf(database, tenant).readOne((db) => db.execute(sql`select count(*)::integer as count from scans`)),
    ).resolves.toMatchObject({ rows: [{ count: 0 }] });
  }
  expect((await write(user)).rows).toHaveLength(1);
});
