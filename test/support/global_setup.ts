import type { TestProject } from "vitest/node";
import { buildPackage } from "../../tools/build.ts";
import { installRuntimes } from "../runtimes/install.ts";
import { builtPackage } from "./command_line.ts";
import { requireMachineTools } from "./machine_tools.ts";
import { startPostgres } from "./postgres.ts";

/** Once for the whole run: the programs that tests need are there, the built package, and one PostgreSQL that every suite shares. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  await requireMachineTools();
  installRuntimes();
  const [postgres] = await Promise.all([startPostgres(), buildPackage(builtPackage)]);
  project.provide("postgresAdminUrl", postgres.adminUrl);
  return () => postgres.stop();
}
