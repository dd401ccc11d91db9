import { randomUUID } from "node:crypto";
import { afterAll, expect, test } from "vitest";
import { monitors, scans } from "../../../../drizzle/schema.ts";
import { read, readOne } from "../../../../drizzle/transactions.ts";
import { monitorKind, runChannel, scanKind } from "../../../../gateway/features/runs/run.ts";
import { getChannels } from "../../../../gateway/features/runs/runs.ts";
import { NotFound } from "../../../../shared/app_error.ts";
import { seedTenant } from "../../../drizzle/seed.ts";
import { openTestPglite } from "../../../support/pglite.ts";

const database = await openTestPglite();
afterAll(() => database.close());

test.each([
  [scanKind, scans],
  [monitorKind, monitors],
])(
  "the channel of a $name has its own tenant; another tenant's and an unknown one are not found",
  async (kind, table) => {
    const acme = await seedTenant(database);
    const globex = await seedTenant(database, "globex");
    const channelsOf = (tenantId: string, id: string) =>
      read(database, { tenantId }, (db) => getChannels(kind, db, [id]));
    const [run] = await readOne(database, { tenantId: acme.id }, (db) => db.select({ id: table.id }).from(table));
    const id = run?.id ?? "";
    expect(await channelsOf(acme.id, id)).toEqual([runChannel(kind, { tenantId: acme.id, id })]);
    await expect(channelsOf(globex.id, id)).rejects.toBeInstanceOf(NotFound);
    await expect(channelsOf(acme.id, randomUUID())).rejects.toBeInstanceOf(NotFound);
  },
);
