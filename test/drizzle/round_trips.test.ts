import { once } from "node:events";
import { connect, createServer } from "node:net";
import { expect, test } from "vitest";
import { createPgDatabase } from "../../drizzle/databases/pg.ts";
import { scans } from "../../drizzle/schema.ts";
import { findApiKey } from "../../drizzle/across_tenants.ts";
import { ping, withTenant } from "../../drizzle/with_tenant.ts";
import { openOnPostgres } from "./open_databases.ts";
import { seedTenant } from "./seed.ts";

test("over pg a statement of a tenant costs one round trip, also when it fails", async () => {
  const opened = await openOnPostgres((url) => createPgDatabase(url, { maxConnections: 1 }));
  const acme = await seedTenant(opened.database);
  const direct = new URL(opened.url);
  const proxy = await startRoundTripCounter(Number(direct.port));
  direct.port = String(proxy.port);
  const database = createPgDatabase(direct.href, { maxConnections: 1 });
  await ping(database);

  const costOf = async (work: () => Promise<unknown>) => {
    const before = proxy.count();
    await work();
    return proxy.count() - before;
  };
  expect(await costOf(() => withTenant(database, acme.id, (db) => db.select().from(scans)))).toBe(1);
  expect(await costOf(() => findApiKey(database, acme.hashes[0] ?? ""))).toBe(1);
  const fail = () => withTenant(database, acme.id, (db) => db.execute("select 1 / 0")).catch(() => "refused");
  expect(await costOf(fail)).toBe(1);
  expect(
    await costOf(() =>
      withTenant(database, acme.id, async (db) => {
        await db.select().from(scans);
        await db.select().from(scans);
      }),
    ),
  ).toBe(2);

  await database.close();
  await proxy.close();
  await opened.close();
});

interface RoundTripCounter {
  readonly port: number;
  /** How often the client began to speak after the server had spoken. */
  count(): number;
  close(): Promise<void>;
}

async function startRoundTripCounter(targetPort: number): Promise<RoundTripCounter> {
  let count = 0;
  const server = createServer((client) => {
    let isClientsTurn = true;
    const upstream = connect({ host: "127.0.0.1", port: targetPort });
    client.on("data", (chunk) => {
      if (isClientsTurn) count += 1;
      isClientsTurn = false;
      upstream.write(chunk);
    });
    upstream.on("data", (chunk) => {
      isClientsTurn = true;
      client.write(chunk);
    });
    client.on("close", () => upstream.destroy());
    upstream.on("close", () => client.destroy());
    client.on("error", () => undefined);
    upstream.on("error", () => undefined);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("Cannot count round trips: there is no port");
  return {
    port: address.port,
    count: () => count,
    async close() {
      server.close();
      await once(server, "close");
    },
  };
}
