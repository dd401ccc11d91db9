import { cp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { buildPackage } from "../../tools/build.ts";
import { builtPackage, denoPage } from "./built_package.ts";
import { listen } from "./listen.ts";
import { installWithApt } from "./machine_tools.ts";
import { saveMigratedPglite } from "./pglite_dump.ts";
import { startPostgres, type PostgresServer } from "./postgres.ts";
import type { SharedService } from "./shared_services.ts";

/** Of all projects: Node imports this module once. */
let migratedPglite: Promise<string> | undefined;

/** Answers `requestSharedService` of every worker. A service that failed is not tried again. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  let postgres: PostgresServer | undefined;
  const services: Readonly<Record<SharedService, (argument: string) => Promise<string | void>>> = {
    apt: installWithApt,
    package: buildForTests,
    pglite: () => (migratedPglite ??= saveMigratedPglite()),
    async postgres() {
      postgres = await startPostgres();
      return postgres.adminUrl;
    },
  };
  const answers = new Map<string, Promise<string | void>>();
  const server = createServer(({ url = "" }, response) => {
    const [, service = "", argument = ""] = url.split("/");
    const answer = answers.get(url) ?? services[service as SharedService](argument);
    answers.set(url, answer);
    void answer.then(
      (text) => response.end(text),
      (error: unknown) => response.writeHead(500).end(error instanceof Error ? error.message : String(error)),
    );
  });
  const { url, close } = await listen(server);
  project.provide("sharedServices", url);
  return async () => {
    await close();
    await postgres?.stop();
  };
}

async function buildForTests(): Promise<void> {
  await buildPackage(builtPackage);
  await rm(denoPage, { recursive: true, force: true });
  await cp(join(builtPackage, "web"), denoPage, { recursive: true });
}
