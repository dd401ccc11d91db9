import type { JsonObject } from "../../shared/json.ts";
import { readGateways, zoneNames, type Zones } from "../checks/evaluating/zones.ts";
import { areApart, type AddressRange } from "../checks/parsing/address_ranges.ts";
import { readText, textsIn } from "../checks/parsing/fields.ts";
import { nameOf, quoteAll } from "../checks/parsing/names.ts";
import { restrictionsOf, accessOf, isSure, stagesOf, type AccessPath } from "../checks/parsing/policy_rules.ts";
import { entriesOf, type ApiTokenOwner, type JsonList } from "../evidence/artifacts.ts";

/** Reads from an org what its document speaks of, to compare the two and to draft one. */

/** Names of zones that an object lets in from, and keeps out. */
export interface ZoneUse {
  readonly allowed: readonly string[];
  readonly denied: readonly string[];
  /** Describes a rule that lets in from more than zones that it names; null where none does. */
  readonly open: string | null;
  /** Zones that a rule denies after another let in from zones that may share addresses with them, each with these. */
  readonly unclear?: ReadonlyMap<string, readonly string[]>;
}

/** Returns the zones that an API token is mapped to, which a token may narrow; null where its network cannot be read or is not by zone. */
export function tokenZoneUse(token: JsonObject, zones: Zones): ZoneUse | null {
  const network = zonesAt(token, "network", zones);
  return network === null ? null : { allowed: network.include, denied: [], open: null };
}

interface RuleReading {
  readonly accessPath: AccessPath;
  readonly zones: Zones;
  /** The ids of the group that every user is in; null where it is unknown. */
  readonly everyone: ReadonlySet<string> | null;
}

/** A network condition; without an included zone it is for every address that is not excluded. */
interface NamedZones {
  readonly include: readonly string[];
  readonly exclude: readonly string[];
}

/**
 * Follows the rules of a policy in their order. Denied is what each rule that lets in leaves out, or another rule denies to
 * everybody before one lets in from it; allowed is all else that any of them lets in from. Null where a rule cannot be read or compared, or none lets anybody in.
 */
export function policyZoneUse(rules: JsonList, { accessPath, zones, everyone }: RuleReading): ZoneUse | null {
  const isDenial = (rule: JsonObject) => accessOf(rule, accessPath) === "DENY";
  const stages = stagesOf(rules);
  if (stages.some((stage) => stage.length > 1 && stage.some(isDenial))) return null;
  const letIn: NamedZones[] = [];
  const denied: string[] = [];
  const unclear = new Map<string, readonly string[]>();
  let open: string | null = null;
  /** A DENY for all other zones leaves these to the rules after it. */
  let remaining: readonly string[] = [];
  for (const rule of stages.flat()) {
    const restrictions = restrictionsOf(rule, everyone);
    const isAnywhere = !restrictions.has("network") && !restrictions.has("conditions");
    const network = isAnywhere ? { include: [], exclude: [] } : zonesAt(rule, "conditions.network", zones);
    if (network === null || !isSure(rule) || accessOf(rule, accessPath) === "unknown") return null;
    const others = [...restrictions].flatMap(([name, limit]) => (name === "network" ? [] : [limit]));
    const { include, exclude } = network;
    if (!isDenial(rule)) {
      // Nobody comes from a zone that an earlier rule denies, unless it shares addresses with one that is left.
      if (remaining.length > 0 && !include.every((zone) => remaining.includes(zone))) return null;
      const from = include.length > 0 ? include : remaining;
      if (from.length === 0) open ??= describeOpen(rule, exclude);
      const left = from.filter((zone) => !exclude.includes(zone));
      if (from.length === 0 || left.length > 0) letIn.push({ include: left, exclude });
    } else if (others.length === 0) {
      if (exclude.length > 0 && include.length + remaining.length > 0) return null;
      for (const zone of include) {
        const shared = letIn.map((earlier) => sharesAddresses(zone, earlier, zones));
        const perhaps = letIn.flatMap((earlier, index) => (shared[index] === null ? earlier.include : []));
        if (!shared.includes(true) && perhaps.length > 0) unclear.set(zone, perhaps);
        else if (!shared.includes(true)) denied.push(zone);
      }
      remaining = exclude.length > 0 ? exclude : remaining;
    } else if (!others.includes("some")) return null;
    if (restrictions.size === 0) break;
  }
  const [first, ...others] = letIn.map(({ exclude }) => exclude);
  if (first === undefined) return null;
  denied.push(...first.filter((zone) => others.every((exclude) => exclude.includes(zone))));
  // A rule for everywhere else lets in from the zones that other rules name, too.
  const isEverywhere = letIn.some(
    ({ include, exclude }) => include.length === 0 && exclude.every((zone) => denied.includes(zone)),
  );
  const allowed = isEverywhere ? [] : letIn.flatMap(({ include }) => include).filter((zone) => !denied.includes(zone));
  return { allowed, denied, open, unclear };
}

/** True for a zone that is let in, by name or by one of its addresses; null where they are not all known. */
function sharesAddresses(zone: string, { include, exclude }: NamedZones, zones: Zones): boolean | null {
  if (exclude.includes(zone)) return false;
  if (include.length === 0 || include.includes(zone)) return true;
  const [own, ...others] = [zone, ...include].map((name) => addressesOf(name, zones));
  if (own === undefined || !areApart(own, others.flat())) return true;
  return [own, ...others].every((known) => known.length > 0) ? false : null;
}

/** Returns the addresses of the zones with a name; none where a zone does not list all of them. */
export function addressesOf(name: string, zones: Zones): readonly AddressRange[] {
  const read = zones.named(name).map(readGateways);
  return read.some(({ unread }) => unread !== undefined) ? [] : read.flatMap(({ ranges }) => ranges);
}

function describeOpen(rule: JsonObject, exclude: readonly string[]): string {
  const except = exclude.length === 0 ? "" : ` but ${quoteAll(exclude)}`;
  return `everywhere${except} by rule "${nameOf(rule)}"`;
}

/** Returns the zones of the network condition at `path`, by name; null where it cannot be read or is not by zone. */
function zonesAt(object: JsonObject, path: string, zones: Zones): NamedZones | null {
  const connection = readText(object, `${path}.connection`);
  if (connection.kind !== "value" || connection.value !== "ZONE") return null;
  const namesIn = (list: string) => zoneNames(textsIn(object, `${path}.${list}`), zones);
  return { include: namesIn("include"), exclude: namesIn("exclude") };
}

/**
 * Returns the roles of a token's owner, direct and through groups, as far as they were read. Okta may list those of groups with the
 * user's own, too. Assignments of one role share an id.
 */
export function rolesOf({ roles, groups }: ApiTokenOwner): JsonList {
  const ofGroups = entriesOf(groups).flatMap((group) => entriesOf(group.roles));
  const labels = new Set(ofGroups.map(({ label }) => label));
  const own = entriesOf(roles).filter((role) => role["assignmentType"] !== "GROUP" || !labels.has(role["label"]));
  return [...own, ...ofGroups];
}

/** Returns the name of a role, with the groups, apps or resource set that it is limited to: `Group Administrator: HR staff`. */
export function roleName(role: JsonObject): string {
  return [nameOf(role), textsIn(role, "scope").join(", ")].filter((text) => text !== "").join(": ");
}

/** True if each list that may hold a role was read in whole. Groups are not asked for where another role decides already. */
export function areRolesRead({ roles, groups }: ApiTokenOwner): boolean {
  const lists = [roles, groups, ...entriesOf(groups).map((group) => group.roles)];
  return lists.every((list) => list === null || list.state === "obtained");
}
