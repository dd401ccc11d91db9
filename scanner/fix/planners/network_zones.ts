import type { JsonObject } from "../../../shared/json.ts";
import { explicitActivityOf } from "../../checks/parsing/activity.ts";
import { readTexts } from "../../checks/parsing/fields.ts";
import { nameOf } from "../../checks/parsing/names.ts";
import { entriesOf } from "../../evidence/artifacts.ts";
import { freeName, idOf, importChange, lostFields, type Planner, type ResourceKind } from "../planned_change.ts";

const kind: ResourceKind = {
  type: "okta_network_zone",
  prefix: "zone",
  replaced: ["ipServiceCategories", "locations", "asns"],
  paths: {
    name: "name",
    usage: "usage",
    status: "status",
    ip_service_categories_include: "ipServiceCategories.include",
    // A zone with one of these is not switched on.
    asns: [],
    dynamic_locations: [],
    dynamic_locations_exclude: [],
    ip_service_categories_exclude: [],
  },
};

/** V-279692: the zone that blocks anonymizers is switched on; where the org has none, a new one blocks them. */
export const anonymizerZone: Planner = {
  checks: ["network_zone_block_anonymized_proxies"],
  plan(_failed, { artifacts }) {
    const zones = entriesOf(artifacts.network_zones);
    const zone = zones.find((one) => blocksWhenActive(one) && idOf(one) !== null);
    const warnings = [
      "Users of anonymizers are blocked before they can sign in, from every app; some corporate VPN clients count as anonymizers. " +
        "Search the System Log for users that this would block.",
    ];
    if (zone !== undefined) {
      return importChange(kind, zone, {
        title: `Network zone "${nameOf(zone)}"`,
        required: { name: nameOf(zone), type: "DYNAMIC_V2" },
        changes: { status: { value: "ACTIVE", was: "was INACTIVE" } },
        warnings,
      });
    }
    const name = freeName("Blocked anonymizers", zones.map(nameOf));
    return {
      type: kind.type,
      name: "blocked_anonymizers",
      title: `New network zone "${name}"`,
      importId: null,
      required: { name, type: "DYNAMIC_V2" },
      attributes: { usage: "BLOCKLIST", ip_service_categories_include: ["ALL_ANONYMIZERS"] },
      changes: { status: { value: "ACTIVE", was: "the org has no such zone" } },
      warnings,
    };
  },
};

/** It would comply if it were active. Exceptions in it are a decision of a person. */
function blocksWhenActive(zone: JsonObject): boolean {
  const included = readTexts(zone, "ipServiceCategories.include");
  return (
    zone["type"] === "DYNAMIC_V2" &&
    zone["usage"] === "BLOCKLIST" &&
    explicitActivityOf(zone) === "inactive" &&
    included.kind === "value" &&
    included.value.some((category) => category === "ALL_ANONYMIZERS" || category === "ALL_IP_SERVICES") &&
    lostFields(kind, zone).length === 0
  );
}
