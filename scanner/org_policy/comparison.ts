import type { JsonObject } from "../../shared/json.ts";
import type { JsonList } from "../evidence/artifacts.ts";
import { explicitActivityOf } from "../checks/parsing/activity.ts";
import { areApart } from "../checks/parsing/address_ranges.ts";
import { nameOf, quoteAll } from "../checks/parsing/names.ts";
import { withNote, type FindingDraft } from "../checks/evaluating/finding_drafts.ts";
import type { Zones } from "../checks/evaluating/zones.ts";
import { citationOf, restsOn, type ApiTokenEntry, type OrgPolicy, type ZoneLists } from "./document.ts";
import { addressesOf, type ZoneUse } from "./facts.ts";

/** Compares what an org has with what its document says. */
export type Comparison =
  /** The document says nothing about it. */
  | { readonly kind: "not_covered" }
  /** `found`: absent where the finding already shows what meets the document. */
  | { readonly kind: "agrees"; readonly said: string; readonly found?: string }
  | { readonly kind: "departs"; readonly said: string; readonly found: string }
  /** The document cannot be compared, for example because it names something that the org does not have. */
  | { readonly kind: "doubtful"; readonly why: string };

export const notCovered: Comparison = { kind: "not_covered" };

/**
 * Decides what a finding leaves to a person. A FAIL by the STIG's own text stays one, and so does what could not be read; a
 * comparison only closes the open sentence of a PASS, or turns it into a FAIL. A sentence that no document answers is added after.
 */
export function withDocument(
  draft: FindingDraft,
  policy: OrgPolicy | undefined,
  compare: (policy: OrgPolicy) => Comparison,
): FindingDraft {
  if (policy === undefined || draft.status !== "PASS" || draft.uncovered === undefined) return draft;
  const comparison = compare(policy);
  if (comparison.kind === "not_covered") return draft;
  const citation = citationOf(policy);
  if (comparison.kind === "doubtful") return withNote(draft, `${citation} decides nothing: ${comparison.why}`);
  const { uncovered: _closed, ...rest } = draft;
  return {
    ...rest,
    status: comparison.kind === "agrees" ? "PASS" : "FAIL",
    expected: `${comparison.said}, as ${citation} says`,
    actual: comparison.found ?? draft.actual,
    notes: { ...draft.notes, rests_on: restsOn(policy) },
  };
}

/**
 * Compares the objects of an org with the entries of their names; null for a name without an entry. An entry decides where only one
 * object has its name. `named`: the objects, in words before a name.
 */
export function compareByName<Entry>(
  entries: readonly Entry[] = [],
  nameOfEntry: (entry: Entry) => string | undefined,
  { named, objects }: { readonly named: string; readonly objects: JsonList },
) {
  const byName = new Map(entries.map((entry) => [nameOfEntry(entry), entry]));
  const objectsByName = Map.groupBy(objects, nameOf);
  return (name: string, compare: (entry: Entry) => Comparison): Comparison | null => {
    const entry = byName.get(name);
    if (entry === undefined) return null;
    const count = objectsByName.get(name)?.length ?? 0;
    return count > 1 ? { kind: "doubtful", why: `the org has ${count} ${named} "${name}"` } : compare(entry);
  };
}

/** Compares the tokens of an org with the entries of their names. */
export function createTokenComparison(policy: OrgPolicy | undefined, tokens: JsonList) {
  const named = "API tokens with the name";
  const byName = compareByName(policy?.api_tokens, ({ token }) => token, { named, objects: tokens });
  return (token: JsonObject, compare: (entry: ApiTokenEntry) => Comparison) =>
    byName(nameOf(token), compare) ?? notCovered;
}

/** Compares zones by name. The document has to name each of them, and each that it names has to be in the org, once. */
export function compareZones(
  { zones_allowed: allowed = [], zones_denied: denied = [] }: ZoneLists,
  use: ZoneUse | null,
  zones: Zones,
): Comparison {
  const problem = zoneProblem([...allowed, ...denied], zones);
  if (problem !== null) return { kind: "doubtful", why: problem };
  if (use === null) return { kind: "doubtful", why: "the rules let nobody in, or cannot be compared by zones" };
  const unclear = [...(use.unclear ?? [])];
  const compareWith = (more: readonly string[]) =>
    compareUse({ allowed, denied }, { ...use, denied: [...use.denied, ...more] }, zones);
  const [compared, other] = [compareWith([]), compareWith(unclear.map(([zone]) => zone))];
  if (compared.kind === other.kind) return compared;
  const pairs = unclear.map(([zone, before]) => `"${zone}" may share addresses with ${quoteAll(before)}`);
  return { kind: "doubtful", why: `${pairs.join(", and ")}, from where an earlier rule lets in` };
}

/** The comparison where it is known what is denied. */
function compareUse({ allowed, denied }: Omit<ZoneUse, "open">, use: ZoneUse, zones: Zones): Comparison {
  const said = sayZones({ allowed, denied, open: null }, use);
  const isOpen = use.open !== null && allowed.length > 0;
  // The rule that denies everybody else denies a zone, too, if no allowed zone has one of its addresses.
  const isKeptOut = (zone: string) => use.open === null && isApart(zone, use.allowed, zones);
  const missing = denied.filter((zone) => !use.denied.includes(zone));
  const isSame =
    !isOpen && sameTexts(allowed, use.allowed) && sameTexts(denied, [...use.denied, ...missing.filter(isKeptOut)]);
  return isSame ? { kind: "agrees", said } : { kind: "departs", said, found: sayZones(use, { allowed, denied }) };
}

/** Returns true if the addresses of a zone are known and no other zone has one of them. */
function isApart(zone: string, others: readonly string[], zones: Zones): boolean {
  const [own, ...rest] = [addressesOf(zone, zones), ...others.map((name) => addressesOf(name, zones))];
  return [own, ...rest].every((known) => known.length > 0) && areApart(own, rest.flat());
}

/** Why the zones that a document names cannot be compared; null where they can. */
export function zoneProblem(names: readonly string[], zones: Zones): string | null {
  for (const name of new Set(names)) {
    const found = zones.named(name);
    if (found.length > 1) return `the org has ${found.length} zones with the name "${name}"`;
    if (found.length === 0 && zones.missing !== null) return `the zone "${name}" was not read`;
    if (found.length === 0) return `it names the zone "${name}", which the org does not have`;
    // A rule that denies it denies nobody then.
    if (!found.every((zone) => explicitActivityOf(zone) === "active")) return `the zone "${name}" is not active`;
    if (found.some(({ usage }) => usage === "BLOCKLIST"))
      return `the zone "${name}" is a blocklist, which Okta denies before any rule`;
  }
  return null;
}

function sayZones({ allowed, denied, open }: ZoneUse, compared: Omit<ZoneUse, "open">): string {
  const named = allowed.length === 0 ? null : quoteAll(allowed, compared.allowed);
  const sources = [named, open].filter((text) => text !== null);
  const parts = [
    ...(sources.length === 0 ? [] : [`allowed from ${sources.join(" and ")}`]),
    ...(denied.length === 0 ? [] : [`denied from ${quoteAll(denied, compared.denied)}`]),
  ];
  return parts.length === 0 ? "no zone" : `access ${parts.join(" and ")}`;
}

export function sameTexts(one: readonly string[], other: readonly string[]): boolean {
  const [first, second] = [new Set(one), new Set(other)];
  return first.size === second.size && [...first].every((text) => second.has(text));
}
