import { isLoopback } from "../../../shared/loopback.ts";
import { InvalidSetting, type Environment } from "../../../shared/environment_reader.ts";
import { settingsError } from "../../../shared/usage_error.ts";
import { readConfig, readVariables } from "../../config.ts";

/** More objects for one tenant than this would each hold next to nothing. */
const maxShards = 256;

/** As `parseConfig`, with the parts that have no default on Workers. Throws `UsageError` with every problem found. */
export function parseWorkerConfig(environment: Environment) {
  const config = readVariables(environment, (reader) => {
    const gateway = readConfig(reader);
    // There is no folder, no process and no TCP broker to fall back on.
    if (reader.text("DATABASE_URL") === null) {
      reader.report("DATABASE_URL: required on Workers: expected a Neon database's URL");
    }
    if (reader.text("UPSTASH_REDIS_REST_URL") === null && reader.text("UPSTASH_REDIS_REST_TOKEN") === null) {
      reader.report(
        "UPSTASH_REDIS_REST_URL, UPSTASH_REDIS_REST_TOKEN: required on Workers: expected an Upstash database",
      );
    }
    const httpUrl = reader.text("DATABASE_HTTP_URL") ?? undefined;
    return {
      ...gateway,
      /** Null: Neon's own, which the host of `DATABASE_URL` names. */
      databaseHttpUrl: reader.parsed("DATABASE_HTTP_URL", httpUrl, parseHttpUrl),
      shardsPerTenant: reader.integer("EVENTSTREAM_SHARDS_PER_TENANT", { fallback: 1, min: 1, max: maxShards }),
    };
  });
  const { databaseUrl, broker, streamTokenSecret } = config;
  if (databaseUrl !== null && streamTokenSecret !== null && broker.kind === "upstash") {
    return { ...config, databaseUrl, broker, streamTokenSecret };
  }
  throw settingsError("DATABASE_URL, STREAM_TOKEN_SECRET, UPSTASH_REDIS_REST_URL: required on Workers");
}

/** The whole connection string travels to this address, password and all. */
function parseHttpUrl(value: string): string {
  const url = URL.canParse(value) ? new URL(value) : null;
  if (url?.protocol === "https:" || (url?.protocol === "http:" && isLoopback(url.hostname))) return url.href;
  throw new InvalidSetting("expected the https:// URL of a proxy that speaks Neon's SQL over HTTP");
}
