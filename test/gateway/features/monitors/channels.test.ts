import { randomUUID } from "node:crypto";
import { sql } from "drizzle-orm";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Database } from "../../../../drizzle/database.ts";
import { monitors } from "../../../../drizzle/schema.ts";
import { everyTenant, write } from "../../../../drizzle/transactions.ts";
import { findEnded } from "../../../../gateway/features/find_ended.ts";
import { getChannels as getMonitorChannels } from "../../../../gateway/features/monitors/channels.ts";
import { monitorChannel } from "../../../../gateway/features/monitors/events.ts";
import { getChannels as getScanChannels } from "../../../../gateway/features/scans/channels.ts";
import { scanChannel } from "../../../../shared/scan_events.ts";
import { NotFound } from "../../../../shared/app_error.ts";
import { seedTenant, type SeededTenant } from "../../../drizzle/seed.ts";
import { openTestPglite } from "../../../support/pglite.ts";

let database: Database;
let acme: SeededTenant;
let globex: SeededTenant;
beforeAll(async () => {
  database = await openTestPglite();
  acme = await seedTenant(database);
  globex = await seedTenant(database, "globex");
});
afterAll(() => database.close());

async function insert(fields: Partial<typeof monitors.$inferInsert> = {}): Promise<string> {
  const id = randomUUID();
  const values = { id, tenantId: acme.id, orgUrl: "https://acme.okta.com", intervalSeconds: 10, ...fields };
  await write(database, everyTenant, (db) => db.insert(monitors).values(values));
  return id;
}

/** Longer ago than the terminal event may take. */
const over = { status: "ended", endedAt: new Date(Date.now() - 6000) } as const;

test("a channel is built with its own tenant; another tenant's and an unknown resource are not found", async () => {
  const monitorsOf = (id: string, { id: tenantId } = acme) =>
    write(database, { tenantId }, async (db) => getMonitorChannels({ db, params: { id } }));
  const open = await insert();
  expect(await monitorsOf(open)).toEqual([monitorChannel(acme.id, open)]);
  await expect(monitorsOf(open, globex)).rejects.toBeInstanceOf(NotFound);
  await expect(monitorsOf(randomUUID())).rejects.toBeInstanceOf(NotFound);
  const [scanId = ""] = acme.scanIds;
  const scanOf = (tenantId: string) =>
    write(database, { tenantId }, async (db) => getScanChannels({ db, params: { id: scanId } }));
  expect(await scanOf(acme.id)).toEqual([scanChannel(acme.id, scanId)]);
  await expect(scanOf(globex.id)).rejects.toBeInstanceOf(NotFound);
});

test("findEnded names those that ended some seconds ago, or are not there, among scans and monitors of the tenant, and no other channel", async () => {
  const [open, ended, deleted] = [await insert(), await insert(over), randomUUID()];
  const justEnded = await insert({ ...over, endedAt: new Date() });
  const [scanId = "", openScanId = ""] = acme.scanIds;
  await write(database, everyTenant, (db) =>
    db.execute(
      sql`update scans set status = 'failed', ended_at = now() - interval '6 seconds' where id = ${scanId}::uuid`,
    ),
  );
  const noScan = randomUUID();
  const channels = [
    ...[open, ended, deleted, justEnded].map((id) => monitorChannel(acme.id, id)),
    ...[scanId, openScanId, noScan].map((id) => scanChannel(acme.id, id)),
    `job:${acme.id}:${ended}`,
  ];
  expect(await findEnded(database, acme.id, channels)).toEqual(
    new Set([
      ...[ended, deleted].map((id) => monitorChannel(acme.id, id)),
      ...[scanId, noScan].map((id) => scanChannel(acme.id, id)),
    ]),
  );
  expect(await findEnded(database, globex.id, channels)).toEqual(new Set());
  expect(await findEnded(database, acme.id, [])).toEqual(new Set());
});

test("findEnded takes more channels than PostgreSQL takes parameters", async () => {
  const open = scanChannel(acme.id, acme.scanIds[1] ?? "");
  const unknown = Array.from({ length: 70_000 }, () => scanChannel(acme.id, randomUUID()));
  expect(await findEnded(database, acme.id, [open, ...unknown])).toEqual(new Set(unknown));
});
