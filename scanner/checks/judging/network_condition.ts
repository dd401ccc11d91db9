import type { JsonObject } from "../../../shared/json.ts";
import type { FindingDraft } from "../check.ts";
import { fail, manual, manualForMissing, pass, unreadable, type Subject } from "./finding_drafts.ts";
import { readText, readTexts, showValue, textsIn, type Field } from "../parsing/fields.ts";
import { listTexts } from "../parsing/names.ts";
import { judgeIncludedZones, type Zones, type ZonesVerdict } from "./zones.ts";

/**
 * Whether a rule's network condition restricts it to zones, and the words for it in a finding. Zoned: the connection is
 * ZONE (or absent) and a zone is named. ANYWHERE is open even with a stored list.
 */
export function networkConditionOf(rule: JsonObject, zones: Zones): ZonesVerdict {
  const connection = readText(rule, "conditions.network.connection");
  if (connection.kind === "unreadable") return { kind: "unreadable", actual: `the connection ${connection.found}` };
  if (connection.kind === "value" && connection.value !== "ZONE") return otherConnection(connection.value);
  const include = readTexts(rule, "conditions.network.include");
  const exclude = readTexts(rule, "conditions.network.exclude");
  const excluded = describeExcluded(exclude);
  const included = judgeInclude(rule, "conditions.network.include", zones);
  if (included?.kind === "open" || included?.kind === "wrong") return { ...included, actual: `in ${included.actual}` };
  if (include.kind === "unreadable") return { kind: "unreadable", actual: `the include ${include.found}` };
  if (exclude.kind === "unreadable") return { kind: "unreadable", actual: `the exclude ${exclude.found}` };
  if (included === null) {
    if (excluded !== null) return { kind: "zoned", actual: excluded };
    return { kind: "open", actual: connection.kind === "absent" ? "no network condition" : "ZONE without a zone" };
  }
  if (included.kind !== "zoned") return included;
  return { kind: "zoned", actual: `in ${included.actual}${excluded === null ? "" : ` and ${excluded}`}` };
}

/** How far a list of included zones restricts; null where it names none. */
export function judgeInclude(object: JsonObject, path: string, zones: Zones): ZonesVerdict | null {
  const include = readTexts(object, path);
  const ids = textsIn(object, path);
  if (include.kind !== "unreadable" && ids.length === 0) return null;
  return judgeIncludedZones(ids, include.kind === "unreadable" ? include.found : null, zones);
}

/** A finding on a network condition; `where` is appended to what was found. */
export function judgeNetwork(subject: Subject, network: ZonesVerdict, where: string): FindingDraft {
  if (network.kind === "missing") return manualForMissing(subject, network.evidence);
  const actual = `${network.actual}${where}`;
  if (network.kind === "zoned") return pass(subject, actual);
  if (network.kind === "unreadable") return unreadable(subject, actual);
  return network.kind === "review" ? manual(subject, "needs_review", actual) : fail(subject, actual);
}

function otherConnection(connection: string): ZonesVerdict {
  if (connection === "ANYWHERE") return { kind: "open", actual: "ANYWHERE" };
  // Both restrict by the org's legacy gateway list, which is no zone that this API shows.
  const isLegacy = connection === "ON_NETWORK" || connection === "OFF_NETWORK";
  return { kind: isLegacy ? "review" : "unreadable", actual: `the connection ${showValue(connection)}` };
}

function describeExcluded(zones: Field<readonly string[]>): string | null {
  if (zones.kind !== "value" || zones.value.length === 0) return null;
  return `not in ${zones.value.length === 1 ? "zone" : "zones"} ${listTexts(zones.value)}`;
}
