import type { JsonObject } from "../../../shared/json.ts";
import { judgeIncludedZones } from "../../checks/evaluating/zones.ts";
import { explicitActivityOf } from "../../checks/parsing/activity.ts";
import { readTexts, showValue } from "../../checks/parsing/fields.ts";
import { nameOf } from "../../checks/parsing/names.ts";
import { zonesIn } from "../access_model/planned_policies.ts";
import { idOf, listed, type PlanDraft } from "../plan_draft.ts";
import { addressOf, change, identifier, type ResourceDraft, type Value, type Variable } from "../terraform.ts";

const type = "okta_network_zone";
const check = "network_zone_block_anonymized_proxies";
const categories = "ip_service_categories_include";

/** Why no restriction to zones can be planned; null where it can. */
export function zonesProblem(draft: PlanDraft): string | null {
  return zonesIn(draft.artifacts).missing === null
    ? null
    : "not all network zones could be read, so the plan might replace a correct zone: grant okta.networkZones.read";
}

/**
 * The zones that a restriction names: a person decides which, since a zone can as well hold the networks that are to be
 * kept out. Where the org has no zone that restricts, a new one is made of the networks that a person gives.
 */
export function allowedZones(draft: PlanDraft, variable: Pick<Variable, "name" | "description">): Value {
  const zones = zonesIn(draft.artifacts);
  const fitting = [...zones.byId].filter(([id]) => judgeIncludedZones([String(id)], null, zones).kind === "zoned");
  if (fitting.length === 0) return [{ kind: "reference", to: `${approvedNetworks(draft)}.id` }];
  const names = fitting.map(([id, zone]) => `"${nameOf(zone)}" is ${String(id)}`).join(", ");
  return draft.variable({
    ...variable,
    type: "list(string)",
    description: `${variable.description} Ids of network zones: ${names}.`,
    isNonEmptyList: true,
  });
}

/** Sets the network condition of a rule to these zones. */
export function restrictNetwork({ attributes }: ResourceDraft, zones: Value, rules: readonly string[]): void {
  const [connection, includes] = ["network_connection", "network_includes"].map((name) => attributes.get(name)?.value);
  // Side by side, where the others of the rule end.
  for (const name of ["network_connection", "network_includes", "network_excludes"]) attributes.delete(name);
  change(attributes, "network_connection", "ZONE", { rules, was: wasText(connection) });
  change(attributes, "network_includes", zones, { rules, was: wasText(includes) });
}

function wasText(value: Value | undefined): string {
  return value === undefined ? "was not set" : `was ${showValue(value)}`;
}

function approvedNetworks(draft: PlanDraft): string {
  const taken = [...zonesIn(draft.artifacts).byName.keys()];
  const name = freeName("Approved networks", taken);
  const gateways = draft.variable({
    name: "approved_networks",
    type: "list(string)",
    description: "The networks that the Access Control Policy approves, such as 198.51.100.0/24.",
    isNonEmptyList: true,
  });
  const attributes = { name, type: "IP", usage: "POLICY", status: "ACTIVE", gateways };
  const title = `New network zone "${name}"`;
  const zone = draft.resource({ type, name: "approved_networks", title, importId: null, attributes }, []);
  // Without it the rules that name it let nobody in.
  zone.lifecycle = { preventDestroy: true };
  return addressOf(zone);
}

/** V-279692: the built-in zone that blocks anonymizers is switched on, or where the org has none a new one is made. */
export function planAnonymizerZone(draft: PlanDraft): void {
  const failed = draft.failedOf([check]);
  if (failed.length === 0) return;
  const rules = failed.map(({ rule }) => rule);
  const inactive = listed(draft.artifacts.network_zones).find((zone) => blocksWhenActive(zone) && idOf(zone) !== null);
  const name = freeName("Blocked anonymizers", [...zonesIn(draft.artifacts).byName.keys()]);
  const resource = draft.resource(
    {
      type,
      name:
        inactive === undefined ? "blocked_anonymizers" : identifier("zone", String(inactive["id"]), inactive["name"]),
      title: inactive === undefined ? `New network zone "${name}"` : `Network zone "${nameOf(inactive)}"`,
      importId: inactive === undefined ? null : String(inactive["id"]),
      attributes: {
        name: inactive === undefined ? name : String(inactive["name"]),
        type: "DYNAMIC_V2",
        usage: "BLOCKLIST",
        status: "ACTIVE",
        [categories]: inactive === undefined ? ["ALL_ANONYMIZERS"] : includedCategories(inactive),
      },
    },
    failed,
  );
  const was = inactive === undefined ? "the org has no such zone" : "was INACTIVE";
  change(resource.attributes, "status", "ACTIVE", { rules, was });
  draft.loses({
    of: addressOf(resource),
    text: "Everybody who uses an anonymizer, of every group, loses access to every app",
  });
  resource.warnings.add(
    "Blocks users of anonymizers before they can sign in; some corporate VPN clients count as anonymizers. " +
      "Search the System Log for users that this would block.",
  );
}

/** It would be compliant if it were active; anything else in it is another decision of a person. */
function blocksWhenActive(zone: JsonObject): boolean {
  const included = includedCategories(zone);
  const narrowing = [
    "ipServiceCategories.exclude",
    "locations.include",
    "locations.exclude",
    "asns.include",
    "asns.exclude",
  ];
  return (
    zone["type"] === "DYNAMIC_V2" &&
    zone["usage"] === "BLOCKLIST" &&
    explicitActivityOf(zone) === "inactive" &&
    included.some((category) => category === "ALL_ANONYMIZERS" || category === "ALL_IP_SERVICES") &&
    narrowing.every((path) => {
      const texts = readTexts(zone, path);
      return texts.kind === "absent" || (texts.kind === "value" && texts.value.length === 0);
    })
  );
}

function includedCategories(zone: JsonObject): readonly string[] {
  const included = readTexts(zone, "ipServiceCategories.include");
  return included.kind === "value" ? included.value : [];
}

/** A name that no object of the org has. */
export function freeName(name: string, taken: readonly unknown[]): string {
  if (!taken.includes(name)) return name;
  let number = 2;
  while (taken.includes(`${name} ${number}`)) number += 1;
  return `${name} ${number}`;
}
