import type { JsonList } from "../../scanner/evidence/artifacts.ts";
import { aZone, anAnonymizerZone } from "./artifact_builders.ts";

const gateways = (...values: readonly string[]) => ({
  gateways: values.map((value) => ({ type: value.includes("-") ? "RANGE" : "CIDR", value })),
});
const dynamic = (changes: object) => aZone({ type: "DYNAMIC", gateways: undefined, ...changes });
const enhanced = (changes: object) => aZone({ type: "DYNAMIC_V2", gateways: undefined, ...changes });

/** Zones that a rule or a token includes, all of them, and the verdict. */
export const zoneCases: readonly (readonly [what: string, zones: JsonList, status: string, reason: string | null])[] = [
  ["of some addresses", [aZone()], "PASS", null],
  ["that is inactive", [aZone({ status: "INACTIVE" })], "FAIL", null],
  ["without a status", [aZone({ status: undefined })], "FAIL", null],
  ["with a status of another shape", [aZone({ status: 1 })], "MANUAL", "unreadable"],
  ["without a usage", [aZone({ usage: null })], "FAIL", null],
  ["with an unknown usage", [aZone({ usage: "BOTH" })], "MANUAL", "unreadable"],
  ["of the blocklist", [anAnonymizerZone()], "FAIL", null],
  ["of the blocklist with an unknown status", [aZone({ usage: "BLOCKLIST", status: 1 })], "FAIL", null],
  ["of an unknown type", [aZone({ type: "CLOUD" })], "MANUAL", "unreadable"],
  ["of every IPv4 address", [aZone(gateways("0.0.0.0/0"))], "FAIL", null],
  ["of every IPv6 address", [aZone(gateways("::/0"))], "FAIL", null],
  ["of every IPv6 address in two halves", [aZone(gateways("8000::/1", "::/1"))], "FAIL", null],
  ["of every IPv4 address as a range", [aZone(gateways("0.0.0.0-255.255.255.255"))], "FAIL", null],
  ["of two halves", [aZone(gateways("128.0.0.0/1", "0.0.0.0/1"))], "FAIL", null],
  [
    "of overlapping pieces",
    [aZone(gateways("0.0.0.0-200.0.0.0", "10.0.0.0/8", "199.0.0.0-255.255.255.255"))],
    "FAIL",
    null,
  ],
  ["of one half", [aZone(gateways("128.0.0.0/1"))], "PASS", null],
  ["of all but one address", [aZone(gateways("0.0.0.0-9.9.9.8", "9.9.9.10-255.255.255.255"))], "PASS", null],
  ["of IPv6 addresses that end like an IPv4 one", [aZone(gateways("::ffff:192.0.2.0/120"))], "PASS", null],
  [
    "of one half, with another of the other half",
    [aZone(gateways("0.0.0.0/1")), aZone({ id: "nzo2", name: "Rest", ...gateways("128.0.0.0/1") })],
    "FAIL",
    null,
  ],
  [
    "of every address beside one that cannot be read",
    [aZone(gateways("0.0.0.0/0", "here")), aZone({ id: "nzo2", status: 1 })],
    "FAIL",
    null,
  ],
  [
    "that is inactive beside one that cannot be read",
    [aZone({ status: 1 }), aZone({ id: "b", status: "INACTIVE" })],
    "FAIL",
    null,
  ],
  ["that is inactive beside {}", [aZone({ status: "INACTIVE" }), {}], "FAIL", null],
  ["of an address that cannot be read", [aZone(gateways("300.0.0.0/8"))], "MANUAL", "unreadable"],
  ["of a prefix that is too long", [aZone(gateways("192.0.2.0/33"))], "MANUAL", "unreadable"],
  ["of a range backwards", [aZone(gateways("192.0.2.9-192.0.2.1"))], "MANUAL", "unreadable"],
  ["of a gateway that is null", [aZone({ gateways: [null] })], "MANUAL", "unreadable"],
  ["of gateways of another shape", [aZone({ gateways: "0.0.0.0/0" })], "MANUAL", "unreadable"],
  ["without any entry", [aZone({ gateways: [] })], "MANUAL", "needs_review"],
  ["whose gateways are null", [aZone({ gateways: null })], "MANUAL", "needs_review"],
  ["without any entry beside a good one", [aZone(), aZone({ id: "b", gateways: null })], "MANUAL", "needs_review"],
  ["of a country", [dynamic({ locations: [{ country: "US" }] })], "PASS", null],
  ["of a proxy type", [dynamic({ proxyType: "Any" })], "PASS", null],
  ["of no place", [dynamic({ locations: [], asns: null, proxyType: "" })], "MANUAL", "needs_review"],
  ["of a network", [enhanced({ asns: { include: ["64496"], exclude: [] } })], "PASS", null],
  ["of nothing", [enhanced({ asns: { include: [], exclude: [] }, locations: null })], "MANUAL", "needs_review"],
  ["of places of another shape", [enhanced({ locations: "US" })], "MANUAL", "unreadable"],
];
