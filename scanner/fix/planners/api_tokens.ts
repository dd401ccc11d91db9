import { isJsonObject } from "../../../shared/json.ts";
import { judgeIncludedZones, readZones } from "../../checks/evaluating/zones.ts";
import { readTexts, showValue } from "../../checks/parsing/fields.ts";
import { nameOf } from "../../checks/parsing/names.ts";
import { entriesOf } from "../../evidence/artifacts.ts";
import { idOf, importChange, type PlannedOrg, type Planner, type ResourceKind } from "../planned_change.ts";
import { identifier, variableReference, type Variable } from "../terraform.ts";

const kind: ResourceKind = {
  type: "okta_api_token",
  prefix: "token",
  replaced: ["network"],
  paths: {
    name: "name",
    user_id: "userId",
    client_name: "clientName",
    created: "created",
    network: ["network.connection", "network.include", "network.exclude"],
  },
};

/** V-279689: a token is used from the zones of its application only. */
export const apiTokens: Planner = {
  checks: ["apitoken_restricted_to_network_zone"],
  plan({ finding }, org) {
    const token = entriesOf(org.artifacts.api_tokens).find((item) => idOf(item) === finding.resource.id);
    if (token === undefined) return "the evidence does not name the token";
    const id = String(token["id"]);
    const [included, excluded] = ["include", "exclude"].map((list) => readTexts(token, `network.${list}`));
    if (included?.kind !== "absent" && (included?.kind !== "value" || included.value.length > 0)) {
      return "the token names zones that are deleted, inactive or open, and other zones would allow new networks";
    }
    if (excluded?.kind === "unreadable") return "its excluded zones cannot be read";
    const zones = zonesVariable(org, {
      name: identifier("token_zones", id, token["name"]),
      of: `Where the application of the API token "${nameOf(token)}" calls from.`,
    });
    if (typeof zones === "string") return zones;
    const connection = isJsonObject(token["network"]) ? token["network"]["connection"] : undefined;
    return importChange(kind, token, {
      title: `API token "${nameOf(token)}"`,
      required: { id },
      attributes: {
        ...(excluded?.kind === "value" && excluded.value.length > 0 && { "network.exclude": excluded.value }),
      },
      changes: {
        "network.connection": { value: "ZONE", was: `was ${showValue(connection)}` },
        "network.include": { value: variableReference(zones), was: "was empty" },
      },
      variables: [zones],
      warnings: ["Calls from other networks are refused."],
    });
  },
};

/**
 * The zones that a token may be used from. A person names them, because a zone can as well hold the networks that are to be
 * kept out.
 */
function zonesVariable(
  { artifacts: { network_zones } }: PlannedOrg,
  { name, of }: { readonly name: string; readonly of: string },
): Variable | string {
  const zones = readZones(network_zones);
  if (zones.missing !== null) return "not all network zones could be read: grant okta.networkZones.read";
  const fitting = zones.listed.filter(({ id }) => judgeIncludedZones([String(id)], null, zones).kind === "zoned");
  if (fitting.length === 0) return "the org has no network zone that restricts a token: add one first";
  const names = fitting.map((zone) => `"${nameOf(zone)}" is ${String(zone["id"])}`).join(", ");
  return { name, type: "list(string)", description: `${of} Ids of network zones: ${names}.` };
}
