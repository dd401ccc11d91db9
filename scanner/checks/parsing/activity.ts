import { isJsonObject, type JsonObject } from "../../../shared/json.ts";
import { showValue } from "./fields.ts";

/** `unknown`: an undocumented status. */
export type Activity = "active" | "inactive" | "unknown";

const inactiveWords = new Set(["INACTIVE", "DEACTIVATED", "DISABLED", "DELETED"]);

/** Policies, rules, apps and log streams are active with the status ACTIVE or without one. */
export function activityOf(object: JsonObject): Activity {
  return read(object, "active");
}

/** Zones, authenticators, identity providers and automations are active only with the status ACTIVE. */
export function explicitActivityOf(object: JsonObject): Activity {
  return read(object, "inactive");
}

/** True for an entry of a list that is not an object, or has no id, type and name, such as `{}`: it is not evidence. */
export function isUnidentified(entry: unknown): boolean {
  if (!isJsonObject(entry)) return true;
  return [entry["id"], entry["type"], entry["name"]].every((text) => typeof text !== "string" || text.trim() === "");
}

/** Why an activity is unknown, for a finding. */
export function unknownActivity(object: JsonObject): string {
  return isUnidentified(object)
    ? `an entry without id, type and name, ${showValue(object)}`
    : `the status ${showValue(object["status"])}`;
}

function read(object: JsonObject, ifAbsent: Activity): Activity {
  if (isUnidentified(object)) return "unknown";
  const status = object["status"];
  if (status === undefined || status === null) return ifAbsent;
  if (typeof status !== "string") return "unknown";
  const word = status.toUpperCase();
  if (word === "ACTIVE") return "active";
  return inactiveWords.has(word) ? "inactive" : "unknown";
}
