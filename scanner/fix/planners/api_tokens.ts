import { showValue } from "../../checks/parsing/fields.ts";
import { nameOf } from "../../checks/parsing/names.ts";
import { allowedZones } from "./network_zones.ts";
import { idOf, listed, type PlanDraft } from "../plan_draft.ts";
import { change, identifier, type Attribute } from "../terraform.ts";
import { readWhole, type Source } from "../whole_objects.ts";

const check = "apitoken_restricted_to_network_zone";

const sources: readonly Source[] = [
  { attribute: "id", path: "id", read: "text" },
  { attribute: "name", path: "name", read: "text" },
  { attribute: "user_id", path: "userId", read: "text" },
  { attribute: "client_name", path: "clientName", read: "text" },
  { attribute: "created", path: "created", read: "text" },
];

/** V-279689: each failing token, to be used from the zones of its application only. */
export function planApiTokens(draft: PlanDraft): void {
  for (const failed of draft.failedOf([check])) {
    const token = listed(draft.artifacts.api_tokens).find((item) => idOf(item) === failed.finding.resource.id);
    if (token === undefined) {
      draft.byHand([failed], "the evidence does not name the token");
      continue;
    }
    const { attributes, missing } = readWhole(token, sources);
    const created = new Date(String(token["created"]));
    if (missing.length > 0 || Number.isNaN(created.getTime())) {
      const fields = missing.length > 0 ? missing.join(", ") : "a readable time of creation";
      draft.byHand([failed], `the evidence does not have ${fields}: collect it again`);
      continue;
    }
    const resource = draft.resource(
      {
        type: "okta_api_token",
        name: identifier("token", String(token["id"])),
        title: `API token "${nameOf(token)}"`,
        importId: String(token["id"]),
        // The provider reads the time without its milliseconds.
        attributes: { ...attributes, created: created.toISOString().replace(/\.\d+Z$/, "Z") },
      },
      [failed],
    );
    resource.lifecycle = { preventDestroy: true };
    resource.warnings.add("Destroying this resource revokes the token. Calls from other networks are refused.");
    const zones = allowedZones(draft, {
      name: identifier("token_zones", String(token["id"])),
      description: `Where the application of the API token "${nameOf(token)}" calls from.`,
    });
    const network = new Map<string, Attribute>();
    const rules = [failed.rule];
    const was = `was ${showValue(token["network"])}`;
    change(network, "connection", "ZONE", { rules, was });
    network.set("include", { value: zones, change: null });
    resource.blocks.push({ name: "network", attributes: network });
  }
}
