import type { Evidence, JsonList } from "../artifacts.ts";
import type { Collector, CollectorContext } from "./collector.ts";
import { evidenceOf } from "./evidence_of.ts";

/** Artifacts that are one list as it came. */
export const collectAuthenticators: Collector<"authenticators"> = (context) =>
  list(context, "/api/v1/authenticators", "authenticators.read");

export const collectNetworkZones: Collector<"network_zones"> = (context) =>
  list(context, "/api/v1/zones?limit=200", "networkZones.read");

export const collectApiTokens: Collector<"api_tokens"> = (context) =>
  list(context, "/api/v1/api-tokens", "apiTokens.read");

export const collectLogStreams: Collector<"log_streams"> = (context) =>
  list(context, "/api/v1/logStreams?limit=200", "logStreams.read");

async function list({ client }: CollectorContext, path: string, scope: string): Promise<Evidence<JsonList>> {
  return evidenceOf(await client.getList({ path, scope }));
}
