import { firstRequestText } from "../deciding_fields.ts";
import { isJsonObject, type JsonObject } from "../../../shared/json.ts";
import { entriesOf, missing, type Evidence, type JsonList, type MissingEvidence } from "../../evidence/artifacts.ts";
import { explicitActivityOf } from "../parsing/activity.ts";
import { extentOf, readAddressRange, type AddressRange } from "../parsing/address_ranges.ts";
import { readList, readText, readWord, showValue, type Field } from "../parsing/fields.ts";
import { isUsableId, listTexts, sortTexts, nameOf } from "../parsing/names.ts";

const notRequested = missing<JsonList>("provider_error", "The network zones were not asked for.");
const zonesRequest = firstRequestText("network_zones");

/** The org's network zones, to be looked up by what a rule or a token names. */
export interface Zones {
  readonly listed: JsonList;
  readonly byId: ReadonlyMap<unknown, JsonObject>;
  readonly byName: ReadonlyMap<unknown, JsonObject>;
  /** Why there may be zones that are not here; null where these are all. */
  readonly missing: MissingEvidence | null;
  /** Why one of them may be the zone of any id; null where each has a usable id. */
  readonly unusableId: MissingEvidence | null;
}

export type ZonesVerdict =
  | {
      /**
       * `zoned`: restricted. `open`: no zone is named. `everywhere`: the zones hold every address. `broad`: they hold more than
       * half of them, or all but some. `wrong`: a zone that is deleted, inactive or a blocklist. `review`: only a person can tell.
       */
      readonly kind: "zoned" | "open" | "everywhere" | "broad" | "wrong" | "review" | "unreadable";
      readonly actual: string;
    }
  | { readonly kind: "missing"; readonly evidence: MissingEvidence; readonly actual: string };

export function readZones(evidence: Evidence<JsonList> = notRequested): Zones {
  const listed = entriesOf(evidence);
  const index = (field: string) => {
    const found = new Map<unknown, JsonObject>();
    // Among two with the same id or name the first counts.
    for (const zone of listed.toReversed()) found.set(zone[field], zone);
    return found;
  };
  const odd = listed.find(({ id }) => !isUsableId(id));
  return {
    listed,
    byId: index("id"),
    byName: index("name"),
    missing: evidence.state === "missing" ? evidence : null,
    unusableId:
      odd === undefined
        ? null
        : missing<never>("unreadable", `${zonesRequest} holds the zone "${nameOf(odd)}" without a usable id.`),
  };
}

/** How far including these zones restricts; `unread` describes an unreadable part of the list. */
export function judgeIncludedZones(ids: readonly string[], unread: string | null, zones: Zones): ZonesVerdict {
  const read = readAll(ids, zones);
  const wrong = read.find(({ verdict }) => verdict.kind === "wrong");
  if (wrong !== undefined) return wrong.verdict;
  const names = describeZones(ids, zones);
  const extent = extentOf(read.flatMap(({ ranges }) => ranges));
  if (extent === "everywhere") return { kind: "everywhere", actual: `${names} of every address` };
  if (unread !== null) return { kind: "unreadable", actual: `the include ${unread}` };
  const unclear = firstUnclear(read);
  if (unclear !== null) return unclear;
  const allBut = read.find(({ isAllBut }) => isAllBut);
  if (allBut !== undefined) return { kind: "broad", actual: `${allBut.verdict.actual} that only excludes` };
  if (extent === "broad") return { kind: "broad", actual: `${names} of more than half of all addresses` };
  return { kind: "zoned", actual: names };
}

/** How far excluding these zones restricts: one that keeps somebody out is enough. */
export function judgeExcludedZones(ids: readonly string[], zones: Zones): ZonesVerdict {
  const read = readAll(ids, zones);
  const names = `not in ${describeZones(ids, zones)}`;
  if (extentOf(read.flatMap(({ ranges }) => ranges)) === "everywhere") {
    return { kind: "review", actual: `${names} of every address, so that the rule is for nobody` };
  }
  if (read.some(({ verdict }) => verdict.kind === "zoned")) return { kind: "zoned", actual: names };
  const unclear = firstUnclear(read) ?? read[0]?.verdict;
  if (unclear === undefined) return { kind: "open", actual: "no zone" };
  return { ...unclear, actual: `not in ${unclear.actual}` };
}

/** The zones that are in both lists, by any name. */
export function zonesInBoth(one: readonly string[], other: readonly string[], zones: Zones): readonly string[] {
  const named = new Set(other.map((id) => zoneOf(id, zones) ?? id));
  return one.filter((id) => named.has(zoneOf(id, zones) ?? id));
}

interface ReadZone {
  readonly verdict: ZonesVerdict;
  /** The addresses of the zone, as far as they are known. */
  readonly ranges: readonly AddressRange[];
  /** True if the zone is everything but what it names. */
  readonly isAllBut: boolean;
}

function readAll(ids: readonly string[], zones: Zones): readonly ReadZone[] {
  return sortTexts(ids).map((id) =>
    id === allZones && zoneOf(id, zones) === undefined ? readAllZones(zones) : readZone(id, zones),
  );
}

/** Okta's word for any zone that is defined. */
const allZones = "ALL_ZONES";

function zoneOf(id: string, zones: Zones): JsonObject | undefined {
  return zones.byId.get(id) ?? zones.byName.get(id);
}

/** The zones by name, each with its addresses, for a person who compares them with a document. */
export function describeZones(ids: readonly string[], zones: Zones): string {
  const texts = ids.map((id) => {
    const zone = zoneOf(id, zones);
    return zone === undefined ? id : describeZone(zone);
  });
  return `${ids.length === 1 ? "zone" : "zones"} ${listTexts(texts)}`;
}

export function describeZone(zone: JsonObject): string {
  const gateways = readList(zone, "gateways");
  if (gateways.kind !== "value") return `"${nameOf(zone)}"`;
  const addresses = gateways.value.map((gateway) => (isJsonObject(gateway) ? String(gateway["value"]) : "?"));
  return `"${nameOf(zone)}" (${listTexts(addresses)})`;
}

function firstUnclear(read: readonly ReadZone[]): ZonesVerdict | null {
  const verdicts = read.map(({ verdict }) => verdict);
  const unclear = (["missing", "unreadable", "review"] as const)
    .map((kind) => verdicts.find((verdict) => verdict.kind === kind))
    .find((verdict) => verdict !== undefined);
  return unclear ?? null;
}

function verdictWith(verdict: ZonesVerdict, ranges: readonly AddressRange[] = [], isAllBut = false): ReadZone {
  return { verdict, ranges, isAllBut };
}

function readZone(id: string, zones: Zones): ReadZone {
  const zone = zoneOf(id, zones);
  if (zone !== undefined) return readDefined(zone, zones);
  const unseen = zones.missing ?? zones.unusableId;
  return verdictWith(unseen === null ? { kind: "wrong", actual: `the unknown zone ${id}` } : notObtained(unseen));
}

/** The active zones of usage POLICY together; empty ones do not count next to others. */
function readAllZones(zones: Zones): ReadZone {
  const read = zones.listed.map((zone) => readDefined(zone, zones)).filter(({ verdict }) => verdict.kind !== "wrong");
  const ranges = read.flatMap((zone) => zone.ranges);
  if (extentOf(ranges) !== "everywhere") {
    if (zones.missing !== null) return verdictWith(notObtained(zones.missing), ranges);
    const unreadable = read.find(({ verdict }) => verdict.kind === "unreadable");
    if (unreadable !== undefined) return unreadable;
    if (read.length === 0)
      return verdictWith({ kind: "wrong", actual: `${allZones} without any active zone of usage POLICY` });
    if (read.every(({ verdict }) => verdict.kind === "review"))
      return verdictWith({ kind: "review", actual: `${allZones} without any entry` });
  }
  return verdictWith(
    { kind: "zoned", actual: allZones },
    ranges,
    read.some(({ isAllBut }) => isAllBut),
  );
}

function readDefined(zone: JsonObject, zones: Zones): ReadZone {
  const name = `zone "${nameOf(zone)}"`;
  const activity = explicitActivityOf(zone);
  const usage = readWord(zone, "usage", ["POLICY", "BLOCKLIST"]);
  if (activity === "inactive") return verdictWith({ kind: "wrong", actual: `the inactive ${name}` });
  if (usage.kind === "value" && usage.value === "BLOCKLIST")
    return verdictWith({ kind: "wrong", actual: `the blocklist ${name}` });
  if (activity === "unknown")
    return verdictWith({ kind: "unreadable", actual: `the status ${showValue(zone["status"])} of ${name}` });
  if (usage.kind === "unreadable")
    return verdictWith({ kind: "unreadable", actual: `the usage ${usage.found} of ${name}` });
  if (usage.kind === "absent") return verdictWith({ kind: "wrong", actual: `${name} with its usage not set` });
  const { entries, ranges, isAllBut = false } = readEntries(zone);
  if (entries.kind === "unreadable")
    return verdictWith({ kind: "unreadable", actual: `${entries.found} of ${name}` }, ranges);
  if (zones.missing !== null) return verdictWith(notObtained(zones.missing), ranges);
  if (entries.kind === "absent" || entries.value === 0)
    return verdictWith({ kind: "review", actual: `${name} without any entry` }, ranges);
  return verdictWith({ kind: "zoned", actual: name }, ranges, isAllBut);
}

function notObtained(evidence: MissingEvidence): ZonesVerdict {
  return { kind: "missing", evidence, actual: "zones that were not obtained" };
}

interface Entries {
  /** How many. */
  readonly entries: Field<number>;
  readonly ranges: readonly AddressRange[];
  /** True if it names only what is not in it. */
  readonly isAllBut?: boolean;
}

/** Reads the entries of a zone. Only one of type IP lists addresses; the others go by place, network or kind of service. */
function readEntries(zone: JsonObject): Entries {
  const type = readText(zone, "type");
  if (type.kind === "value" && type.value === "IP") return readGateways(zone);
  if (type.kind === "value" && (type.value === "DYNAMIC" || type.value === "DYNAMIC_V2")) {
    return readConditions(zone);
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

function readConditions(zone: JsonObject): Entries {
  const unreadable = (found: string): Entries => ({ entries: { kind: "unreadable", found }, ranges: [] });
  const proxyType = readText(zone, "proxyType");
  if (proxyType.kind === "unreadable") return unreadable(`the proxy type ${proxyType.found}`);
  const fields = ["asns", "locations", "ipServiceCategories"];
  const include = fields.map((field) => readZoneList(zone, `${field}.include`));
  const exclude = fields.map((field) => readZoneList(zone, `${field}.exclude`));
  const unread = [...include, ...exclude].find((list) => list.kind === "unreadable");
  if (unread?.kind === "unreadable") return unreadable(`the entries ${unread.found}`);
  const count = (lists: readonly Field<readonly unknown[]>[]) =>
    lists.reduce((sum, list) => sum + (list.kind === "value" ? list.value.length : 0), 0);
  const included = count(include) + (proxyType.kind === "value" && proxyType.value !== "" ? 1 : 0);
  const excluded = count(exclude);
  return {
    entries: { kind: "value", value: included + excluded },
    ranges: [],
    isAllBut: included === 0 && excluded > 0,
  };
}

/** Reads `gateways`, or `asns.include`: lists in a legacy dynamic zone, objects of two lists in an enhanced one. */
export function readZoneList(zone: JsonObject, path: string): Field<readonly unknown[]> {
  const [parent = "", child] = path.split(".");
  const whole = zone[parent];
  if (child === undefined || !Array.isArray(whole)) return readList(zone, path);
  return { kind: "value", value: child === "include" ? whole : [] };
}
