import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { generateDrizzleJson, generateMigration } from "drizzle-kit/api";
import { and, isNull, lte, sql } from "drizzle-orm";
import { index, pgTable, text, timestamp, uuid } from "drizzle-orm/pg-core";
import { expect, test } from "vitest";
import type { Task } from "../../../gateway/features/features.ts";
import { createGateway, defineFeature, migrate, tenantPolicy, write } from "../../../gateway/library/gateway.ts";
import { memory } from "../../../gateway/library/memory.ts";
import { postgres } from "../../../gateway/library/postgres.ts";
import { executeAdmin } from "../../../gateway/operator/operations.ts";
import { createPgDatabase } from "../../../drizzle/databases/pg.ts";
import { noTenant } from "../../../drizzle/transactions.ts";
import { asAdmin, createTestDatabase } from "../../support/postgres.ts";
import { temporaryFolder } from "../../support/temporary_folder.ts";

/** Tables of anybody's features, on PostgreSQL. */

/** A folder of one migration, as drizzle-kit writes it. */
async function writeMigration(folder: string, ...statements: readonly string[]): Promise<() => URL> {
  const entries = [{ idx: 0, version: "7", when: 1, tag: "0000_initial", breakpoints: true }];
  await mkdir(join(folder, "meta"), { recursive: true });
  await writeFile(join(folder, "meta/_journal.json"), JSON.stringify({ dialect: "postgresql", entries }));
  await writeFile(join(folder, "0000_initial.sql"), statements.join("--> statement-breakpoint\n"));
  return () => pathToFileURL(folder);
}

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
  const empty = await createTestDatabase();
  await using folder = await temporaryFolder();
  const statements = await generateMigration(generateDrizzleJson({}), generateDrizzleJson({ drafts }));
  const visited: string[] = [];
  const task: Task = {
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
  };
  const migrations = await writeMigration(folder.path, ...statements);
  const feature = defineFeature({ prefix: "draft", tables: [drafts], migrations, tasks: [task] });
  const features = [feature];
  await migrate({ database: postgres({ url: empty.ownerUrl }), features });
  const streamTokenSecret = "x".repeat(32);
  const opened = { features, database: postgres({ url: empty.appUrl }), broker: memory(), streamTokenSecret };
  const gateway = await createGateway(opened);
  const database = createPgDatabase(empty.appUrl);
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
  await gateway.close();
  // A step that runs is done before what it needs is closed.
  await store(second, 9000);
  const begun = Promise.withResolvers<void>();
  const slow: Task["run"] = async (...step) => {
    begun.resolve();
    await setTimeout(300);
    return task.run(...step);
  };
  const leaving = { ...feature, tasks: [{ ...task, firstAfterMs: 0, run: slow }] };
  const other = await createGateway({ ...opened, features: [leaving] });
  await begun.promise;
  await other.close();
  expect(await left(second)).toBe(0);
  // A dump reads the tables for hours.
  await asAdmin(empty.ownerUrl, async (dump) => {
    await dump.query("begin; select from drafts");
    await migrate({ database: postgres({ url: empty.ownerUrl }), features });
  });
  await database.close();
  await empty.drop();
});

const own = { id: uuid("id").primaryKey() };

test("a table without tenantPolicy, and what was not migrated, are one error that names each and the remedy", async () => {
  const empty = await createTestDatabase();
  await using folder = await temporaryFolder();
  const jobs = defineFeature({
    prefix: "job",
    tables: [pgTable("open_jobs", own), pgTable("owned_jobs", own), pgTable("lost_jobs", own)],
    tasks: [{ due: "jobs_due", firstAfterMs: 0, everyMs: 0, run: async () => false }],
    migrations: await writeMigration(
      folder.path,
      "create table open_jobs (id uuid primary key, tenant_id uuid);",
      "create table owned_jobs (id uuid primary key, owner uuid);",
      "alter table owned_jobs enable row level security;",
      "create policy owned_jobs_of_tenant on owned_jobs using (false)",
    ),
  });
  const refused = migrate({ database: postgres({ url: empty.ownerUrl }), features: [jobs] });
  for (const problem of [
    'table "open_jobs" of the feature "job" has no tenantPolicy for a column tenant_id: add tenantPolicy("open_jobs"',
    'table "owned_jobs" of the feature "job" has no tenantPolicy for a column tenant_id: add tenantPolicy("owned_jobs"',
    'table "lost_jobs" of the feature "job" is not migrated: generate its migration',
    'index "jobs_due" of the feature "job" is not migrated: generate its migration',
  ])
    await expect(refused).rejects.toThrow(problem);
  const keptIn = join(folder.path, "kept");
  const kept = await writeMigration(keptIn, "create table kept ()");
  const keep = defineFeature({ prefix: "keep", tables: [], migrations: kept });
  await migrate({ database: postgres({ url: empty.ownerUrl }), features: [keep] });
  await writeMigration(keptIn, "create table kept (id uuid)");
  const broken = await writeMigration(folder.path, "create tabel x ()");
  const lost = (migrations: () => URL) => defineFeature({ prefix: "lost", tables: [], migrations });
  for (const [why, ...features] of [
    [`the migrations of the feature "lost" in ${broken().href}: syntax error at or near "tabel"`, lost(broken)],
    ['the migrations of the feature "lost" in ./migrations: Invalid URL', lost(() => "./migrations" as unknown as URL)],
    ["Invalid URL", lost(() => new URL("migrations"))],
    ["/kept/0000_initial.sql was changed after it was applied: restore it", keep],
    ['the features "other" and "next" have the same folder', { ...keep, prefix: "other" }, { ...keep, prefix: "next" }],
  ] as const) {
    await expect(migrate({ database: postgres({ url: empty.ownerUrl }), features })).rejects.toThrow(why);
  }
  await empty.drop();
});

test("S3: the policy of a feature's table holds for the table's owner, too, and a serial column may be used", async () => {
  const { ownerUrl, appUrl, drop } = await createTestDatabase();
  await using folder = await temporaryFolder();
  const notes = defineFeature({
    prefix: "note",
    tables: [pgTable("notes", own)],
    migrations: await writeMigration(
      folder.path,
      "create table notes (n bigserial, id uuid primary key, tenant_id uuid);",
      "alter table notes enable row level security;",
      "create policy notes_of_tenant on notes using (false)",
    ),
  });
  await migrate({ database: postgres({ url: ownerUrl }), features: [notes] });
  const { rows } = await asAdmin(ownerUrl, (client) =>
    client.query("select relforcerowsecurity as is_forced from pg_class where oid = 'public.notes'::regclass"),
  );
  expect(rows).toEqual([{ is_forced: true }]);
  // Its next version is deployed, and its migration is not.
  const newer = defineFeature({ ...notes, tables: [pgTable("notes", { ...own, title: text("title") })] });
  const options = { broker: memory(), streamTokenSecret: "x".repeat(32), database: postgres({ url: appUrl }) };
  await expect(createGateway({ ...options, features: [newer] })).rejects.toThrow(
    'table "notes" of the feature "note" lacks the column "title": generate its migration',
  );
  const database = createPgDatabase(appUrl);
  const next = write(database, { tenantId: crypto.randomUUID() }, (db) =>
    db.execute(sql`select nextval('notes_n_seq')`),
  );
  await expect(next).resolves.toBeDefined();
  await database.close();
  await drop();
});

test("a tenant is deleted with rows of three tables that refer to each other, and with thousands of one that refer to themselves", async () => {
  const { ownerUrl, drop } = await createTestDatabase();
  await using folder = await temporaryFolder();
  const references = { boards: "", cards: "board uuid references boards", comments: "parent uuid references comments" };
  const statements = Object.entries(references).flatMap(([name, column]) => [
    `create table ${name} (${["id uuid primary key, tenant_id uuid", column].filter(Boolean).join(", ")});`,
    `alter table ${name} enable row level security;`,
    `create policy ${name}_of_tenant on ${name} using (true);`,
  ]);
  const boards = defineFeature({
    prefix: "board",
    tables: Object.keys(references).map((name) => pgTable(name, own)),
    migrations: await writeMigration(folder.path, ...statements, "alter table comments add card uuid references cards"),
  });
  await migrate({ database: postgres({ url: ownerUrl }), features: [boards] });
  const database = createPgDatabase(ownerUrl);
  const { id } = (await executeAdmin({ database }, "tenant.create", { name: "Acme" })) as { readonly id: string };
  await write(database, { tenantId: id }, async (db) => {
    await db.execute(sql`insert into boards values (${id}, ${id})`);
    await db.execute(sql`insert into cards values (${id}, ${id}, ${id})`);
    await db.execute(sql`insert into comments values (${id}, ${id}, null, ${id})`);
    await db.execute(sql`
      insert into comments select gen_random_uuid(), ${id}, ${id}, ${id} from generate_series(1, 2500)`);
  });
  const deleted = executeAdmin({ database }, "tenant.delete", { tenant: id, confirm: "Acme" });
  expect(await deleted).toMatchObject({ deleted: true });
  await database.close();
  const { rows } = await asAdmin(ownerUrl, (client) => client.query("select from boards"));
  expect(rows).toEqual([]);
  await drop();
});
