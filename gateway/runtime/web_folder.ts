import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The folder into which `gateway/web/build.ts` puts the live page: next to the bundle of an installed package, in `dist/` of a checkout. */
export function webFolder(): string {
  const here = fileURLToPath(new URL(".", import.meta.url));
  return basename(here) === "runtime" ? join(here, "../../dist/web") : join(here, "web");
}
