import { basename, join } from "node:path";

/** Where `gateway/web/build.ts` puts the live page: beside the bundle of an installed package, in `dist/` of a checkout. */
export function webFolder(): string {
  const here = import.meta.dirname;
  return basename(here) === "gateway" ? join(here, "../dist/web") : join(here, "web");
}
