import { expect, test } from "vitest";
import { createNeonHttpDatabase } from "../../drizzle/databases/neon_http.ts";
import { scans } from "../../drizzle/schema.ts";
import { findApiKey, withTenant } from "../../drizzle/with_tenant.ts";
import { describeIsolation } from "./isolation_suite.ts";
import { openOnNeon } from "./open_databases.ts";
import { describeQueries } from "./query_suite.ts";
import { randomHash, seedTenant } from "./seed.ts";

const open = () => openOnNeon((url) => createNeonHttpDatabase(url));

describeIsolation("Neon's HTTP", open);
describeQueries("Neon's HTTP", open);

test("over Neon's HTTP a statement of a tenant is one request", async () => {
  const opened = await open();
  const { database, proxy } = opened;
  const acme = await seedTenant(database);
  const before = proxy.sqlRequestCount;
  await withTenant(database, acme.id, (tx) => tx.select().from(scans));
  expect(proxy.sqlRequestCount).toBe(before + 1);
  await findApiKey(database, randomHash());
  expect(proxy.sqlRequestCount).toBe(before + 2);
  await opened.close();
});

test("an URL that Neon's driver would quote in its error is refused without being quoted", () => {
  for (const url of ["", "hunter2", "https://u:hunter2@host/db", "postgres://host/hunter2", "postgres:/hunter2"]) {
    const created = () => createNeonHttpDatabase(url);
    expect(created, url).toThrow(TypeError);
    expect(created, url).toThrow(/^(?!.*hunter2).*postgres:\/\/user:password@host\/database$/);
  }
});
