import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { refuseInFastTest } from "./machine_tools.ts";

const wranglerManifest = fileURLToPath(import.meta.resolve("wrangler/package.json"));

/** The program itself, without a shell or a script that would pass no signal on. */
export function denoProgram(): string {
  refuseInFastTest("Deno");
  return fileURLToPath(import.meta.resolve("deno/deno"));
}

/** To be run with Node: the package's own link would take whichever Node comes first. */
export function wranglerProgram(): string {
  refuseInFastTest("workerd");
  return join(dirname(wranglerManifest), "bin/wrangler.js");
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
