import { hash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { PGlite } from "@electric-sql/pglite";
import { drizzle } from "drizzle-orm/pglite";
import { migrate } from "drizzle-orm/pglite/migrator";
import { migrationConfig } from "../../drizzle/embedded_files.ts";
import packageJson from "../../package.json" with { type: "json" };
import { builtPackage } from "./built_package.ts";

const folder = join(builtPackage, "../pglite");

/** Resolves with the file of an embedded database that is migrated and empty. It is kept from one run to the next. */
export async function saveMigratedPglite(): Promise<string> {
  const { migrationsFolder } = migrationConfig;
  const names = (await readdir(migrationsFolder, { recursive: true }))
    .filter((name) => name.endsWith(".sql"))
    .toSorted();
  const migrations = await Promise.all(names.map((name) => readFile(join(migrationsFolder, name), "utf8")));
  const version = packageJson.devDependencies["@electric-sql/pglite"];
  const file = join(folder, `${hash("sha256", [version, ...migrations].join())}.tar`);
  if (existsSync(file)) return file;
  const pglite = await PGlite.create("memory://");
  await migrate(drizzle(pglite), migrationConfig);
  const dump = await pglite.dumpDataDir("none");
  await pglite.close();
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  await writeFile(`${file}.${process.pid}`, dump.stream());
  await rename(`${file}.${process.pid}`, file);
  return file;
}
