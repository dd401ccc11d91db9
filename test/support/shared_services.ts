/** Services that `global_setup.ts` builds, installs or starts once for all workers, when the first test file asks. */
export type SharedService = "apt" | "installed" | "package" | "pglite" | "postgres";

declare module "vitest" {
  interface ProvidedContext {
    /** Address at which `global_setup.ts` answers. */
    readonly sharedServices: string;
  }
}

/**
 * Resolves with the service's answer, or null where there is no system test to share it: in a fast test, which shares only PGlite, and
 * in a program outside of vitest. Throws the error with which the service failed.
 */
export async function requestSharedService(service: SharedService, argument = ""): Promise<string | null> {
  // Outside of vitest it cannot even be imported.
  if (process.env["VITEST"] === undefined) return null;
  if (process.env["TEST_SPEED"] === "fast" && service !== "pglite") return null;
  const { inject } = await import("vitest");
  const response = await fetch(new URL(`${service}/${argument}`, inject("sharedServices")));
  const text = await response.text();
  if (!response.ok) throw new Error(text);
  return text;
}
