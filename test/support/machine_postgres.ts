import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { startPostgres, type PostgresServer } from "./postgres.ts";

/** Where Debian and Ubuntu keep the programs of each major version. */
const debianFolder = "/usr/lib/postgresql";

/** The folder of the machine's own PostgreSQL, which has `pg_dump` and its like: the package from npm has the server only. */
export async function machinePostgresFolder(): Promise<string> {
  const versions = await readdir(debianFolder).catch(() => []);
  const newest = versions.toSorted((a, b) => Number(b) - Number(a))[0];
  if (newest === undefined) throw new Error(`Cannot find the machine's PostgreSQL: ${debianFolder} has no version`);
  return join(debianFolder, newest, "bin");
}

/** A server of the same version as `pg_dump`, which reads no newer one. */
export async function startMachinePostgres(content: "prepared" | "bare"): Promise<PostgresServer> {
  const folder = await machinePostgresFolder();
  const binaries = { initdb: join(folder, "initdb"), postgres: join(folder, "postgres") };
  return startPostgres(content, { programs: async () => binaries });
}
