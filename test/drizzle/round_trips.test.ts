import { once } from "node:events";
import { connect, createServer, type AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { createPgDatabase } from "../../drizzle/databases/pg.ts";
import { scans } from "../../drizzle/schema.ts";
import { findApiKey } from "../../drizzle/across_tenants.ts";
import { ping, read, readOne, type TenantDatabase } from "../../drizzle/transactions.ts";
import { openOnPostgres } from "./open_databases.ts";
import { seedTenant } from "./seed.ts";

test("over pg a single query costs one round trip, also when it fails, and a transaction with it two", async () => {
  const opened = await openOnPostgres((url) => createPgDatabase(url, { maxConnections: 1 }));
  const acme = await seedTenant(opened.database);
  const direct = new URL(opened.url);
  let count = 0;
  // A round trip begins where the client speaks after the server has spoken.
  const proxy = createServer((client) => {
    let isClientsTurn = true;
    const upstream = connect({ host: "127.0.0.1", port: Number(direct.port) });
    client.on("data", () => {
      if (isClientsTurn) count += 1;
      isClientsTurn = false;
    });
    upstream.on("data", () => (isClientsTurn = true));
    client.pipe(upstream).pipe(client);
  });
  await once(proxy.listen(0, "127.0.0.1"), "listening");
  const through = new URL(direct);
  through.port = String((proxy.address() as AddressInfo).port);
  const database = createPgDatabase(through.href, { maxConnections: 1 });
  await ping(database);

  const costOf = async (work: () => Promise<unknown>) => {
    const before = count;
    await work();
    return count - before;
  };
  const caller = { tenantId: acme.id };
  const one = (db: TenantDatabase) => db.select().from(scans);
  expect(await costOf(() => readOne(database, caller, one))).toBe(1);
  expect(await costOf(() => findApiKey(database, acme.hashes[0] ?? ""))).toBe(1);
  const fail = () => readOne(database, caller, (db) => db.execute("select 1 / 0")).catch(() => "refused");
  expect(await costOf(fail)).toBe(1);
  // The first query with `begin`, and COMMIT.
  expect(await costOf(() => read(database, caller, (db) => one(db)))).toBe(2);
  expect(await costOf(() => read(database, caller, (db) => Promise.all([one(db), one(db)])))).toBe(2);

  await database.close();
  proxy.close();
  await opened.close();
});
