import type { JsonObject } from "../../../shared/json.ts";
import type { FindingDraft } from "../check.ts";
import type { Subject } from "./finding_drafts.ts";
import { readText, readTexts, showValue, textsIn } from "../parsing/fields.ts";
import {
  describeZones,
  judgeExcludedZones,
  judgeIncludedZones,
  zonesInBoth,
  type Zones,
  type ZonesVerdict,
} from "./zones.ts";

/**
 * Whether a rule's network condition restricts it to zones, and the words for it in a finding. Zoned: the connection is
 * ZONE (or absent) and a zone is named. ANYWHERE is open even with a stored list.
 */
export function networkConditionOf(rule: JsonObject, zones: Zones): ZonesVerdict {
  const connection = readText(rule, "conditions.network.connection");
  if (connection.kind === "unreadable") return { kind: "unreadable", actual: `the connection ${connection.found}` };
  if (connection.kind === "value" && connection.value !== "ZONE") return otherConnection(connection.value);
  const included = judgeInclude(rule, "conditions.network", zones);
  const excluded = textsIn(rule, "conditions.network.exclude");
  if (included === null) {
    const exclude = readTexts(rule, "conditions.network.exclude");
    if (exclude.kind === "unreadable") return { kind: "unreadable", actual: `the exclude ${exclude.found}` };
    if (excluded.length > 0) return judgeExcludedZones(excluded, zones);
    return { kind: "open", actual: connection.kind === "absent" ? "no network condition" : "ZONE without a zone" };
  }
  if (!["everywhere", "wrong", "zoned"].includes(included.kind)) return included;
  const isNarrowed = included.kind === "zoned" && excluded.length > 0;
  const except = isNarrowed ? ` and not in ${describeZones(excluded, zones)}` : "";
  return { ...included, actual: `in ${included.actual}${except}` };
}

/**
 * How far a list of included zones restricts; null where it names none. `path` is the object of `include` and `exclude`:
 * what is excluded besides changes nothing, unless it is the included zone itself.
 */
export function judgeInclude(object: JsonObject, path: string, zones: Zones): ZonesVerdict | null {
  const include = readTexts(object, `${path}.include`);
  const ids = textsIn(object, `${path}.include`);
  if (include.kind !== "unreadable" && ids.length === 0) return null;
  const verdict = judgeIncludedZones(ids, include.kind === "unreadable" ? include.found : null, zones);
  if (verdict.kind === "wrong") return verdict;
  const [both] = zonesInBoth(ids, textsIn(object, `${path}.exclude`), zones);
  if (both !== undefined)
    return { kind: "review", actual: `${describeZones([both], zones)} both included and excluded` };
  const exclude = readTexts(object, `${path}.exclude`);
  if (verdict.kind === "everywhere" || exclude.kind !== "unreadable") return verdict;
  return { kind: "unreadable", actual: `the exclude ${exclude.found}` };
}

/** A finding on a network condition; `where` is appended to what was found. */
export function judgeNetwork(subject: Subject, network: ZonesVerdict, where: string): FindingDraft {
  if (network.kind === "missing") return subject.missing(network.evidence);
  const actual = `${network.actual}${where}`;
  if (network.kind === "zoned") return subject.pass(actual);
  if (network.kind === "unreadable") return subject.unreadable(actual);
  const needsReview = network.kind === "review" || network.kind === "broad";
  return needsReview ? subject.manual("needs_review", actual) : subject.fail(actual);
}

function otherConnection(connection: string): ZonesVerdict {
  if (connection === "ANYWHERE") return { kind: "open", actual: "ANYWHERE" };
  // Both restrict by the org's legacy gateway list, which is no zone that this API shows.
  const isLegacy = connection === "ON_NETWORK" || connection === "OFF_NETWORK";
  return { kind: isLegacy ? "review" : "unreadable", actual: `the connection ${showValue(connection)}` };
}
