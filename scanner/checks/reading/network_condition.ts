import type { JsonObject } from "../../artifacts.ts";
import { readText, readTexts, shown, type Field } from "./fields.ts";
import { firstTexts } from "./in_order.ts";

/** Whether a rule's network condition restricts it to zones, and how a finding says what it is. */
export interface NetworkCondition {
  readonly kind: "zoned" | "open" | "review" | "unreadable";
  readonly actual: string;
}

/** Zoned: the connection is ZONE (or absent) and a zone is named. ANYWHERE with a list left over from before is open. */
export function networkConditionOf(rule: JsonObject): NetworkCondition {
  const connection = readText(rule, "conditions.network.connection");
  const include = readTexts(rule, "conditions.network.include");
  const exclude = readTexts(rule, "conditions.network.exclude");
  if (connection.kind === "unreadable") return { kind: "unreadable", actual: `the connection ${connection.found}` };
  if (connection.kind === "value" && connection.value !== "ZONE") return otherConnection(connection.value);
  if (include.kind === "unreadable") return { kind: "unreadable", actual: `the include ${include.found}` };
  if (exclude.kind === "unreadable") return { kind: "unreadable", actual: `the exclude ${exclude.found}` };
  const zones = [...described("in", include), ...described("not in", exclude)];
  if (zones.length > 0) return { kind: "zoned", actual: zones.join(" and ") };
  return { kind: "open", actual: connection.kind === "absent" ? "no network condition" : "ZONE without a zone" };
}

function otherConnection(connection: string): NetworkCondition {
  if (connection === "ANYWHERE") return { kind: "open", actual: "ANYWHERE" };
  // Both restrict by the org's legacy gateway list, which is no zone that this API shows.
  const isLegacy = connection === "ON_NETWORK" || connection === "OFF_NETWORK";
  return { kind: isLegacy ? "review" : "unreadable", actual: `the connection ${shown(connection)}` };
}

function described(relation: string, zones: Field<readonly string[]>): readonly string[] {
  if (zones.kind !== "value" || zones.value.length === 0) return [];
  const shownZones = firstTexts(zones.value);
  const rest = zones.value.length > 5 ? ` and ${zones.value.length - 5} more` : "";
  return [`${relation} ${zones.value.length === 1 ? "zone" : "zones"} ${shownZones}${rest}`];
}
