import { firstRequestText } from "../../evidence/artifact_table.ts";
import type { Subject, FindingDraft } from "./finding_drafts.ts";
import { memoize } from "./memoize.ts";
import { isJsonObject, type JsonObject } from "../../../shared/json.ts";
import { entriesOf, missing, type Evidence, type JsonList, type MissingEvidence } from "../../evidence/artifacts.ts";
import { explicitActivityOf, unknownActivity } from "../parsing/activity.ts";
import { extentOf, readAddressRange, type AddressRange, type Extent } from "../parsing/address_ranges.ts";
import { readList, readText, readTexts, readWord, showValue, textsIn, type Field } from "../parsing/fields.ts";
import { isUsableId, listTexts, nounFor, sortTexts, nameOf } from "../parsing/names.ts";

const notRequested = missing<JsonList>("provider_error", "The network zones were not asked for.");

/** The org's network zones, to be looked up by what a rule or a token names. */
export type Zones = ReturnType<typeof readZones>;

export interface ZonesVerdict {
  /**
   * `zoned`: restricted. `open`: no zone is named. `everywhere`: the zones hold every address. `broad`: they hold more than
   * half of them, or all but some. `wrong`: a zone that is deleted, inactive or a blocklist. `review`: only a person can tell.
   */
  readonly kind: "zoned" | "open" | "everywhere" | "broad" | "wrong" | "review" | "unreadable" | "missing";
  readonly actual: string;
  /** Why zones are `missing`. */
  readonly evidence?: MissingEvidence;
  /** The addresses of a zone, as far as they are known. */
  readonly ranges?: readonly AddressRange[];
  /** True for a zone that names only what is not in it. */
  readonly isAllBut?: boolean;
}

export function readZones(evidence: Evidence<JsonList> = notRequested) {
  const listed = entriesOf(evidence);
  const known = new Map<unknown, JsonObject>();
  // An id counts before a name, and the first of two zones before the second.
  for (const field of ["name", "id"]) for (const zone of listed.toReversed()) known.set(zone[field], zone);
  const byName = Map.groupBy(listed, nameOf);
  const whyMissing = evidence.state === "missing" ? evidence : null;
  const odd = listed.find(({ id }) => !isUsableId(id));
  const withoutId = `${firstRequestText("network_zones")} holds the zone "${nameOf(odd ?? {})}" without a usable id.`;
  const zones = {
    listed,
    /** The zone of an id, else of a name. */
    find: (idOrName: string) => known.get(idOrName),
    /** Returns the zones with this name; an org may have several. */
    named: (name: string) => byName.get(name) ?? [],
    // Thousands of rules may name the same zones, and a zone may list thousands of addresses.
    read: memoize((zone: JsonObject) => readZone(zone, whyMissing)),
    describe: memoize(describeZone),
    together: memoize((ids: readonly string[]): ZonesTogether => readTogether(ids, zones), JSON.stringify),
    /** Why there may be zones that are not here; null where these are all. */
    missing: whyMissing,
    /** Why a zone that is not found may exist; null where each has a usable id. */
    unseen: whyMissing ?? (odd === undefined ? null : missing<never>("unreadable", withoutId)),
  };
  return zones;
}

/** Zones that a rule names together, in the order of their ids, with the words for all of them. */
interface ZonesTogether {
  readonly read: readonly ZonesVerdict[];
  readonly extent: Extent;
  readonly names: string;
}

function readTogether(ids: readonly string[], zones: Zones): ZonesTogether {
  const read = readAll(ids, zones);
  return { read, extent: extentOf(rangesOf(read)), names: describeZones(ids, zones) };
}

/** Returns how far excluding these zones restricts: one that keeps somebody out is enough. */
function judgeExcludedZones(ids: readonly string[], zones: Zones): ZonesVerdict {
  const { read, extent, names: described } = zones.together(ids);
  const names = `access from outside ${described}`;
  if (extent === "everywhere")
    return { kind: "review", actual: `${names} of every address, so that the rule is for nobody` };
  if (read.some(({ kind }) => kind === "zoned")) return { kind: "zoned", actual: names };
  const unclear = firstUnclear(read) ?? read[0];
  if (unclear === undefined) return { kind: "open", actual: "no zone" };
  if (unclear.kind === "unreadable") return unclear;
  return { ...unclear, actual: `access from outside ${unclear.actual}` };
}

function rangesOf(read: readonly ZonesVerdict[]): readonly AddressRange[] {
  return read.flatMap(({ ranges = [] }) => ranges);
}

function firstUnclear(read: readonly ZonesVerdict[]): ZonesVerdict | undefined {
  const byKind = (["missing", "unreadable", "review"] as const).map((kind) => read.find((zone) => zone.kind === kind));
  return byKind.find((zone) => zone !== undefined);
}

/** The zones by name, each with its addresses, for a person who compares them with a document. */
function describeZones(ids: readonly string[], zones: Zones): string {
  const texts = listTexts(
    ids.flatMap((id) => zonesOf(id, zones)?.map(zones.describe) ?? id),
    maxZoneText,
  );
  if (ids.some((id) => isAllZones(id, zones))) return texts === "" ? allZones : `${allZones} (${texts})`;
  return `${nounFor(ids, "zone")} ${texts}`;
}

/** The names of the zones; an id without a zone stands for itself. */
export function zoneNames(ids: readonly string[], zones: Zones): readonly string[] {
  return ids.flatMap((id) => zonesOf(id, zones)?.map(nameOf) ?? id);
}

/** The zones that a rule means by an id, a name or Okta's word for any of them that is not empty; null where none is known. */
function zonesOf(id: string, zones: Zones): JsonList | null {
  if (isAllZones(id, zones)) return zones.listed.filter((zone) => !["wrong", "review"].includes(zones.read(zone).kind));
  const zone = zones.find(id);
  return zone === undefined ? null : [zone];
}

function isAllZones(id: string, zones: Zones): boolean {
  return id === allZones && zones.find(id) === undefined;
}

/** Five ranges of IPv6 addresses and a name. */
export const maxZoneText = 600;

export function describeZone(zone: JsonObject): string {
  const gateways = readList(zone, "gateways").value ?? [];
  if (gateways.length === 0) return `"${nameOf(zone)}"`;
  const addresses = gateways.map((gateway) => (isJsonObject(gateway) ? String(gateway["value"]) : "?"));
  return `"${nameOf(zone)}" (${listTexts(addresses)})`;
}

/**
 * Reads how far a rule's network condition restricts it, with the words for it in a finding. Zoned: the connection is
 * ZONE (or absent) and a zone is named. ANYWHERE is open even with a stored list.
 */
export function networkConditionOf(rule: JsonObject, zones: Zones): ZonesVerdict {
  const connection = readText(rule, "conditions.network.connection");
  if (connection.kind === "unreadable") return { kind: "unreadable", actual: `the connection ${connection.found}` };
  if (connection.value !== null && connection.value !== "ZONE") return otherConnection(connection.value);
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
  const except = isNarrowed ? ` but not from ${zones.together(excluded).names}` : "";
  return { ...included, actual: `access from ${included.actual}${except}` };
}

/**
 * Returns how far a list of included zones restricts; null where it names none. `path` is the object of `include` and `exclude`:
 * what is excluded besides changes nothing, unless it is the included zone itself.
 */
export function judgeInclude(object: JsonObject, path: string, zones: Zones): ZonesVerdict | null {
  const [include, exclude] = [readTexts(object, `${path}.include`), readTexts(object, `${path}.exclude`)];
  const ids = textsIn(object, `${path}.include`);
  if (include.kind !== "unreadable" && ids.length === 0) return null;
  const { read, extent, names } = zones.together(ids);
  // A zone that is gone, inactive or a blocklist lets nobody in, so the others decide.
  const wrong = read.find(({ kind }) => kind === "wrong");
  if (wrong !== undefined && read.every(({ kind }) => kind === "wrong")) return wrong;
  // Resolves ids and names of the same zone to one object.
  const excluded = new Set(textsIn(object, `${path}.exclude`).map((id) => zones.find(id) ?? id));
  const both = ids.find((id) => excluded.has(zones.find(id) ?? id));
  if (both !== undefined)
    return { kind: "review", actual: `${describeZones([both], zones)} both included and excluded` };
  if (extent === "everywhere") return { kind: "everywhere", actual: `${names} of every address` };
  if (exclude.kind === "unreadable") return { kind: "unreadable", actual: `the exclude ${exclude.found}` };
  if (include.kind === "unreadable") return { kind: "unreadable", actual: `the include ${include.found}` };
  const unclear = firstUnclear(read);
  if (unclear !== undefined) return unclear;
  const allBut = read.find(({ isAllBut }) => isAllBut);
  if (allBut !== undefined) return { kind: "broad", actual: `${allBut.actual} that only excludes` };
  if (extent === "broad") return { kind: "broad", actual: `${names} of more than half of all addresses` };
  return { kind: "zoned", actual: wrong === undefined ? names : `${names} with ${wrong.actual}` };
}

/** A finding on a network condition; `where` is appended to what was found. */
export function judgeNetwork(subject: Subject, network: ZonesVerdict, where: string): FindingDraft {
  if (network.evidence !== undefined) return subject.missing(network.evidence);
  const actual = `${network.actual}${where}`;
  if (network.kind === "zoned") return subject.pass(actual);
  if (network.kind === "unreadable") return subject.unreadable(actual);
  const needsReview = network.kind === "review" || network.kind === "broad";
  return needsReview ? subject.manual("needs_review", actual) : subject.fail(actual);
}

function otherConnection(connection: string): ZonesVerdict {
  if (connection === "ANYWHERE") return { kind: "open", actual: "ANYWHERE" };
  // Both restrict by the org's legacy gateway list, which is not a zone that this API shows.
  const isLegacy = connection === "ON_NETWORK" || connection === "OFF_NETWORK";
  return { kind: isLegacy ? "review" : "unreadable", actual: `the connection ${showValue(connection)}` };
}

/** Okta's word for any zone that is defined. */
export const allZones = "ALL_ZONES";

function readAll(ids: readonly string[], zones: Zones): readonly ZonesVerdict[] {
  return sortTexts(ids).map((id) => {
    const zone = zones.find(id);
    if (zone !== undefined) return zones.read(zone);
    if (isAllZones(id, zones)) return readAllZones(zones);
    const { unseen } = zones;
    return unseen === null ? { kind: "wrong", actual: `the unknown zone ${id}` } : notObtained(unseen);
  });
}

/** The active zones of usage POLICY together; empty ones do not count next to others. */
function readAllZones(zones: Zones): ZonesVerdict {
  const read = zones.listed.map(zones.read).filter(({ kind }) => kind !== "wrong");
  const ranges = rangesOf(read);
  const together = { kind: "zoned", actual: allZones, ranges, isAllBut: read.some((zone) => zone.isAllBut) } as const;
  if (extentOf(ranges) === "everywhere") return together;
  if (zones.missing !== null) return notObtained(zones.missing, ranges);
  const unreadable = read.find(({ kind }) => kind === "unreadable");
  if (unreadable !== undefined) return unreadable;
  if (read.length === 0) return { kind: "wrong", actual: `${allZones} without any active zone of usage POLICY` };
  if (read.every(({ kind }) => kind === "review")) return { kind: "review", actual: `${allZones} without any entry` };
  return together;
}

function readZone(zone: JsonObject, whyMissing: MissingEvidence | null): ZonesVerdict {
  const name = `zone "${nameOf(zone)}"`;
  const without = (kind: "wrong" | "unreadable", actual: string): ZonesVerdict => ({ kind, actual });
  const activity = explicitActivityOf(zone);
  const usage = readWord(zone, "usage", ["POLICY", "BLOCKLIST"]);
  if (activity === "inactive") return without("wrong", `the inactive ${name}`);
  if (usage.value === "BLOCKLIST") return without("wrong", `the blocklist ${name}`);
  if (activity === "unknown") return without("unreadable", `${unknownActivity(zone)} of ${name}`);
  if (usage.kind === "unreadable") return without("unreadable", `the usage ${usage.found} of ${name}`);
  if (usage.kind === "absent") return without("wrong", `${name} with its usage not set`);
  const { count, unread, ...entries } = readEntries(zone);
  if (unread !== undefined) return { ...entries, kind: "unreadable", actual: `${unread} of ${name}` };
  if (whyMissing !== null) return notObtained(whyMissing, entries.ranges);
  const kind = count === 0 ? "review" : "zoned";
  return { kind, actual: count === 0 ? `${name} without any entry` : name, ...entries };
}

function notObtained(evidence: MissingEvidence, ranges: readonly AddressRange[] = []): ZonesVerdict {
  return { kind: "missing", evidence, actual: "zones that were not obtained", ranges };
}

/** The entries of a zone, as far as they are known. */
interface Entries {
  readonly count: number;
  /** The part that cannot be read, in words. */
  readonly unread?: string;
  readonly ranges: readonly AddressRange[];
  /** True if it names only what is not in it. */
  readonly isAllBut?: boolean;
}

/** Reads the entries of a zone. Only one of type IP lists addresses; the others go by place, network or kind of service. */
function readEntries(zone: JsonObject): Entries {
  const { value: type } = readText(zone, "type");
  if (type === "IP") return readGateways(zone);
  if (type === "DYNAMIC" || type === "DYNAMIC_V2") return readConditions(zone);
  return { count: 0, unread: `the type ${showValue(zone["type"])}`, ranges: [] };
}

/** The addresses of a zone: its gateways. Trusted proxies only forward the addresses of others. */
export function readGateways(zone: JsonObject): Entries {
  const list = readList(zone, "gateways");
  if (list.kind === "unreadable") return { count: 0, unread: `the gateways ${list.found}`, ranges: [] };
  const entries = list.value ?? [];
  const read = entries.map((entry) => {
    const value = isJsonObject(entry) ? entry["value"] : null;
    return typeof value === "string" ? readAddressRange(value) : null;
  });
  const ranges = read.filter((range) => range !== null);
  const isWhole = ranges.length === entries.length;
  const unread = `the gateway ${showValue(entries[read.indexOf(null)])}`;
  return { count: entries.length, ranges, ...(!isWhole && { unread }) };
}

function readConditions(zone: JsonObject): Entries {
  const proxyType = readText(zone, "proxyType");
  if (proxyType.kind === "unreadable") return { count: 0, unread: `the proxy type ${proxyType.found}`, ranges: [] };
  const listsOf = (name: "include" | "exclude") =>
    ["asns", "locations", "ipServiceCategories"].map((field) => readZoneList(zone, `${field}.${name}`));
  const [include, exclude] = [listsOf("include"), listsOf("exclude")];
  const unread = [...include, ...exclude].find((list) => list.kind === "unreadable");
  if (unread !== undefined) return { count: 0, unread: `the entries ${unread.found}`, ranges: [] };
  const countOf = (lists: typeof include) => lists.flatMap(({ value }) => value ?? []).length;
  const included = countOf(include) + ((proxyType.value ?? "") === "" ? 0 : 1);
  const excluded = countOf(exclude);
  return { count: included + excluded, ranges: [], isAllBut: included === 0 && excluded > 0 };
}

/** Reads `asns.include`: a list in a legacy dynamic zone, an object of two lists in an enhanced one. */
export function readZoneList(zone: JsonObject, path: string): Field<readonly unknown[]> {
  const [parent = "", child] = path.split(".");
  const whole = zone[parent];
  return Array.isArray(whole) ? { kind: "value", value: child === "include" ? whole : [] } : readList(zone, path);
}
