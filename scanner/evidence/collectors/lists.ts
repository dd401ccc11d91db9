import type { Evidence, JsonList } from "../artifacts.ts";
import type { IdpRequest } from "../../okta/idp_client.ts";
import { keeping, type Collector, type CollectorContext, evidenceOf } from "./collector.ts";

/** Without the token of a Splunk stream. */
const streamSettings = ["accountId", "edition", "eventSourceName", "host", "region"].map((name) => `settings.${name}`);

/** The fields that are kept of each entry: the ones that checks read, and the ones that `fix` writes back. */
const listFields = {
  authenticators: ["id", "key", "name", "type", "status", "settings"],
  network_zones: "id name type status usage proxyType asns locations ipServiceCategories gateways proxies".split(" "),
  api_tokens: ["id", "name", "userId", "clientName", "created", "network"],
  log_streams: ["id", "name", "type", "status", ...streamSettings],
  built_in_groups: ["id", "type", "profile.name"],
  saml_idps: ["id", "name", "type", "status", "policy.provisioning.profileMaster"],
} as const;

const builtInGroupsPath = `/api/v1/groups?filter=${encodeURIComponent('type eq "BUILT_IN"')}&limit=200`;

/** Artifacts that are one list. */
export const collectAuthenticators: Collector<"authenticators"> = (context) =>
  list(context, {
    path: "/api/v1/authenticators",
    scope: "authenticators.read",
    fields: listFields.authenticators,
  });

export const collectNetworkZones: Collector<"network_zones"> = (context) =>
  list(context, {
    path: "/api/v1/zones?limit=200",
    scope: "networkZones.read",
    fields: listFields.network_zones,
  });

export const collectApiTokens: Collector<"api_tokens"> = (context) =>
  list(context, { path: "/api/v1/api-tokens", scope: "apiTokens.read", fields: listFields.api_tokens });

export const collectLogStreams: Collector<"log_streams"> = (context) =>
  list(context, {
    path: "/api/v1/logStreams?limit=200",
    scope: "logStreams.read",
    fields: listFields.log_streams,
  });

export const collectBuiltInGroups: Collector<"built_in_groups"> = (context) =>
  list(context, { path: builtInGroupsPath, scope: "groups.read", fields: listFields.built_in_groups });

export const collectSamlIdps: Collector<"saml_idps"> = (context) =>
  list(context, { path: "/api/v1/idps?type=SAML2&limit=200", scope: "idps.read", fields: listFields.saml_idps });

interface ListRequest extends IdpRequest {
  readonly fields: readonly string[];
}

async function list({ client }: CollectorContext, { path, scope, fields }: ListRequest): Promise<Evidence<JsonList>> {
  return evidenceOf(await client.getList({ path, scope, keep: keeping(fields) }));
}
