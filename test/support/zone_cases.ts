import type { JsonList } from "../../scanner/evidence/artifacts.ts";
import { aZone, anAnonymizerZone } from "./artifact_builders.ts";

const gateways = (...values: readonly string[]) => ({
  gateways: values.map((value) => ({ type: value.includes("-") ? "RANGE" : "CIDR", value })),
});
const dynamic = (changes: object) => aZone({ type: "DYNAMIC", gateways: undefined, ...changes });
const enhanced = (changes: object) => aZone({ type: "DYNAMIC_V2", gateways: undefined, ...changes });

/** Zones that a rule or a token includes, all of them, and the verdict. */
export const zoneCases: readonly (readonly [what: string, zones: JsonList, outcome: string])[] = [
  ["of some addresses", [aZone()], "PASS"],
  ["that is inactive", [aZone({ status: "INACTIVE" })], "FAIL"],
  ["without a status", [aZone({ status: undefined })], "FAIL"],
  ["without a usage", [aZone({ usage: null })], "FAIL"],
  ["with an unknown usage", [aZone({ usage: "BOTH" })], "unreadable"],
  ["of the blocklist", [anAnonymizerZone()], "FAIL"],
  ["of an unknown type", [aZone({ type: "CLOUD" })], "unreadable"],
  ["of every IPv4 address", [aZone(gateways("0.0.0.0/0"))], "FAIL"],
  ["of every IPv6 address", [aZone(gateways("::/0"))], "FAIL"],
  ["of exactly one half", [aZone(gateways("128.0.0.0/1"))], "PASS"],
  ["of one half and one address", [aZone(gateways("128.0.0.0/1", "9.9.9.9"))], "needs_review"],
  ["of all but one address", [aZone(gateways("0.0.0.0-9.9.9.8", "9.9.9.10-255.255.255.255"))], "needs_review"],
  ["of every address that is routed", [aZone(gateways("1.0.0.0-223.255.255.255"))], "FAIL"],
  [
    "of every routed address, without the private ones",
    [aZone(gateways("1.0.0.0-9.255.255.255", "11.0.0.0-172.15.255.255", "172.32.0.0-223.255.255.255"))],
    "FAIL",
  ],
  ["of every global IPv6 address", [aZone(gateways("2000::/3"))], "FAIL"],
  ["of every IPv4 address as IPv6", [aZone(gateways("::ffff:0:0/96"))], "FAIL"],
  ["of every address as proxies", [aZone({ proxies: [{ type: "CIDR", value: "0.0.0.0/0" }] })], "PASS"],
  [
    "of one half, with another of the other half",
    [aZone(gateways("0.0.0.0/1")), aZone({ id: "nzo2", name: "Rest", ...gateways("128.0.0.0/1") })],
    "FAIL",
  ],
  [
    "of every address beside one that cannot be read",
    [aZone(gateways("0.0.0.0/0", "here")), aZone({ id: "nzo2", status: 1 })],
    "FAIL",
  ],
  [
    "that is inactive beside one that cannot be read",
    [aZone({ status: 1 }), aZone({ id: "b", status: "INACTIVE" })],
    "FAIL",
  ],
  ["of an address that cannot be read", [aZone(gateways("300.0.0.0/8"))], "unreadable"],
  ["of a prefix that is too long", [aZone(gateways("192.0.2.0/33"))], "unreadable"],
  ["of a gateway that is null", [aZone({ gateways: [null] })], "unreadable"],
  ["without any entry", [aZone({ gateways: [] })], "needs_review"],
  ["without any entry beside a good one", [aZone(), aZone({ id: "b", gateways: null })], "needs_review"],
  ["of a country", [dynamic({ locations: [{ country: "US" }] })], "PASS"],
  ["of a proxy type", [dynamic({ proxyType: "Any" })], "PASS"],
  ["of a network", [enhanced({ asns: { include: ["64496"], exclude: [] } })], "PASS"],
  [
    "of everything but a country",
    [enhanced({ locations: { include: [], exclude: [{ country: "KP" }] } })],
    "needs_review",
  ],
  ["of places of another shape", [enhanced({ locations: "US" })], "unreadable"],
];

const countryBut = enhanced({ locations: { exclude: [{ country: "KP" }] } });

/** Zones that a rule only excludes, all of them, and the verdict. */
export const excludedZoneCases: typeof zoneCases = [
  ["of some addresses", [aZone()], "PASS"],
  ["that is inactive", [aZone({ status: "INACTIVE" })], "FAIL"],
  ["of the blocklist", [anAnonymizerZone()], "FAIL"],
  ["that is inactive, with a good one", [aZone({ status: "INACTIVE" }), aZone({ id: "b" })], "PASS"],
  [
    "that is inactive, with an empty one",
    [aZone({ status: "INACTIVE" }), aZone({ id: "b", gateways: [] })],
    "needs_review",
  ],
  ["with an unknown status", [aZone({ status: 1 })], "unreadable"],
  ["with an unknown status, with a good one", [aZone({ status: 1 }), aZone({ id: "b" })], "PASS"],
  ["without any entry", [aZone({ gateways: [] })], "needs_review"],
  ["of every address", [aZone(gateways("0.0.0.0/0"))], "needs_review"],
  ["of more than half of all addresses", [aZone(gateways("1.0.0.0-200.0.0.0"))], "PASS"],
  ["of everything but a country", [countryBut], "PASS"],
];

const blocked = anAnonymizerZone();

/** What ALL_ZONES means with these zones in the org: the verdict where it is included, and where it is excluded. */
export const allZonesCases: readonly (readonly [what: string, zones: JsonList, included: string, excluded: string])[] =
  [
    ["an office", [aZone(), blocked], "PASS", "PASS"],
    ["an office, and one that is empty", [aZone(), aZone({ id: "b", gateways: [] })], "PASS", "PASS"],
    [
      "an office, and one that is inactive and wide",
      [aZone(), aZone({ id: "b", status: "INACTIVE", ...gateways("0.0.0.0/0") })],
      "PASS",
      "PASS",
    ],
    [
      "two halves",
      [aZone(gateways("0.0.0.0/1")), aZone({ id: "b", ...gateways("128.0.0.0/1") })],
      "FAIL",
      "needs_review",
    ],
    ["three quarters", [aZone(gateways("64.0.0.0-255.255.255.255"))], "needs_review", "PASS"],
    ["everything but a country, and an office", [countryBut, aZone({ id: "b" })], "needs_review", "PASS"],
    ["only empty ones", [aZone({ gateways: [] })], "needs_review", "needs_review"],
    ["only the blocklist", [blocked], "FAIL", "FAIL"],
    ["none", [], "FAIL", "FAIL"],
    ["one that cannot be read", [aZone(), aZone({ id: "b", status: 1 })], "unreadable", "unreadable"],
    ["one of that name", [aZone({ name: "ALL_ZONES" }), aZone({ id: "b", ...gateways("0.0.0.0/0") })], "PASS", "PASS"],
  ];
