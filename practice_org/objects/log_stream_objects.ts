import type { JsonObject } from "../../shared/json.ts";
import { oktaId } from "./ids_and_links.ts";
import type { Resource, Site } from "./org_contents.ts";

const created = "2026-02-13T09:10:39.000Z";

export interface LogStreamSpec {
  readonly name: string;
  readonly type: "aws_eventbridge" | "splunk_cloud_logstreaming";
  readonly status?: "ACTIVE" | "INACTIVE";
  readonly settings: JsonObject;
}

/** The links of log streams name a method instead of hints. */
export function logStream(site: Site, spec: LogStreamSpec): Resource {
  const id = oktaId("0oa", `log stream ${spec.name}`);
  const href = `${site.url}/api/v1/logStreams/${id}`;
  const status = spec.status ?? "ACTIVE";
  const verb = status === "ACTIVE" ? "deactivate" : "activate";
  return {
    id,
    type: spec.type,
    name: spec.name,
    lastUpdated: created,
    created,
    status,
    settings: spec.settings,
    _links: {
      self: { href, method: "GET" },
      [verb]: { href: `${href}/lifecycle/${verb}`, method: "POST" },
    },
  };
}
