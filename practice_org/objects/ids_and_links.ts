import type { JsonObject } from "../../shared/json.ts";
import { createHash } from "node:crypto";

const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const bodyLength = 14;
const cell = "5d7";

/**
 * An id of the provider's form: a three-character prefix for the kind, twenty characters in all. The same kind and name
 * give the same id at every start, so that baselines, waivers and saved artifacts of a practice org stay valid.
 */
export function oktaId(prefix: string, name: string): string {
  const digest = createHash("sha256").update(`${prefix}\n${name}`).digest();
  let body = "";
  for (const byte of digest.subarray(0, bodyLength)) body += alphabet.charAt(byte % alphabet.length);
  return `${prefix}${body}${cell}`;
}

/** A link object as the provider writes them: the address and the methods it allows. */
export function link(href: string, ...allow: readonly string[]): JsonObject {
  return allow.length === 0 ? { href } : { href, hints: { allow } };
}

/** `deactivate` on what is active, `activate` on what is not: the provider shows only the step that is possible. */
export function lifecycleLink(href: string, status: string): JsonObject {
  const verb = status === "ACTIVE" ? "deactivate" : "activate";
  return { [verb]: link(`${href}/lifecycle/${verb}`, "POST") };
}
