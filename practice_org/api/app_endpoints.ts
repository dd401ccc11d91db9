import { twenty } from "./call.ts";
import { listingOf } from "../objects/org_contents.ts";
import { notFound, providerError } from "./provider_errors.ts";
import { parseFilter } from "./search_filter.ts";
import { json } from "../http/body.ts";
import type { Answer, Call } from "./call.ts";
import type { App, Listing } from "../objects/org_contents.ts";
import type { JsonObject } from "../../shared/json.ts";

export function apps(call: Call): Answer {
  const filter = parseFilter(call.query.get("filter"), ["id", "name", "status"]);
  if ("refusal" in filter) return filter.refusal;
  const start = call.query.get("q")?.toLowerCase() ?? "";
  const matches = (app: App) =>
    filter.matches(app) && (app.label.toLowerCase().startsWith(start) || app.name.toLowerCase().startsWith(start));
  return { listing: visibleApps(call), matches, paging: twenty };
}

export function oneApp(call: Call): Answer {
  const visible = visibleApps(call);
  for (let index = 0; index < visible.length; index += 1) {
    const app = visible.get(index);
    if (app.id === call.segments[0]) return json(200, app);
  }
  return notFound(call.segments[0] ?? "", "AppInstance");
}

export function firstPartyAppSettings({ contents, role, segments }: Call): Answer {
  if (role !== "super") return providerError("E0000006");
  return segments[0] === "admin-console"
    ? json(200, contents.adminConsoleSettings)
    : notFound(segments[0] ?? "", "FirstPartyApp");
}

/** Which of the apps that the caller sees are bound to a policy. */
export function mappingsOf(call: Call, policyId: string): readonly JsonObject[] {
  const visible = visibleApps(call);
  const mappings: JsonObject[] = [];
  for (let index = 0; index < visible.length; index += 1) {
    const app = visible.get(index);
    const { accessPolicy } = app["_links"] as { accessPolicy?: { href: string } };
    if (accessPolicy?.href.endsWith(`/${policyId}`) !== true) continue;
    const id = `pma${app.id.slice(3)}`;
    mappings.push({
      id,
      _links: {
        self: { href: `${call.url}/api/v1/policies/${policyId}/mappings/${id}` },
        application: { href: `${call.url}/api/v1/apps/${app.id}` },
        policy: { href: `${call.url}/api/v1/policies/${policyId}` },
      },
    });
  }
  return mappings;
}

/** Below Super Administrator the service application sees itself only; the provider's own apps are filtered out. */
function visibleApps({ contents, role, serviceApp }: Call): Listing<App> {
  if (role !== "super") return listingOf([serviceApp]);
  const { apps } = contents;
  return { length: apps.length + 1, get: (index) => (index < apps.length ? apps.get(index) : serviceApp) };
}
