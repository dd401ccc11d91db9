import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { generateDrizzleJson, generateMigration } from "drizzle-kit/api";
import { expect, test } from "vitest";
import journal from "../../drizzle/migrations/meta/_journal.json" with { type: "json" };
import { migrationConfig } from "../../drizzle/embedded_files.ts";
import * as schema from "../../drizzle/schema.ts";

const folder = migrationConfig.migrationsFolder;

test("the migrations make exactly the tables of schema.ts", async () => {
  const newest = String(journal.entries.at(-1)?.idx).padStart(4, "0");
  const snapshot: Parameters<typeof generateMigration>[0] = JSON.parse(
    readFileSync(join(folder, "meta", `${newest}_snapshot.json`), "utf8"),
  );
  const missing = await generateMigration(snapshot, generateDrizzleJson(schema, snapshot.id));
  expect(missing, "run drizzle-kit generate, see schema.ts").toEqual([]);
});

test("the journal names every file once, and is in order: Drizzle passes over what is older than the last one applied", () => {
  const files = readdirSync(folder).filter((name) => name.endsWith(".sql"));
  expect(journal.entries.map(({ tag }) => `${tag}.sql`)).toEqual(files.sort());
  const times = journal.entries.map(({ when }) => when);
  expect(times).toEqual([...new Set(times)].sort((a, b) => a - b));
});
