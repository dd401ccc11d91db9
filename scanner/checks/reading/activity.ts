import type { JsonObject } from "../../artifacts.ts";

/** `unknown`: a status that nobody documented, so neither can be said. */
export type Activity = "active" | "inactive" | "unknown";

const inactiveWords = new Set(["INACTIVE", "DEACTIVATED", "DISABLED", "DELETED"]);

/** Policies, rules, apps and log streams are active unless they say otherwise: a status that is absent or ACTIVE. */
export function activityOf(object: JsonObject): Activity {
  const status = object["status"];
  if (status === undefined || status === null) return "active";
  return explicitActivityOf(object);
}

/** Zones, authenticators, identity providers and automations are active only where they say so. */
export function explicitActivityOf(object: JsonObject): Activity {
  const status = object["status"];
  if (status === undefined || status === null) return "inactive";
  if (typeof status !== "string") return "unknown";
  const word = status.toUpperCase();
  if (word === "ACTIVE") return "active";
  return inactiveWords.has(word) ? "inactive" : "unknown";
}
