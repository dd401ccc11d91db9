import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { generateDrizzleJson, generateMigration } from "drizzle-kit/api";
import { and, isNull, lte, sql } from "drizzle-orm";
import { index, pgTable, text, timestamp, uuid } from "drizzle-orm/pg-core";
import { expect, test } from "vitest";
import { createGateway, defineFeature, migrate, tenantPolicy, write } from "../../../../gateway/library/gateway.ts";
import { memory } from "../../../../gateway/library/memory.ts";
import { postgres } from "../../../../gateway/library/postgres.ts";
import { createPgDatabase } from "../../../../drizzle/databases/pg.ts";
import { noTenant } from "../../../../drizzle/transactions.ts";
import { createTestDatabase } from "../../../support/postgres.ts";
import { temporaryFolder } from "../../../support/temporary_folder.ts";

const columns = {
  id: uuid("id").primaryKey().defaultRandom(),
  tenantId: uuid("tenant_id").notNull(),
  expiresAt: timestamp("expires_at", { withTimezone: true }).notNull(),
  keptBy: text("kept_by"),
};
const drafts = pgTable("drafts", columns, ({ tenantId, expiresAt, keptBy }) => [
  index("drafts_due").on(expiresAt).where(isNull(keptBy)),
  index("drafts_by_time").on(expiresAt),
  ...tenantPolicy("drafts", tenantId),
]);

test("a task of anybody's feature finds, as the application's role, each tenant with a row that is due, and no other", async () => {
  const own = await createTestDatabase();
  await using folder = await temporaryFolder();
  const statements = await generateMigration(generateDrizzleJson({}), generateDrizzleJson({ drafts }));
  const entries = [{ idx: 0, version: "7", when: 1, tag: "0000_initial", breakpoints: true }];
  await mkdir(join(folder.path, "meta"));
  await writeFile(join(folder.path, "meta/_journal.json"), JSON.stringify({ dialect: "postgresql", entries }));
  await writeFile(join(folder.path, "0000_initial.sql"), statements.join("--> statement-breakpoint\n"));
  const visited: string[] = [];
  const feature = defineFeature({
    prefix: "draft",
    tables: [drafts],
    migrations: () => pathToFileURL(folder.path),
    tasks: [
      {
        due: "drafts_due",
        afterSeconds: 60,
        firstAfterMs: 3_600_000,
        everyMs: 3_600_000,
        async run(tenantId, { database }) {
          visited.push(tenantId);
          const isDue = and(isNull(drafts.keptBy), lte(drafts.expiresAt, sql`now() - interval '60 seconds'`));
          await write(database, { tenantId }, (db) => db.delete(drafts).where(isDue));
          return true;
        },
      },
    ],
  });
  const features = [feature];
  await migrate({ database: postgres({ url: own.ownerUrl }), features });
  const streamTokenSecret = "x".repeat(32);
  const opened = { features, database: postgres({ url: own.appUrl }), broker: memory(), streamTokenSecret };
  const gateway = await createGateway(opened);
  const database = createPgDatabase(own.appUrl);
  const [first = "", second = "", third = ""] = Array.from({ length: 3 }, () => crypto.randomUUID());
  const store = (tenantId: string, secondsAgo: number, keptBy: string | null = null) =>
    write(database, { tenantId }, (db) =>
      db.insert(drafts).values({ tenantId, keptBy, expiresAt: new Date(Date.now() - secondsAgo * 1000) }),
    );
  await store(first, 3000);
  await store(first, 1);
  await store(second, 9000);
  await store(third, 9000, "ada");
  await gateway.scheduled();
  expect(visited).toEqual([second, first]);
  const left = (tenantId: string) =>
    write(database, { tenantId }, async (db) => (await db.select().from(drafts)).length);
  expect([await left(first), await left(second), await left(third)]).toEqual([1, 0, 1]);
  // Only an index that is named so tells the application anything of other tenants.
  const asked = write(database, noTenant, (db) =>
    db.execute(sql`select scanstream.find_due_tenant('drafts_by_time', 0)`),
  );
  await expect(asked).rejects.toMatchObject({ sqlState: "42704" });
  await database.close();
  await gateway.close();
  await own.drop();
});
