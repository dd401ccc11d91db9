import type { Evidence, JsonList } from "../artifacts.ts";
import { firstRequests } from "../../okta/probe_requests.ts";
import { keeping, type CollectorContext, evidenceOf } from "./collector.ts";

/** Without the token of a Splunk stream. */
const streamSettings = ["accountId", "edition", "eventSourceName", "host", "region"].map((name) => `settings.${name}`);

/** The fields that are kept of each entry: the ones that checks read, and the ones that `fix` writes back. */
const listFields = {
  authenticators: ["id", "key", "name", "type", "status", "settings"],
  network_zones: "id name type status usage proxyType asns locations ipServiceCategories gateways proxies".split(" "),
  api_tokens: ["id", "name", "userId", "clientName", "created", "network"],
  log_streams: ["id", "name", "type", "status", ...streamSettings],
  built_in_groups: ["id", "type", "profile.name"],
  access_policies: ["id", "type", "name", "status"],
  saml_idps: ["id", "name", "type", "status", "policy.provisioning.profileMaster"],
} as const;

/** A collector of an artifact that is one list. */
export function listCollector(
  name: keyof typeof listFields,
): (context: CollectorContext) => Promise<Evidence<JsonList>> {
  const keep = keeping(listFields[name]);
  return async ({ client }) => evidenceOf(await client.getList({ ...firstRequests[name], keep }));
}
