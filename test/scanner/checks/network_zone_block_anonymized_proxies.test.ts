import { describe, expect, test } from "vitest";
import { missing, obtained, type JsonList } from "../../../scanner/evidence/artifacts.ts";
import type { JsonObject } from "../../../shared/json.ts";
import { aZone, anAnonymizerZone, evaluate } from "../../support/artifact_builders.ts";

const check = "network_zone_block_anonymized_proxies";
const categories = (...include: readonly string[]) => ({ ipServiceCategories: { include, exclude: [] } });
const legacy = (proxyType: unknown) => aZone({ type: "DYNAMIC", usage: "BLOCKLIST", gateways: undefined, proxyType });

test.each<[what: string, zones: JsonList, status: string, reason: string | null]>([
  ["all anonymizers", [anAnonymizerZone()], "PASS", null],
  ["all IP services", [anAnonymizerZone(categories("ALL_IP_SERVICES"))], "PASS", null],
  ["all anonymizers among others", [anAnonymizerZone(categories("NORD_VPN", "ALL_ANONYMIZERS"))], "PASS", null],
  ["no exclude at all", [anAnonymizerZone({ ipServiceCategories: { include: ["ALL_ANONYMIZERS"] } })], "PASS", null],
  ["no ASNs and locations at all", [anAnonymizerZone({ asns: undefined, locations: null })], "PASS", null],
  ["a status in lower case", [anAnonymizerZone({ status: "active" })], "PASS", null],
  ["beside a static list", [aZone({ usage: "BLOCKLIST" }), anAnonymizerZone()], "PASS", null],
  ["inactive", [anAnonymizerZone({ status: "INACTIVE" })], "FAIL", null],
  ["no status", [anAnonymizerZone({ status: undefined })], "FAIL", null],
  ["usage POLICY", [anAnonymizerZone({ usage: "POLICY" })], "FAIL", null],
  ["no usage", [anAnonymizerZone({ usage: undefined })], "FAIL", null],
  ["no categories", [anAnonymizerZone(categories())], "FAIL", null],
  [
    "only countries",
    [anAnonymizerZone({ ...categories(), locations: { include: [{ country: "KP" }] } })],
    "FAIL",
    null,
  ],
  ["all but Tor", [anAnonymizerZone(categories("ALL_ANONYMIZERS_EXCEPT_TOR"))], "MANUAL", "needs_review"],
  ["proxies and VPNs", [anAnonymizerZone(categories("ALL_PROXIES_VPNS"))], "MANUAL", "needs_review"],
  ["one VPN", [anAnonymizerZone(categories("NORD_VPN"))], "MANUAL", "needs_review"],
  [
    "an excluded service",
    [anAnonymizerZone({ ipServiceCategories: { include: ["ALL_ANONYMIZERS"], exclude: ["NORD_VPN"] } })],
    "MANUAL",
    "needs_review",
  ],
  ["narrowed to an ASN", [anAnonymizerZone({ asns: { include: ["64496"] } })], "MANUAL", "needs_review"],
  ["narrowed by ASNs as a list", [anAnonymizerZone({ asns: ["64496"] })], "MANUAL", "needs_review"],
  [
    "narrowed to a country",
    [anAnonymizerZone({ locations: { include: [{ country: "US" }] } })],
    "MANUAL",
    "needs_review",
  ],
  ["but for a country", [anAnonymizerZone({ locations: { exclude: [{ country: "US" }] } })], "MANUAL", "needs_review"],
  ["a legacy zone of any proxy", [legacy("Any")], "MANUAL", "needs_review"],
  ["a legacy zone of Tor", [legacy("TorAnonymizer")], "MANUAL", "needs_review"],
  ["a legacy zone with an empty proxy type", [legacy("")], "FAIL", null],
  ["a legacy zone without a proxy type", [legacy(null)], "FAIL", null],
  ["a static blocklist", [aZone({ usage: "BLOCKLIST" })], "MANUAL", "needs_review"],
  [
    "a static blocklist of proxies",
    [aZone({ usage: "BLOCKLIST", gateways: null, proxies: [{}] })],
    "MANUAL",
    "needs_review",
  ],
  ["an empty static blocklist", [aZone({ usage: "BLOCKLIST", gateways: null, proxies: null })], "FAIL", null],
  ["an inactive static blocklist", [aZone({ usage: "BLOCKLIST", status: "INACTIVE" })], "FAIL", null],
  ["no zone", [], "FAIL", null],
  ["only policy zones", [aZone()], "FAIL", null],
  ["{}, which is evidence of nothing,", [aZone(), {}], "MANUAL", "unreadable"],
  ["a status of another shape", [anAnonymizerZone({ status: 1 })], "MANUAL", "unreadable"],
  ["an unknown usage", [anAnonymizerZone({ usage: "BOTH" })], "MANUAL", "unreadable"],
  ["an unknown type", [anAnonymizerZone({ type: "DYNAMIC_V3" })], "MANUAL", "unreadable"],
  [
    "categories of another shape",
    [anAnonymizerZone({ ipServiceCategories: ["ALL_ANONYMIZERS"] })],
    "MANUAL",
    "unreadable",
  ],
  [
    "categories that are a text",
    [anAnonymizerZone({ ipServiceCategories: { include: "ALL_ANONYMIZERS" } })],
    "MANUAL",
    "unreadable",
  ],
  [
    "an exclude of another shape",
    [anAnonymizerZone({ ipServiceCategories: { include: ["ALL_ANONYMIZERS"], exclude: "none" } })],
    "MANUAL",
    "unreadable",
  ],
  ["ASNs of another shape", [anAnonymizerZone({ asns: "all" })], "MANUAL", "unreadable"],
  ["addresses of another shape", [aZone({ usage: "BLOCKLIST", gateways: "192.0.2.0/24" })], "MANUAL", "unreadable"],
  [
    "one that cannot be read beside one that blocks",
    [anAnonymizerZone({ id: "a", asns: "all" }), {}, null as unknown as JsonObject, anAnonymizerZone()],
    "PASS",
    null,
  ],
])("%s: %s", (_, zones, status, reason) => {
  const result = evaluate(check, { network_zones: obtained(zones) });
  expect(result).toMatchObject({ status, reason });
  const open = expect.stringContaining("If the CSSP has provided a list of anonymizers to block") as unknown;
  const coverage = status === "PASS" ? { coverage: "partial", coverage_reason: open } : { coverage: "full" };
  expect(result.findings).toMatchObject([{ resource: { type: "org" }, ...coverage }]);
});

test.each([[null], [[]], [[anAnonymizerZone()]]])("zones that broke off after %j decide nothing", (partial) => {
  const result = evaluate(check, { network_zones: missing("provider_error", "page 2 failed", partial) });
  expect(result).toMatchObject({ status: "MANUAL", reason: "provider_error" });
});

describe("the zone whose addresses get past blocklists", () => {
  const exempt = (changes: JsonObject = {}) =>
    aZone({ id: "nzoEx", name: "DefaultExemptIpZone", system: true, ...changes });
  const note = /: 1 entry of zone "DefaultExemptIpZone" bypasses every blocklist\.$/;

  test.each<[what: string, zones: JsonList, status: string, hasNote: boolean]>([
    ["with an entry, anonymizers blocked", [anAnonymizerZone(), exempt()], "PASS", true],
    ["with an entry, nothing blocked", [exempt()], "FAIL", true],
    ["without an entry", [anAnonymizerZone(), exempt({ gateways: null })], "PASS", false],
    ["with an entry, inactive", [anAnonymizerZone(), exempt({ status: "INACTIVE" })], "PASS", false],
    ["of another name", [anAnonymizerZone(), aZone()], "PASS", false],
  ])("%s: %s, with a note: %s", (_, zones, status, hasNote) => {
    const result = evaluate(check, { network_zones: obtained(zones) });
    expect(result.status).toBe(status);
    expect(note.test(result.detail)).toBe(hasNote);
  });
});
