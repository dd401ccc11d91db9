import { cp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { memoize } from "../../scanner/checks/evaluating/memoize.ts";
import { buildPackage } from "../../tools/build.ts";
import { builtPackage, denoPage } from "./built_package.ts";
import { listen } from "./listen.ts";
import { installWithApt } from "./machine_tools.ts";
import { saveMigratedPglite } from "./pglite_dump.ts";
import { startPostgres } from "./postgres.ts";
import type { SharedService } from "./shared_services.ts";
import { installTarball } from "./tarball.ts";
import { temporaryFolder } from "./temporary_folder.ts";

/** One for all projects: Node imports this module once. */
let migratedPglite: Promise<string> | undefined;

/** Answers `requestSharedService` of every worker. A service that failed is not tried again. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const stops = new AsyncDisposableStack();
  const services: Readonly<Record<SharedService, (argument: string) => Promise<string | void>>> = {
    apt: installWithApt,
    async installed() {
      await answer("package/");
      const { path } = stops.use(await temporaryFolder());
      return installTarball(path);
    },
    package: buildForTests,
    pglite: () => (migratedPglite ??= saveMigratedPglite()),
    async postgres() {
      const { adminUrl, stop } = await startPostgres();
      stops.defer(stop);
      return adminUrl;
    },
  };
  const answer = memoize((path: string) => {
    const [service = "", argument = ""] = path.split("/");
    return services[service as SharedService](argument);
  });
  const server = createServer(({ url = "" }, response) => {
    // A kept connection may end in the instant in which the next request is sent on it.
    response.setHeader("connection", "close");
    void answer(url.slice(1)).then(
      (text) => response.end(text),
      (error: unknown) => response.writeHead(500).end(error instanceof Error ? error.message : String(error)),
    );
  });
  project.provide("sharedServices", stops.use(await listen(server)).url);
  return () => stops.disposeAsync();
}

async function buildForTests(): Promise<void> {
  await buildPackage(builtPackage);
  await rm(denoPage, { recursive: true, force: true });
  await cp(join(builtPackage, "web"), denoPage, { recursive: true });
}
