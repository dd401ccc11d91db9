import { isJsonObject } from "../../../shared/json.ts";
import { showValue } from "../../checks/parsing/fields.ts";
import { nameOf } from "../../checks/parsing/names.ts";
import { allowedZones, zonesProblem } from "./network_zones.ts";
import { idOf, listed, type Failed, type PlanDraft } from "../plan_draft.ts";
import { change, identifier, type Attribute } from "../terraform.ts";
import { readWhole, type Source } from "../whole_objects.ts";

const check = "apitoken_restricted_to_network_zone";

const sources: readonly Source[] = [
  ["id", "text", "id"],
  ["name", "text", "name"],
  ["user_id", "text", "userId"],
  ["client_name", "text", "clientName"],
  ["created", "text", "created"],
];

/** V-279689: each failing token, to be used from the zones of its application only. */
export function planApiTokens(draft: PlanDraft): void {
  for (const failed of draft.failedOf([check])) draft.attempt([failed], () => planToken(draft, failed));
}

function planToken(draft: PlanDraft, failed: Failed): string | null {
  const token = listed(draft.artifacts.api_tokens).find((item) => idOf(item) === failed.finding.resource.id);
  if (token === undefined) return "the evidence does not name the token";
  const { attributes, missing } = readWhole(token, sources);
  const created = new Date(String(token["created"]));
  if (missing.length > 0 || Number.isNaN(created.getTime())) {
    const fields = missing.length > 0 ? missing.join(", ") : "a readable time of creation";
    return `the evidence does not have ${fields}: collect it again`;
  }
  const problem = zonesProblem(draft);
  if (problem !== null) return problem;
  const { connection, include, exclude, ...others } = isJsonObject(token["network"]) ? token["network"] : {};
  if (!isEmptyList(include)) {
    return "the token names zones that are deleted, inactive or open, and other zones would allow new networks";
  }
  if (!isEmptyList(exclude) && !isTexts(exclude)) return "its excluded zones cannot be read";
  const unknown = Object.keys(others);
  if (unknown.length > 0) return `Terraform would reset network.${unknown.join(", network.")}`;
  const id = String(token["id"]);
  const resource = draft.resource(
    {
      type: "okta_api_token",
      name: identifier("token", id, token["name"]),
      title: `API token "${nameOf(token)}"`,
      importId: id,
      // The provider reads the time without its milliseconds.
      attributes: { ...attributes, created: created.toISOString().replace(/\.\d+Z$/, "Z") },
    },
    [failed],
  );
  resource.lifecycle = { preventDestroy: true };
  resource.warnings.add("Destroying this resource revokes the token. Calls from other networks are refused.");
  const zones = allowedZones(draft, {
    name: identifier("token_zones", id, token["name"]),
    description: `Where the application of the API token "${nameOf(token)}" calls from.`,
  });
  const network = new Map<string, Attribute>();
  const was = `was ${showValue(connection)}`;
  change(network, "connection", "ZONE", { rules: [failed.rule], was });
  network.set("include", { value: zones, change: null });
  if (isTexts(exclude)) network.set("exclude", { value: exclude, change: null });
  resource.blocks.push({ name: "network", attributes: network });
  draft.loses({ of: id, text: `Calls with the API token "${nameOf(token)}" from outside its zones are refused` });
  return null;
}

function isEmptyList(value: unknown): boolean {
  return value === undefined || value === null || (Array.isArray(value) && value.length === 0);
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.length > 0 && value.every((item) => typeof item === "string");
}
