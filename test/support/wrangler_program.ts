import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { refuseInFastTest } from "./machine_tools.ts";

/** To be run with Node: the package's own link would take whatever Node comes first. */
export function wranglerProgram(): string {
  refuseInFastTest("workerd");
  return join(dirname(createRequire(import.meta.url).resolve("wrangler/package.json")), "bin/wrangler.js");
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
