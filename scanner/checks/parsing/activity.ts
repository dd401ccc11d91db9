import type { JsonObject } from "../../../shared/json.ts";
import { showValue } from "./fields.ts";

/** `unknown`: an undocumented status. */
export type Activity = "active" | "inactive" | "unknown";

const inactiveWords = new Set(["INACTIVE", "DEACTIVATED", "DISABLED", "DELETED"]);

/** Policies, rules and apps are active with the status ACTIVE or without one. */
export function activityOf(object: JsonObject): Activity {
  return read(object, "active");
}

/** Zones, authenticators, identity providers, log streams and automations are active only with the status ACTIVE. */
export function explicitActivityOf(object: JsonObject): Activity {
  return read(object, "inactive");
}

/** True for what says that it is inactive: an authenticator or identity provider without a status may be active. */
export function isKnownInactive(object: JsonObject): boolean {
  return typeof object["status"] === "string" && explicitActivityOf(object) === "inactive";
}

/** The status for a finding, as the API says it. */
export function statusText({ status }: JsonObject): string {
  if (status === undefined || status === null) return "status not set";
  return `the status ${typeof status === "string" ? status : showValue(status)}`;
}

/** Why an activity is unknown, for a finding. */
export function unknownActivity({ status }: JsonObject): string {
  return `the status ${showValue(status)}`;
}

function read({ status }: JsonObject, ifAbsent: Activity): Activity {
  if (status === undefined || status === null) return ifAbsent;
  if (typeof status !== "string") return "unknown";
  const word = status.toUpperCase();
  if (word === "ACTIVE") return "active";
  return inactiveWords.has(word) ? "inactive" : "unknown";
}
