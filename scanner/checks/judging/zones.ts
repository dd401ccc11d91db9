import { isJsonObject, type JsonObject } from "../../../shared/json.ts";
import {
  availableValue,
  missing,
  type Evidence,
  type JsonList,
  type MissingEvidence,
} from "../../evidence/artifacts.ts";
import { explicitActivityOf, isUnidentified } from "../parsing/activity.ts";
import { coverEverything, readAddressRange, type AddressRange } from "../parsing/address_ranges.ts";
import { readList, readText, readWord, showValue, type Field } from "../parsing/fields.ts";
import { isUsableId } from "../parsing/ids.ts";
import { listTexts, sortTexts, nameOf } from "../parsing/names.ts";

/** The org's network zones, to be looked up by what a rule or a token names. */
export interface Zones {
  readonly byId: ReadonlyMap<unknown, JsonObject>;
  readonly byName: ReadonlyMap<unknown, JsonObject>;
  /** Why there may be zones that are not here; null where these are all. */
  readonly missing: MissingEvidence | null;
  /** Why one of them may be the zone of any id; null where each has a usable id. */
  readonly unusableId: MissingEvidence | null;
}

export type ZonesVerdict =
  | {
      /** `open`: every address is allowed. `wrong`: the zone does not restrict, because it is deleted, inactive or a blocklist. */
      readonly kind: "zoned" | "open" | "wrong" | "review" | "unreadable";
      readonly actual: string;
    }
  | { readonly kind: "missing"; readonly evidence: MissingEvidence; readonly actual: string };

export function readZones(evidence: Evidence<JsonList>): Zones {
  const listed = availableValue(evidence) ?? [];
  const zones = listed.filter((zone) => !isUnidentified(zone));
  const index = (field: string) => {
    const found = new Map<unknown, JsonObject>();
    // Of two with the same id or name the first counts.
    for (const zone of zones.toReversed()) found.set(zone[field], zone);
    return found;
  };
  const unread = missing<never>("unreadable", "GET /api/v1/zones holds an entry without id, type and name.");
  const odd = zones.find(({ id }) => !isUsableId(id));
  const isWhole = evidence.state === "obtained" && zones.length === listed.length;
  return {
    byId: index("id"),
    byName: index("name"),
    missing: isWhole ? null : evidence.state === "missing" ? evidence : unread,
    unusableId:
      odd === undefined
        ? null
        : missing<never>("unreadable", `GET /api/v1/zones holds the zone "${nameOf(odd)}" without a usable id.`),
  };
}

/** How far including these zones restricts; `unread` describes an unreadable part of the list. */
export function judgeIncludedZones(ids: readonly string[], unread: string | null, zones: Zones): ZonesVerdict {
  const sorted = sortTexts(ids);
  const read = sorted.map((id) => readZone(id, zones));
  const verdicts = read.map(({ verdict }) => verdict);
  const worst = verdicts.find(({ kind }) => kind === "wrong");
  if (worst !== undefined) return worst;
  const names = `${ids.length === 1 ? "zone" : "zones"} ${listTexts(sorted)}`;
  if (coverEverything(read.flatMap(({ ranges }) => ranges))) {
    return { kind: "open", actual: `${names} that ${ids.length === 1 ? "lets" : "let"} in every address` };
  }
  if (unread !== null) return { kind: "unreadable", actual: `the include ${unread}` };
  const unclear = (["missing", "unreadable", "review"] as const)
    .map((kind) => verdicts.find((verdict) => verdict.kind === kind))
    .find((verdict) => verdict !== undefined);
  return unclear ?? { kind: "zoned", actual: names };
}

interface ReadZone {
  readonly verdict: ZonesVerdict;
  /** The allowed addresses, as far as they are known. */
  readonly ranges: readonly AddressRange[];
}

function readZone(id: string, zones: Zones): ReadZone {
  const zone = zones.byId.get(id) ?? zones.byName.get(id);
  if (zone === undefined) {
    const unseen = zones.missing ?? zones.unusableId;
    const verdict: ZonesVerdict =
      unseen === null ? { kind: "wrong", actual: `the unknown zone ${id}` } : notObtained(unseen);
    return { verdict, ranges: [] };
  }
  const name = `zone "${nameOf(zone)}"`;
  const activity = explicitActivityOf(zone);
  const usage = readWord(zone, "usage", ["POLICY", "BLOCKLIST"]);
  const decided = (kind: "wrong" | "unreadable", actual: string): ReadZone => ({
    verdict: { kind, actual },
    ranges: [],
  });
  if (activity === "inactive") return decided("wrong", `the inactive ${name}`);
  if (usage.kind === "value" && usage.value === "BLOCKLIST") return decided("wrong", `the blocklist ${name}`);
  if (activity === "unknown") return decided("unreadable", `the status ${showValue(zone["status"])} of ${name}`);
  if (usage.kind === "unreadable") return decided("unreadable", `the usage ${usage.found} of ${name}`);
  if (usage.kind === "absent") return decided("wrong", `${name} with its usage not set`);
  const { entries, ranges } = readEntries(zone);
  if (entries.kind === "unreadable")
    return { verdict: { kind: "unreadable", actual: `${entries.found} of ${name}` }, ranges };
  if (zones.missing !== null) return { verdict: notObtained(zones.missing), ranges };
  if (entries.kind === "absent" || entries.value === 0)
    return { verdict: { kind: "review", actual: `${name} without any entry` }, ranges };
  return { verdict: { kind: "zoned", actual: name }, ranges };
}

function notObtained(evidence: MissingEvidence): ZonesVerdict {
  return { kind: "missing", evidence, actual: "zones that were not obtained" };
}

interface Entries {
  /** How many. */
  readonly entries: Field<number>;
  readonly ranges: readonly AddressRange[];
}

/** What a zone contains. Only one of type IP lists addresses; the others go by place, network or kind of service. */
function readEntries(zone: JsonObject): Entries {
  const type = readText(zone, "type");
  if (type.kind === "value" && type.value === "IP") return readGateways(zone);
  if (type.kind === "value" && (type.value === "DYNAMIC" || type.value === "DYNAMIC_V2")) {
    return { entries: countConditions(zone), ranges: [] };
  }
  return { entries: { kind: "unreadable", found: `the type ${showValue(zone["type"])}` }, ranges: [] };
}

function readGateways(zone: JsonObject): Entries {
  const gateways = readList(zone, "gateways");
  if (gateways.kind === "absent") return { entries: { kind: "value", value: 0 }, ranges: [] };
  if (gateways.kind === "unreadable") {
    return { entries: { kind: "unreadable", found: `the gateways ${gateways.found}` }, ranges: [] };
  }
  const read = gateways.value.map((gateway) => {
    const value = isJsonObject(gateway) ? gateway["value"] : null;
    return typeof value === "string" ? readAddressRange(value) : null;
  });
  const ranges = read.filter((range) => range !== null);
  const unread = gateways.value.find((_, index) => read[index] === null);
  if (unread !== undefined) {
    return { entries: { kind: "unreadable", found: `the gateway ${showValue(unread)}` }, ranges };
  }
  return { entries: { kind: "value", value: ranges.length }, ranges };
}

function countConditions(zone: JsonObject): Field<number> {
  const proxyType = readText(zone, "proxyType");
  if (proxyType.kind === "unreadable") return { kind: "unreadable", found: `the proxy type ${proxyType.found}` };
  const ofProxy = proxyType.kind === "value" && proxyType.value !== "" ? 1 : 0;
  // Lists in a legacy dynamic zone, objects of two lists in an enhanced one.
  const lists = ["asns", "locations", "ipServiceCategories"].flatMap((field) =>
    isJsonObject(zone[field])
      ? [readList(zone, `${field}.include`), readList(zone, `${field}.exclude`)]
      : [readList(zone, field)],
  );
  const unread = lists.find((list) => list.kind === "unreadable");
  if (unread?.kind === "unreadable") return { kind: "unreadable", found: `the entries ${unread.found}` };
  const count = lists.reduce((sum, list) => sum + (list.kind === "value" ? list.value.length : 0), 0);
  return { kind: "value", value: ofProxy + count };
}
