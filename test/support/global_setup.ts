import { cp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { build } from "esbuild";
import type { TestProject } from "vitest/node";
import { buildPackage, nodeBundle } from "../../tools/build.ts";
import { installRuntimes } from "../runtimes/install.ts";
import { builtConformance, builtPackage, bundleMetafile, denoPage } from "./command_line.ts";
import { requireMachineTools } from "./machine_tools.ts";
import { startPostgres } from "./postgres.ts";

/** Once for the whole run: the programs that tests need are there, the built package, and one PostgreSQL that every suite shares. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  await requireMachineTools();
  installRuntimes();
  const [postgres, metafile] = await Promise.all([
    startPostgres(),
    buildPackage(builtPackage),
    build({ ...nodeBundle, entryPoints: ["conformance/main.ts"], outfile: builtConformance }),
  ]);
  await writeFile(bundleMetafile, JSON.stringify(metafile));
  await rm(denoPage, { recursive: true, force: true });
  await cp(join(builtPackage, "web"), denoPage, { recursive: true });
  project.provide("postgresAdminUrl", postgres.adminUrl);
  return () => postgres.stop();
}
