import { cp, mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { buildPackage } from "../../tools/build.ts";
import { builtPackage, denoPage } from "./built_package.ts";
import { listen } from "./listen.ts";
import { installWithApt } from "./machine_tools.ts";
import { saveMigratedPglite } from "./pglite_dump.ts";
import { startPostgres, type PostgresServer } from "./postgres.ts";
import type { SharedService } from "./shared_services.ts";
import { installTarball } from "./tarball.ts";

/** One for all projects: Node imports this module once. */
let migratedPglite: Promise<string> | undefined;

/** Answers `requestSharedService` of every worker. A service that failed is not tried again. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  let postgres: PostgresServer | undefined;
  let installedFolder: string | undefined;
  const answers = new Map<string, Promise<string | void>>();
  const answer = (service: SharedService, argument = "") => {
    const name = `${service}/${argument}`;
    const known = answers.get(name) ?? services[service](argument);
    answers.set(name, known);
    return known;
  };
  const services: Readonly<Record<SharedService, (argument: string) => Promise<string | void>>> = {
    apt: installWithApt,
    async installed() {
      await answer("package");
      installedFolder = await mkdtemp(join(tmpdir(), "scanstream-installed-"));
      return installTarball(installedFolder);
    },
    package: buildForTests,
    pglite: () => (migratedPglite ??= saveMigratedPglite()),
    async postgres() {
      postgres = await startPostgres();
      return postgres.adminUrl;
    },
  };
  const server = createServer(({ url = "" }, response) => {
    const [, service = "", argument = ""] = url.split("/");
    void answer(service as SharedService, argument).then(
      (text) => response.end(text),
      (error: unknown) => response.writeHead(500).end(error instanceof Error ? error.message : String(error)),
    );
  });
  const { url, close } = await listen(server);
  project.provide("sharedServices", url);
  return async () => {
    await close();
    await postgres?.stop();
    if (installedFolder !== undefined) await rm(installedFolder, { recursive: true, force: true });
  };
}

async function buildForTests(): Promise<void> {
  await buildPackage(builtPackage);
  await rm(denoPage, { recursive: true, force: true });
  await cp(join(builtPackage, "web"), denoPage, { recursive: true });
}
