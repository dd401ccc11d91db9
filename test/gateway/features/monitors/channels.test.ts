import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Database } from "../../../../drizzle/database.ts";
import { monitors } from "../../../../drizzle/schema.ts";
import { everyTenant, write } from "../../../../drizzle/transactions.ts";
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
  const org = { orgUrl: "https://acme.okta.com", origin: "https://acme.okta.com" };
  const values = { id, tenantId: acme.id, ...org, intervalSeconds: 10, ...fields };
  await write(database, everyTenant, (db) => db.insert(monitors).values(values));
  return id;
}

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
