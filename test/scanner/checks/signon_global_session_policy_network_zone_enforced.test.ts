import { describe, expect, test } from "vitest";
import { missing, obtained, type Evidence, type JsonList } from "../../../scanner/evidence/artifacts.ts";
import type { JsonObject } from "../../../shared/json.ts";
import { aSessionPolicy, aSessionRule, aZone, evaluate, outcomeOf } from "../../support/artifact_builders.ts";
import { allZonesCases, excludedZoneCases, zoneCases } from "../../support/zone_cases.ts";

const zones = "signon_global_session_policy_network_zone_enforced";

describe(zones, () => {
  test.each<[network: unknown, outcome: string]>([
    [{ connection: "ZONE", include: ["nzo1"], exclude: ["Offices"] }, "needs_review"],
    [{ connection: "ZONE", include: ["nzo1", "nzoGone"], exclude: ["nzo1"] }, "FAIL"],
    [{ connection: "ON_NETWORK" }, "needs_review"],
    [{ connection: "OFF_NETWORK" }, "needs_review"],
    [{ connection: "MOON" }, "unreadable"],
    [{ connection: 1, include: ["nzo1"] }, "unreadable"],
    [{ connection: "ZONE", include: [7] }, "unreadable"],
    [{ connection: "ZONE", include: ["nzo1"], exclude: {} }, "unreadable"],
  ])("%j is %s", (network, outcome) => {
    expect(outcomeOf(judge([aSessionRule({ conditions: { network } })]))).toBe(outcome);
  });

  const includeAll = (found: JsonList) => ({ connection: "ZONE", include: found.map((zone) => zone["id"]) });
  const withZones = (found: Evidence<JsonList>, network: unknown) =>
    evaluate(zones, {
      global_session_policies: obtained([
        { policy: aSessionPolicy(), rules: obtained([aSessionRule({ conditions: { network } })]) },
      ]),
      network_zones: found,
    });

  test.each(zoneCases)("a zone %s is %s", (_, found, outcome) => {
    expect(outcomeOf(withZones(obtained(found), includeAll(found)))).toBe(outcome);
  });

  test.each(excludedZoneCases)("an excluded zone %s is %s", (_, found, outcome) => {
    const exclude = found.map((zone) => zone["id"]);
    expect(outcomeOf(withZones(obtained(found), { connection: "ZONE", exclude }))).toBe(outcome);
  });

  test.each(allZonesCases)("ALL_ZONES with %s", (_, found, included, excluded) => {
    const outcome = (network: JsonObject) => outcomeOf(withZones(obtained(found), { connection: "ZONE", ...network }));
    expect(outcome({ include: ["ALL_ZONES"] })).toBe(included);
    expect(outcome({ exclude: ["ALL_ZONES"] })).toBe(excluded);
  });

  test.each([[7]])("a zone with the id %j may be the included one", (id) => {
    const [other, restricting] = [aZone({ id, name: "Odd" }), aZone()];
    const include = (zone: string) => ({ connection: "ZONE", include: [zone] });
    expect(withZones(obtained([other, restricting]), include("nzoGone"))).toMatchObject({
      status: "MANUAL",
      reason: "unreadable",
      detail: expect.stringContaining('the zone "Odd" without a usable id') as unknown,
    });
    expect(withZones(obtained([other, restricting]), include("nzo1")).automated).toBe("PASS");
  });

  test("zones that are missing decide nothing but what needs none", () => {
    const refused = missing<JsonList>("missing_scope", "networkZones.read is not granted");
    expect(withZones(refused, includeAll([aZone()]))).toMatchObject({ reason: "missing_scope" });
    expect(withZones(refused, { connection: "ANYWHERE" }).status).toBe("FAIL");
    expect(withZones(refused, { connection: "ZONE", exclude: ["nzo1"] })).toMatchObject({ reason: "missing_scope" });
    expect(withZones(refused, { connection: "ZONE", include: ["ALL_ZONES"] })).toMatchObject({
      reason: "missing_scope",
    });
    const partial = missing<JsonList>("provider_error", "page 2 failed", [aZone({ status: "INACTIVE" })]);
    expect(withZones(partial, includeAll([aZone()])).status).toBe("FAIL");
  });
});

function judge(rules: JsonList) {
  return evaluate(zones, {
    global_session_policies: obtained([{ policy: aSessionPolicy(), rules: obtained(rules) }]),
    network_zones: obtained([aZone()]),
  });
}
