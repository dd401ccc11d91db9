import { expect, test } from "vitest";
import { createNeonDatabase } from "../../drizzle/databases/neon.ts";
import { neon } from "../../gateway/library/neon.ts";
import { runs } from "../../drizzle/schema.ts";
import { findApiKey } from "../../drizzle/across_tenants.ts";
import { readOne } from "../../drizzle/transactions.ts";
import { startNeonProxy } from "../support/neon_proxy.ts";
import { patient } from "../support/postgres.ts";
import { openOnNeon } from "./open_databases.ts";
import { describeOutages } from "./outage_suite.ts";
import { describeQueries } from "./query_suite.ts";
import { randomHash, seedTenant } from "./seed.ts";

const modes = {
  "Neon, a connection a transaction": {},
  "Neon, with kept connections": { keepsConnections: true },
};
const open = (mode = {}) => openOnNeon((url, endpoint) => createNeonDatabase(url, { ...patient, endpoint, ...mode }));

for (const [name, mode] of Object.entries(modes)) {
  describeQueries(name, () => open(mode));
  describeOutages(name, {
    connect: (url, options) =>
      createNeonDatabase(url, { ...options, ...mode, endpoint: `http://127.0.0.1:${new URL(url).port}/sql` }),
    startFront: (postgresPort) => startNeonProxy({ host: "127.0.0.1", port: postgresPort }),
  });
}

test("over Neon a single query of a tenant is one request", async () => {
  const opened = await open();
  const { database, proxy } = opened;
  const acme = await seedTenant(database);
  const requests = proxy.watch();
  await readOne(database, { tenantId: acme.id }, (db) => db.select().from(runs));
  expect(requests).toHaveLength(1);
  await findApiKey(database, randomHash());
  expect(requests).toHaveLength(2);
  await opened.close();
});

test("a URL that is none is refused without being quoted", () => {
  for (const url of ["", "hunter2", "https://u:hunter2@host/db", "postgres://host/hunter2", "postgres:/hunter2"]) {
    expect(() => neon({ url }), url).toThrow(/^(?!.*hunter2).*postgres:\/\/user:password@host\/database$/);
  }
});
