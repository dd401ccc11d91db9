import type { FindingDraft } from "../checks/check.ts";
import type { JsonObject } from "../../shared/json.ts";
import { listTexts, nameOf, sortTexts } from "../checks/parsing/names.ts";
import type { Zones } from "../checks/evaluating/zones.ts";
import { citationOf, restsOn, type ApiTokenEntry, type OrgPolicy, type ZoneLists } from "./document.ts";
import type { ZoneUse } from "./facts.ts";

/** Compares what an org has with what its document says. */
export type Comparison =
  /** The document says nothing about it. */
  | { readonly kind: "not_covered" }
  | { readonly kind: "agrees"; readonly said: string }
  | { readonly kind: "departs"; readonly said: string; readonly found: string }
  /** The document cannot be compared, for example because it names something that the org does not have. */
  | { readonly kind: "doubtful"; readonly why: string };

export const notCovered: Comparison = { kind: "not_covered" };

/**
 * Decides what a finding leaves to a person. A FAIL by the STIG's own text stays one, and so does what could not be read; a
 * comparison only closes the open sentence of a PASS, or turns it into a FAIL.
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
  const noted = (text: string) => (draft.note === undefined ? text : `${draft.note}; ${text}`);
  if (comparison.kind === "doubtful")
    return { ...draft, note: noted(`${citation} decides nothing: ${comparison.why}`) };
  const { uncovered: _closed, ...rest } = draft;
  const notes = { ...draft.notes, rests_on: restsOn(policy) };
  if (comparison.kind === "agrees") return { ...rest, note: noted(`${citation} says ${comparison.said}`), notes };
  return {
    ...rest,
    status: "FAIL",
    expected: `${comparison.said}, as ${citation} says`,
    actual: comparison.found,
    notes,
  };
}

/** Compares a token with the entry of its name, where only one token of the org has it. */
export function compareToken(
  token: JsonObject,
  { policy, all }: { readonly policy: OrgPolicy; readonly all: readonly JsonObject[] },
  compare: (entry: ApiTokenEntry) => Comparison,
): Comparison {
  const name = nameOf(token);
  const entry = policy.api_tokens?.find((one) => one.token === name);
  if (entry === undefined) return notCovered;
  const { length } = all.filter((one) => nameOf(one) === name);
  return length > 1
    ? { kind: "doubtful", why: `the org has ${length} API tokens with the name "${name}"` }
    : compare(entry);
}

/** Compares zones by name. The document has to name each of them, and each that it names has to be in the org, once. */
export function compareZones(
  { zones_allowed: allowed = [], zones_denied: denied = [] }: ZoneLists,
  use: ZoneUse | null,
  zones: Zones,
): Comparison {
  const problem = zoneProblem([...allowed, ...denied], zones);
  if (problem !== null) return { kind: "doubtful", why: problem };
  if (use === null) return { kind: "doubtful", why: "the network of the rule is not a list of zones" };
  const said = sayZones({ allowed, denied });
  const isSame = sameTexts(allowed, use.allowed) && sameTexts(denied, use.denied);
  return isSame ? { kind: "agrees", said } : { kind: "departs", said, found: sayZones(use) };
}

/** Why the zones that a document names cannot be compared; null where they can. */
function zoneProblem(names: readonly string[], zones: Zones): string | null {
  for (const name of new Set(names)) {
    const found = zones.listed.filter((zone) => nameOf(zone) === name);
    if (found.length > 1) return `the org has ${found.length} zones with the name "${name}"`;
    if (found.length === 0 && zones.missing !== null) return `the zone "${name}" was not read`;
    if (found.length === 0) return `it names the zone "${name}", which the org does not have`;
  }
  return null;
}

function sayZones({ allowed, denied }: ZoneUse): string {
  const parts = [
    ...(allowed.length === 0 ? [] : [`allowed from ${quoteAll(allowed)}`]),
    ...(denied.length === 0 ? [] : [`denied from ${quoteAll(denied)}`]),
  ];
  return parts.length === 0 ? "no zone" : `access ${parts.join(" and ")}`;
}

export function quoteAll(names: readonly string[]): string {
  return listTexts(sortTexts([...new Set(names)]).map((name) => `"${name}"`));
}

export function sameTexts(one: readonly string[], other: readonly string[]): boolean {
  const [first, second] = [new Set(one), new Set(other)];
  return first.size === second.size && [...first].every((text) => second.has(text));
}

/** The entry of a name, else the one of `*`. */
export function entryFor<Entry>(
  entries: readonly Entry[] | undefined,
  nameIn: (entry: Entry) => string | undefined,
  name: string,
): Entry | undefined {
  return entries?.find((entry) => nameIn(entry) === name) ?? entries?.find((entry) => nameIn(entry) === "*");
}
