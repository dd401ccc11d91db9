import { describe, expect, test } from "vitest";
import { missing, obtained, type JsonList } from "../../../scanner/evidence/artifacts.ts";
import type { JsonObject } from "../../../shared/json.ts";
import { aZone, anAnonymizerZone, evaluate, outcomeOf } from "../../support/artifact_builders.ts";

const check = "network_zone_block_anonymized_proxies";
const categories = (...include: readonly string[]) => ({ ipServiceCategories: { include, exclude: [] } });
const legacy = (proxyType: unknown) => aZone({ type: "DYNAMIC", usage: "BLOCKLIST", gateways: undefined, proxyType });

test.each<[what: string, zones: JsonList, outcome: string]>([
  ["all IP services", [anAnonymizerZone(categories("ALL_IP_SERVICES"))], "PASS"],
  ["all anonymizers among others", [anAnonymizerZone(categories("NORD_VPN", "ALL_ANONYMIZERS"))], "PASS"],
  ["no ASNs and locations at all", [anAnonymizerZone({ asns: undefined, locations: null })], "PASS"],
  ["no usage", [anAnonymizerZone({ usage: undefined })], "FAIL"],
  ["no categories", [anAnonymizerZone(categories())], "FAIL"],
  ["narrowed by ASNs as a list", [anAnonymizerZone({ asns: ["64496"] })], "needs_review"],
  ["a legacy zone of Tor", [legacy("TorAnonymizer")], "needs_review"],
  ["a legacy zone with an empty proxy type", [legacy("")], "FAIL"],
  ["a legacy zone without a proxy type", [legacy(null)], "FAIL"],
  ["a static blocklist", [aZone({ usage: "BLOCKLIST" })], "needs_review"],
  ["an empty static blocklist", [aZone({ usage: "BLOCKLIST", gateways: null, proxies: null })], "FAIL"],
  ["an inactive static blocklist", [aZone({ usage: "BLOCKLIST", status: "INACTIVE" })], "FAIL"],
  ["only policy zones", [aZone()], "FAIL"],
  ["{}, which is evidence of nothing,", [aZone(), {}], "unreadable"],
  ["a status of another shape", [anAnonymizerZone({ status: 1 })], "unreadable"],
  ["an unknown usage", [anAnonymizerZone({ usage: "BOTH" })], "unreadable"],
  ["an unknown type", [anAnonymizerZone({ type: "DYNAMIC_V3" })], "unreadable"],
  ["categories of another shape", [anAnonymizerZone({ ipServiceCategories: ["ALL_ANONYMIZERS"] })], "unreadable"],
  ["ASNs of another shape", [anAnonymizerZone({ asns: "all" })], "unreadable"],
  ["addresses of another shape", [aZone({ usage: "BLOCKLIST", gateways: "192.0.2.0/24" })], "unreadable"],
])("$0: $2", (_, zones, outcome) => {
  const result = evaluate(check, { network_zones: obtained(zones) });
  expect(outcomeOf(result)).toBe(outcome);
  const open = expect.stringContaining("If the CSSP has provided a list of anonymizers to block") as unknown;
  const partly = outcome === "PASS" ? { automated: "PASS", detail: open } : {};
  expect(result.findings).toMatchObject([{ resource: { type: "org" }, ...partly }]);
});

test.each([[[anAnonymizerZone()]]])("zones that broke off after %j decide nothing", (partial) => {
  const result = evaluate(check, { network_zones: missing("provider_error", "page 2 failed", partial) });
  expect(outcomeOf(result)).toBe("provider_error");
});

describe("the zone whose addresses get past blocklists", () => {
  const exempt = (changes: JsonObject = {}) =>
    aZone({ id: "nzoEx", name: "DefaultExemptIpZone", system: true, ...changes });
  const note = /: the addresses of zone "DefaultExemptIpZone" \(192\.0\.2\.0\/24\) bypass every blocklist;/;

  test.each<[what: string, zones: JsonList, status: string, hasNote: boolean]>([
    ["with an entry, anonymizers blocked", [anAnonymizerZone(), exempt()], "PASS", true],
    ["with an entry, inactive", [anAnonymizerZone(), exempt({ status: "INACTIVE" })], "PASS", false],
  ])("$0: $2, with a note: $3", (_, zones, status, hasNote) => {
    const result = evaluate(check, { network_zones: obtained(zones) });
    expect(outcomeOf(result)).toBe(status);
    expect(note.test(result.detail)).toBe(hasNote);
  });
});
