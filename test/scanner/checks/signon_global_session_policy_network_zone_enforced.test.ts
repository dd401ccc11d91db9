import { describe, expect, test } from "vitest";
import { missing, obtained, type Evidence, type JsonList } from "../../../scanner/evidence/artifacts.ts";
import type { JsonObject } from "../../../shared/json.ts";
import { aSessionPolicy, aSessionRule, aZone, evaluate } from "../../support/artifact_builders.ts";
import { allZonesCases, excludedZoneCases, zoneCases } from "../../support/zone_cases.ts";

const zones = "signon_global_session_policy_network_zone_enforced";

describe(zones, () => {
  test.each<[network: unknown, status: string, reason: string | null]>([
    [{ connection: "ZONE", include: ["nzo1"] }, "PASS", null],
    [{ connection: "ZONE", exclude: ["nzo1"] }, "PASS", null],
    [{ connection: "ZONE", include: [], exclude: ["nzo1"] }, "PASS", null],
    [{ connection: "ZONE", exclude: ["nzoGone"] }, "FAIL", null],
    [{ connection: "ZONE", exclude: ["nzoGone", "Offices"] }, "PASS", null],
    [{ connection: "ZONE", include: ["nzo1"], exclude: ["nzoGone"] }, "PASS", null],
    [{ connection: "ZONE", include: ["nzo1"], exclude: ["Offices"] }, "MANUAL", "needs_review"],
    [{ connection: "ZONE", include: ["nzo1", "nzoGone"], exclude: ["nzo1"] }, "FAIL", null],
    [{ include: ["nzo1"] }, "PASS", null],
    [{ connection: null, include: ["nzo1"] }, "PASS", null],
    [{ connection: "ZONE", include: [], exclude: [] }, "FAIL", null],
    [{ connection: "ZONE" }, "FAIL", null],
    [{ connection: "ANYWHERE" }, "FAIL", null],
    [{ connection: "ANYWHERE", include: ["nzo1"] }, "FAIL", null],
    [{}, "FAIL", null],
    [null, "FAIL", null],
    [undefined, "FAIL", null],
    [{ connection: "ON_NETWORK" }, "MANUAL", "needs_review"],
    [{ connection: "OFF_NETWORK" }, "MANUAL", "needs_review"],
    [{ connection: "MOON" }, "MANUAL", "unreadable"],
    [{ connection: 1, include: ["nzo1"] }, "MANUAL", "unreadable"],
    [{ connection: "ZONE", include: "nzo1" }, "MANUAL", "unreadable"],
    [{ connection: "ZONE", include: [7] }, "MANUAL", "unreadable"],
    [{ connection: "ZONE", include: ["nzo1"], exclude: {} }, "MANUAL", "unreadable"],
    [{ connection: "ZONE", include: ["nzo1", "nzoGone"] }, "FAIL", null],
    [{ connection: "ZONE", include: ["nzoGone", 7] }, "FAIL", null],
    ["ZONE", "MANUAL", "unreadable"],
  ])("%j is %s", (network, status, reason) => {
    expect(judge([aSessionRule({ conditions: { network } })])).toMatchObject({ status, reason });
  });

  test.each([[null], [undefined]])("conditions that are %j are no restriction", (conditions) => {
    expect(judge([aSessionRule({ conditions })]).status).toBe("FAIL");
  });

  const includeAll = (found: JsonList) => ({ connection: "ZONE", include: found.map((zone) => zone["id"]) });
  const withZones = (found: Evidence<JsonList>, network: unknown) =>
    evaluate(zones, {
      global_session_policies: obtained([
        { policy: aSessionPolicy(), rules: obtained([aSessionRule({ conditions: { network } })]) },
      ]),
      network_zones: found,
    });

  test.each(zoneCases)("a zone %s is %s", (_, found, status, reason) => {
    expect(withZones(obtained(found), includeAll(found))).toMatchObject({ status, reason });
  });

  test.each(excludedZoneCases)("an excluded zone %s is %s", (_, found, status, reason) => {
    const exclude = found.map((zone) => zone["id"]);
    expect(withZones(obtained(found), { connection: "ZONE", exclude })).toMatchObject({ status, reason });
  });

  test.each(allZonesCases)("ALL_ZONES with %s", (_, found, included, excluded) => {
    const outcome = (network: JsonObject) => {
      const { status, reason } = withZones(obtained(found), { connection: "ZONE", ...network });
      return reason ?? status;
    };
    expect(outcome({ include: ["ALL_ZONES"] })).toBe(included);
    expect(outcome({ exclude: ["ALL_ZONES"] })).toBe(excluded);
  });

  test.each([[undefined], [7], [""], ["nzo\uFFFD1"], ["nzo 1"]])(
    "a zone with the id %j may be the included one",
    (id) => {
      const [other, restricting] = [aZone({ id, name: "Odd" }), aZone()];
      const include = (zone: string) => ({ connection: "ZONE", include: [zone] });
      expect(withZones(obtained([other, restricting]), include("nzoGone"))).toMatchObject({
        status: "MANUAL",
        reason: "unreadable",
        detail: expect.stringContaining('the zone "Odd" without a usable id') as unknown,
      });
      expect(withZones(obtained([other, restricting]), include("nzo1")).status).toBe("PASS");
    },
  );

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

  test("counts for the built-in rule too", () => {
    expect(judge([aSessionRule({ system: true })]).status).toBe("PASS");
  });

  test("needs a rule at priority 1", () => {
    expect(judge([aSessionRule({ priority: 2 })]).status).toBe("FAIL");
  });
});

function judge(rules: JsonList) {
  return evaluate(zones, {
    global_session_policies: obtained([{ policy: aSessionPolicy(), rules: obtained(rules) }]),
    network_zones: obtained([aZone()]),
  });
}
