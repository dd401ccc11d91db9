import type { Evidence, JsonList } from "../artifacts.ts";
import type { IdpRequest } from "../../idp/idp_client.ts";
import { keeping, type Collector, type CollectorContext, evidenceOf } from "./collector.ts";

const zoneFields = "id name type status usage proxyType asns locations ipServiceCategories gateways proxies".split(" ");

/** Without the token of a Splunk stream. */
const streamSettings = ["accountId", "edition", "eventSourceName", "host", "region"].map((name) => `settings.${name}`);

/** Artifacts that are one list, with the fields that checks read and those that `fix` writes back. */
export const collectAuthenticators: Collector<"authenticators"> = (context) =>
  list(context, {
    path: "/api/v1/authenticators",
    scope: "authenticators.read",
    fields: ["id", "key", "name", "type", "status", "settings"],
  });

export const collectNetworkZones: Collector<"network_zones"> = (context) =>
  list(context, {
    path: "/api/v1/zones?limit=200",
    scope: "networkZones.read",
    fields: zoneFields,
  });

export const collectApiTokens: Collector<"api_tokens"> = (context) =>
  list(context, {
    path: "/api/v1/api-tokens",
    scope: "apiTokens.read",
    fields: ["id", "name", "userId", "clientName", "created", "network"],
  });

export const collectLogStreams: Collector<"log_streams"> = (context) =>
  list(context, {
    path: "/api/v1/logStreams?limit=200",
    scope: "logStreams.read",
    fields: ["id", "name", "type", "status", ...streamSettings],
  });

interface ListRequest extends IdpRequest {
  readonly fields: readonly string[];
}

async function list({ client }: CollectorContext, { path, scope, fields }: ListRequest): Promise<Evidence<JsonList>> {
  return evidenceOf(await client.getList({ path, scope, keep: keeping(fields) }));
}
