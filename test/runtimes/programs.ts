import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { refuseInFastTest } from "../support/machine_tools.ts";

const resolve = createRequire(import.meta.url).resolve;

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

/** The command line of "Are the types wrong?", to be run with Node. */
export function typesTool(): string {
  return join(dirname(resolve("@arethetypeswrong/cli/package.json")), "dist/index.js");
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
