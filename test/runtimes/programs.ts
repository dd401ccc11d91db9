import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { refuseInFastTest } from "../support/machine_tools.ts";
import { installRuntimes } from "./install.ts";
import { requestSharedService } from "../support/shared_services.ts";

const resolve = createRequire(import.meta.url).resolve;

// A system test or a program that imports this module needs one of them.
if (process.env["VITEST"] === undefined) await installRuntimes();
else await requestSharedService("runtimes");

/** The program itself: the package's wrapper passes no signal on. */
export function denoProgram(): string {
  refuseInFastTest("Deno");
  return join(dirname(resolve("deno/package.json")), "deno");
}

/** To be run with Node: the package's own link would take whichever Node comes first. */
export function wranglerProgram(): string {
  refuseInFastTest("workerd");
  return join(dirname(resolve("wrangler/package.json")), "bin/wrangler.js");
}

/** The file of a package that Wrangler brings, so that the tests run on what is deployed with. */
export function resolveFromWrangler(file: string): string {
  return createRequire(resolve("wrangler/package.json")).resolve(file);
}

/** No request leaves this machine, and nothing is kept in the user's home. */
export function wranglerEnvironment(home: string): Readonly<Record<string, string | undefined>> {
  return {
    PATH: process.env["PATH"],
    HOME: home,
    WRANGLER_SEND_METRICS: "false",
    WRANGLER_SEND_ERROR_REPORTS: "false",
    WRANGLER_HIDE_BANNER: "true",
    CLOUDFLARE_CF_FETCH_ENABLED: "false",
    CI: "true",
    NO_COLOR: "1",
  };
}
