import type { JsonObject } from "../../shared/json.ts";

/** A link object as the provider writes them: the address and the methods it allows. */
export function link(href: string, ...allow: readonly string[]): JsonObject {
  return allow.length === 0 ? { href } : { href, hints: { allow } };
}

/** `deactivate` on what is active, `activate` on what is not: the provider shows only the step that is possible. */
export function lifecycleLink(href: string, status: string): JsonObject {
  const verb = status === "ACTIVE" ? "deactivate" : "activate";
  return { [verb]: link(`${href}/lifecycle/${verb}`, "POST") };
}
