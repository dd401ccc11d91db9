import { expect, test } from "vitest";
import { findApiKey } from "../../drizzle/across_tenants.ts";
import { describeIsolation } from "./isolation_suite.ts";
import { openPgThroughPooler } from "./open_databases.ts";
import { seedTenant } from "./seed.ts";

describeIsolation("pg through a transaction pooler", openPgThroughPooler);

test("many statements at once through a transaction pooler each get their own answer", async () => {
  const opened = await openPgThroughPooler();
  const tenants = await Promise.all([seedTenant(opened.database), seedTenant(opened.database)]);
  const asked = Array.from({ length: 500 }, (_, index) => tenants[index % 2]?.hashes[0] ?? "");
  const found = await Promise.all(asked.map((hash) => findApiKey(opened.database, hash)));
  expect(found.map((key) => key?.tenantId)).toEqual(asked.map((_, index) => tenants[index % 2]?.id));
  await opened.close();
});
