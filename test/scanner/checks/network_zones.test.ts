import { describe, expect, test } from "vitest";
import { missing, obtained, type Evidence, type JsonList } from "../../../scanner/evidence/artifacts.ts";
import {
  aSessionPolicy,
  aSessionRule,
  aZone,
  anAnonymizerZone,
  evaluate,
  outcomeOf,
} from "../../support/artifact_builders.ts";

/** Zones that a rule includes or excludes, by the check of global session policies; other checks read zones by the same code. */

const gateways = (...values: readonly string[]) => ({
  gateways: values.map((value) => ({ type: value.includes("-") ? "RANGE" : "CIDR", value })),
});
const dynamic = (changes: object) => aZone({ type: "DYNAMIC", gateways: undefined, ...changes });
const enhanced = (changes: object) => aZone({ type: "DYNAMIC_V2", gateways: undefined, ...changes });
const countryBut = enhanced({ locations: { exclude: [{ country: "KP" }] } });
const blocked = anAnonymizerZone();

function judge(network: unknown, zones: JsonList | Evidence<JsonList> = [aZone()]) {
  const rules = obtained([aSessionRule({ conditions: { network } })]);
  return evaluate("signon_global_session_policy_network_zone_enforced", {
    global_session_policies: obtained([{ policy: aSessionPolicy(), rules }]),
    network_zones: "state" in zones ? zones : obtained(zones),
  });
}

const idsOf = (zones: JsonList) => zones.map(({ id }) => id);
const included = (zones: JsonList) => outcomeOf(judge({ connection: "ZONE", include: idsOf(zones) }, zones));

test.each<[network: unknown, outcome: string]>([
  [{ connection: "ZONE", include: ["nzo1"] }, "PASS"],
  [{ connection: "ANYWHERE" }, "FAIL"],
  [{ connection: "ZONE", include: ["nzo1"], exclude: ["Offices"] }, "needs_review"],
  [{ connection: "ZONE", include: ["nzo1", "nzoGone"], exclude: ["nzo1"] }, "needs_review"],
  [{ connection: "ON_NETWORK" }, "needs_review"],
  [{ connection: "ZONE", include: ["nzo1"], exclude: {} }, "unreadable"],
])("%j is %s", (network, outcome) => {
  expect(outcomeOf(judge(network))).toBe(outcome);
});

test.each<[what: string, zones: JsonList, outcome: string]>([
  ["that is inactive", [aZone({ status: "INACTIVE" })], "FAIL"],
  ["that is inactive, in a list with an active one", [aZone({ status: "INACTIVE" }), aZone({ id: "b" })], "PASS"],
  ["of the blocklist", [blocked], "FAIL"],
  ["of every IPv4 address", [aZone(gateways("0.0.0.0/0"))], "FAIL"],
  ["of every IPv6 address", [aZone(gateways("::/0"))], "FAIL"],
  ["of every global IPv6 address", [aZone(gateways("2000::/3"))], "FAIL"],
  ["of every IPv4 address as IPv6", [aZone(gateways("::ffff:0:0/96"))], "FAIL"],
  ["of every address that is routed", [aZone(gateways("1.0.0.0-223.255.255.255"))], "FAIL"],
  [
    "of every routed address, without the private ones",
    [aZone(gateways("1.0.0.0-9.255.255.255", "11.0.0.0-172.15.255.255", "172.32.0.0-223.255.255.255"))],
    "FAIL",
  ],
  ["of exactly one half", [aZone(gateways("128.0.0.0/1"))], "PASS"],
  ["of one half and one address", [aZone(gateways("128.0.0.0/1", "9.9.9.9"))], "needs_review"],
  ["of all but one address", [aZone(gateways("0.0.0.0-9.9.9.8", "9.9.9.10-255.255.255.255"))], "needs_review"],
  [
    "and another, each of one half",
    [aZone(gateways("0.0.0.0/1")), aZone({ id: "b", ...gateways("128.0.0.0/1") })],
    "FAIL",
  ],
  ["of an address that cannot be read", [aZone(gateways("300.0.0.0/8"))], "unreadable"],
  ["of a prefix that is too long", [aZone(gateways("192.0.2.0/33"))], "unreadable"],
  ["without any entry", [aZone({ gateways: [] })], "needs_review"],
  ["of a country", [dynamic({ locations: [{ country: "US" }] })], "PASS"],
  ["of a proxy type", [dynamic({ proxyType: "Any" })], "PASS"],
  ["of everything but a country", [countryBut], "needs_review"],
  ["of places of another shape", [enhanced({ locations: "US" })], "unreadable"],
])("a zone %s is %s", (_, zones, outcome) => {
  expect(included(zones)).toBe(outcome);
});

test.each<[what: string, zones: JsonList, outcome: string]>([
  ["of some addresses", [aZone()], "PASS"],
  ["that is inactive", [aZone({ status: "INACTIVE" })], "FAIL"],
  ["with an unknown status, with a good one", [aZone({ status: 1 }), aZone({ id: "b" })], "PASS"],
  ["of every address", [aZone(gateways("0.0.0.0/0"))], "needs_review"],
])("an excluded zone %s is %s", (_, zones, outcome) => {
  expect(outcomeOf(judge({ connection: "ZONE", exclude: idsOf(zones) }, zones))).toBe(outcome);
});

test.each<[what: string, zones: JsonList, include: string, exclude: string]>([
  ["an office, and one that is empty", [aZone(), aZone({ id: "b", gateways: [] })], "PASS", "PASS"],
  [
    "two halves",
    [aZone(gateways("0.0.0.0/1")), aZone({ id: "b", ...gateways("128.0.0.0/1") })],
    "FAIL",
    "needs_review",
  ],
  ["everything but a country, and an office", [countryBut, aZone({ id: "b" })], "needs_review", "PASS"],
  ["only the blocklist", [blocked], "FAIL", "FAIL"],
  ["one of that name", [aZone({ name: "ALL_ZONES" }), aZone({ id: "b", ...gateways("0.0.0.0/0") })], "PASS", "PASS"],
])("ALL_ZONES with %s", (_, zones, include, exclude) => {
  const outcome = (list: "include" | "exclude") =>
    outcomeOf(judge({ connection: "ZONE", [list]: ["ALL_ZONES"] }, zones));
  expect([outcome("include"), outcome("exclude")]).toEqual([include, exclude]);
});

test("ALL_ZONES is named with the zones that count, and their addresses", () => {
  const listed = [aZone(), aZone({ id: "b", name: "VPN", ...gateways("0.0.0.0/0") }), aZone({ id: "c", gateways: [] })];
  const result = judge({ connection: "ZONE", include: ["ALL_ZONES"] }, [...listed, blocked]);
  expect(result.findings[0]?.actual).toBe(
    'access from ALL_ZONES ("Offices" (192.0.2.0/24), "VPN" (0.0.0.0/0)) of every address in rule "STIG rule"',
  );
});

test("a zone of long addresses is named with five of them", () => {
  const values = Array.from({ length: 6 }, (_, index) => `2001:db8:1111:2222:3333:4444:5555:${index}/128`);
  const addresses = `${values.slice(0, 5).join(", ")} and 1 more`;
  const zone = aZone({ gateways: values.map((value) => ({ type: "CIDR", value })) });
  const result = judge({ connection: "ZONE", include: ["nzo1"] }, [zone]);
  expect(result.findings[0]?.actual).toBe(`access from zone "Offices" (${addresses}) in rule "STIG rule"`);
});

test("a zone without a usable id may be the included one", () => {
  const result = judge({ connection: "ZONE", include: ["nzoGone"] }, [aZone({ id: 7, name: "Odd" }), aZone()]);
  expect(result).toMatchObject({ status: "MANUAL", reason: "unreadable" });
  expect(result.detail).toContain('the zone "Odd" without a usable id');
});

test("zones that are missing decide nothing but what needs none", () => {
  const refused = missing<JsonList>("missing_scope", "networkZones.read is not granted");
  expect(outcomeOf(judge({ connection: "ZONE", include: ["nzo1"] }, refused))).toBe("missing_scope");
  expect(outcomeOf(judge({ connection: "ANYWHERE" }, refused))).toBe("FAIL");
  const partial = missing<JsonList>("provider_error", "page 2 failed", [aZone({ status: "INACTIVE" })]);
  expect(outcomeOf(judge({ connection: "ZONE", include: ["nzo1"] }, partial))).toBe("FAIL");
});

describe("network_zone_block_anonymized_proxies", () => {
  const judgeBlocking = (...zones: JsonList) =>
    evaluate("network_zone_block_anonymized_proxies", { network_zones: obtained(zones) });
  const categories = (...include: readonly string[]) => ({ ipServiceCategories: { include, exclude: [] } });
  const legacy = (proxyType: unknown) => aZone({ type: "DYNAMIC", usage: "BLOCKLIST", gateways: undefined, proxyType });

  test.each<[what: string, zone: ReturnType<typeof aZone>, outcome: string]>([
    ["all IP services", anAnonymizerZone(categories("ALL_IP_SERVICES")), "PASS"],
    ["all anonymizers among others", anAnonymizerZone(categories("NORD_VPN", "ALL_ANONYMIZERS")), "PASS"],
    ["no categories", anAnonymizerZone(categories()), "FAIL"],
    ["a zone narrowed by networks", anAnonymizerZone({ asns: ["64496"] }), "needs_review"],
    ["a legacy zone of Tor", legacy("TorAnonymizer"), "needs_review"],
    ["a legacy zone without a proxy type", legacy(null), "FAIL"],
    ["a static blocklist", aZone({ usage: "BLOCKLIST" }), "needs_review"],
    ["an inactive static blocklist", aZone({ usage: "BLOCKLIST", status: "INACTIVE" }), "FAIL"],
    ["only a zone of policies", aZone(), "FAIL"],
  ])("%s: %s", (_, zone, outcome) => {
    const result = judgeBlocking(aZone(), zone);
    expect(outcomeOf(result)).toBe(outcome);
    if (outcome === "PASS") expect(result.detail).toContain("If the CSSP has provided a list of anonymizers to block");
  });

  test("names the zone whose addresses get past blocklists, unless it is inactive", () => {
    const exempt = aZone({ id: "nzoEx", name: "DefaultExemptIpZone", system: true });
    const note = /: the addresses of zone "DefaultExemptIpZone" \(192\.0\.2\.0\/24\) bypass every blocklist;/;
    expect(judgeBlocking(blocked, exempt).detail).toMatch(note);
    expect(judgeBlocking(blocked, { ...exempt, status: "INACTIVE" }).detail).not.toMatch(note);
    const renamed = judgeBlocking(blocked, { ...exempt, name: "Partners" }, { ...exempt, name: "LegacyIpZone" });
    expect(renamed.detail).toMatch(
      /: the addresses of zone "Partners" \(192\.0\.2\.0\/24\) may bypass every blocklist;/,
    );
  });
});
