import { afterAll, beforeAll, expect, test } from "vitest";
import { createPgDatabase } from "../../../../drizzle/databases/pg.ts";
import type { Database } from "../../../../drizzle/database.ts";
import { write } from "../../../../drizzle/transactions.ts";
import { executeAdmin, type AdminContext } from "../../../../gateway/operator/operations.ts";
import { accessOf } from "../../../../gateway/auth/membership.ts";
import type { AllowedPrincipal } from "../../../../gateway/auth/principal.ts";
import {
  deleteMember,
  putMember,
  selectMembers,
  updateMember,
} from "../../../../gateway/features/team/member_store.ts";
import { openOnPostgres, openPg, type OpenDatabase } from "../../../drizzle/open_databases.ts";
import { describeAudit } from "./audit_suite.ts";

describeAudit("pg", openPg);

let opened: OpenDatabase;
let database: Database;
beforeAll(async () => {
  opened = await openOnPostgres((url) => createPgDatabase(url, { maxConnections: 10 }));
  database = opened.database;
});
afterAll(() => opened?.close());

test("admins who remove and demote each other at once leave one", async () => {
  const context: AdminContext = { database, developmentKey: null, tenantClaim: "tenant_id", nowMs: Date.now };
  const subs = ["ann", "bob", "cyn", "dan"];
  const { id: tenantId } = (await executeAdmin(context, "tenant.create", { name: "Acme" })) as { readonly id: string };
  for (let round = 0; round < 15; round += 1) {
    for (const sub of subs) await executeAdmin(context, "user.create", { tenant: tenantId, sub, role: "admin" });
    const changes = subs.flatMap((caller) =>
      subs
        .filter((sub) => sub !== caller)
        .map((sub) => {
          const principal: AllowedPrincipal = {
            kind: "user",
            tenantId,
            id: caller,
            expiresAtMs: null,
            onlyStream: null,
            permission: "manage",
          };
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
