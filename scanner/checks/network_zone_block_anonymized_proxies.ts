import { decide, defineCheck } from "./check.ts";
import { entriesOf, type Evidence, type JsonList } from "../evidence/artifacts.ts";
import { notCovered, withDocument, type Comparison } from "../org_policy/comparison.ts";
import { citationOf, restsOn, type OrgPolicy } from "../org_policy/document.ts";
import { coverageOf, readAddressRange, type AddressRange } from "./parsing/address_ranges.ts";
import type { JsonObject } from "../../shared/json.ts";
import { explicitActivityOf, unknownActivity } from "./parsing/activity.ts";
import { Subject, withCause, withNote, withPartialCoverage, type FindingDraft } from "./evaluating/finding_drafts.ts";
import { readList, readText, readTexts, readWord, showValue } from "./parsing/fields.ts";
import { listTexts, nameOf, sortBy, sortTexts } from "./parsing/names.ts";
import { isSystem } from "./parsing/whole_list.ts";
import { describeZone, maxZoneText, readGateways, readZoneList } from "./evaluating/zones.ts";

const expected =
  "an active blocklist zone that blocks every anonymizer (ALL_ANONYMIZERS or ALL_IP_SERVICES) from everywhere";

/** DISA's own sentence, which no answer of the API decides. */
const uncovered =
  'Ask whether there is such a list: "If the CSSP has provided a list of anonymizers to block, verify the ' +
  '"IP Block list" is configured with them"';

const exemptName = "DefaultExemptIpZone";

export const networkZoneBlockAnonymizedProxies = defineCheck({
  name: "network_zone_block_anonymized_proxies",
  artifacts: ["network_zones"],
  decidingFields: [
    decide("network_zones", ["status", "usage", "type"]),
    decide(
      "network_zones",
      ["ipServiceCategories.include", "ipServiceCategories.exclude", "asns", "locations"],
      "DYNAMIC_V2",
    ),
    decide("network_zones", ["proxyType"], "DYNAMIC"),
    decide("network_zones", ["gateways", "proxies"], 'IP; those of "DefaultExemptIpZone" are said next to the verdict'),
  ],
  leftToPerson: uncovered,
  evaluate({ network_zones: zones }, { orgPolicy }) {
    const draft = judgeZones(zones);
    const listed = entriesOf(zones);
    // A person compares blocklists by address with the CSSP's list, unless the organization's document has that list, or says that Okta's is used.
    const isByAddress = draft.status === "MANUAL" && draft.reason === "needs_review";
    if (orgPolicy?.anonymizers === "okta_managed" && isByAddress && !listed.some(isOktasList)) {
      const note = `${citationOf(orgPolicy)} says that Okta's own list is to be blocked`;
      return [{ ...withNote(failed(listed, draft.actual), note), notes: { rests_on: restsOn(orgPolicy) } }];
    }
    const isListed = typeof orgPolicy?.anonymizers === "object" && (isByAddress || draft.status === "FAIL");
    const open = isListed ? new Subject(null, expected).pass(draft.actual, uncovered) : draft;
    const compared = withDocument(open, orgPolicy, ({ anonymizers }) => compareAnonymizers(anonymizers, listed));
    // No document lists the addresses that may bypass the blocklists.
    const exempt = exemptZone(listed);
    return [withPartialCoverage(compared, exempt && `Verify that no anonymizer is in the zone "${nameOf(exempt)}"`)];
  },
});

function compareAnonymizers(approved: OrgPolicy["anonymizers"], zones: JsonList): Comparison {
  if (approved === undefined) return notCovered;
  if (approved === "okta_managed") return { kind: "agrees", said: "Okta's own list of anonymizers to be blocked" };
  const { ranges, source, date } = approved;
  const counted = ranges.length === 1 ? "the range" : `the ${ranges.length} ranges`;
  const said = `${counted} of ${source} of ${date} in the gateways of active IP blocklists`;
  const blocklists = zones.filter(
    (zone) => explicitActivityOf(zone) === "active" && zone["usage"] === "BLOCKLIST" && zone["type"] === "IP",
  );
  const blocked = blocklists.flatMap((zone) => readGateways(zone).ranges);
  const isBlocked = coverageOf(blocked);
  const isOpen = (range: AddressRange | null) => range === null || !isBlocked(range);
  const open = ranges.filter((text) => isOpen(readAddressRange(text)));
  if (open.length > 0) return { kind: "departs", said, found: `addresses of ${listTexts(open)} that are not there` };
  return { kind: "agrees", said, found: `all of them in ${listTexts(blocklists.map(describeZone), maxZoneText)}` };
}

function judgeZones(zones: Evidence<JsonList>): FindingDraft {
  const org = new Subject(null, expected);
  // Only a whole list shows that nothing blocks, and PASS needs it too.
  if (zones.state === "missing") return org.missing(zones);
  const exempt = exemptZone(zones.value);
  const bypass = exempt?.["name"] === exemptName ? "bypass" : "may bypass";
  const note = exempt === null ? undefined : `the addresses of zone ${describeZone(exempt)} ${bypass} every blocklist`;
  const subject = new Subject(null, expected, note);
  const judged = sortBy(
    zones.value.map(judgeZone).filter((zone) => zone !== null),
    (zone) => zone.actual,
  );
  const first = (kind: ZoneVerdict["kind"]) => judged.find((zone) => zone.kind === kind);
  const blocking = first("blocks");
  if (blocking !== undefined) return subject.pass(blocking.actual, uncovered);
  const unread = first("unreadable");
  if (unread !== undefined) return subject.unreadable(unread.actual);
  const partial = first("review");
  if (partial !== undefined) return subject.manual("needs_review", partial.actual);
  return failed(zones.value, "no such zone");
}

/** Fails for want of the zone that Okta keeps up to date. */
function failed(zones: JsonList, actual: string): FindingDraft {
  const enhanced = zones.find(
    (zone) => zone["name"] === "DefaultEnhancedDynamicZone" || (isSystem(zone) && zone["type"] === "DYNAMIC_V2"),
  );
  return withCause(new Subject(null, expected).fail(actual), "zone", enhanced ?? {});
}

/** The system zone whose addresses bypass blocklists, where it has any; null where it has none. Admins may rename it. */
function exemptZone(zones: JsonList): JsonObject | null {
  const active = zones.filter((zone) => explicitActivityOf(zone) === "active");
  const others = active.filter(
    ({ type, usage, name }) => type === "IP" && usage === "POLICY" && name !== "LegacyIpZone",
  );
  const exempt = active.find(({ name }) => name === exemptName) ?? others.find(isSystem);
  if (exempt === undefined) return null;
  const { count, unread } = readGateways(exempt);
  return count === 0 && unread === undefined ? null : exempt;
}

interface ZoneVerdict {
  readonly kind: "blocks" | "review" | "unreadable";
  readonly actual: string;
}

/** True for a zone that blocks, or may block, by a list that Okta keeps. */
function isOktasList(zone: JsonObject): boolean {
  return zone["type"] !== "IP" && judgeZone(zone) !== null;
}

/** Null for a zone that blocks no anonymizer. */
export function judgeZone(zone: JsonObject): ZoneVerdict | null {
  const name = `zone "${nameOf(zone)}"`;
  const unread = (found: string): ZoneVerdict => ({ kind: "unreadable", actual: `${found} of ${name}` });
  const activity = explicitActivityOf(zone);
  if (activity === "inactive") return null;
  const usage = readWord(zone, "usage", ["BLOCKLIST", "POLICY"]);
  if (usage.kind === "absent" || usage.value === "POLICY") return null;
  if (usage.kind === "unreadable") return unread(`the usage ${usage.found}`);
  if (activity === "unknown") return unread(unknownActivity(zone));
  const { value: type } = readText(zone, "type");
  if (type === "DYNAMIC_V2") return judgeEnhanced(zone, name, unread);
  if (type === "DYNAMIC") {
    const proxyType = readText(zone, "proxyType");
    if (proxyType.kind === "unreadable") return unread(`the proxy type ${proxyType.found}`);
    // The API sends an empty text, or null, for "no proxy type".
    if (proxyType.kind === "absent" || proxyType.value === "") return null;
    return { kind: "review", actual: `the proxy type ${proxyType.value} in the legacy dynamic ${name}` };
  }
  if (type !== "IP") return unread(`the type ${showValue(zone["type"])}`);
  const lists = [readList(zone, "gateways"), readList(zone, "proxies")];
  const unreadList = lists.find((entries) => entries.kind === "unreadable");
  if (unreadList !== undefined) return unread(`the addresses ${unreadList.found}`);
  const count = lists.flatMap(({ value }) => value ?? []).length;
  return count === 0
    ? null
    : { kind: "review", actual: `${count} static ${count === 1 ? "entry" : "entries"} in zone ${describeZone(zone)}` };
}

const wholeCategories = ["ALL_ANONYMIZERS", "ALL_IP_SERVICES"];

function judgeEnhanced(zone: JsonObject, name: string, unread: (found: string) => ZoneVerdict): ZoneVerdict | null {
  const include = readTexts(zone, "ipServiceCategories.include");
  if (include.kind === "unreadable") return unread(`the categories ${include.found}`);
  if (include.kind === "absent" || include.value.length === 0) return null;
  const lists = "ipServiceCategories.exclude asns.include asns.exclude locations.include locations.exclude";
  const narrowing = lists.split(" ").map((path) => ({ path, entries: readZoneList(zone, path) }));
  const unreadList = narrowing.find(({ entries }) => entries.kind === "unreadable");
  if (unreadList !== undefined) return unread(`the ${unreadList.path}`);
  const narrowed = narrowing.filter(({ entries }) => (entries.value ?? []).length > 0);
  const categories = listTexts(sortTexts(include.value).slice(0, 5));
  if (narrowed.length > 0) {
    const limits = narrowed.map(({ path }) => path).join(", ");
    return { kind: "review", actual: `${categories} limited by ${limits} in ${name}` };
  }
  const isWhole = include.value.some((category) => wholeCategories.includes(category));
  return { kind: isWhole ? "blocks" : "review", actual: `${categories} in ${name}` };
}
