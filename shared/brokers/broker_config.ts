import type { EnvironmentReader } from "../environment_reader.ts";
import { parseRedisUrl } from "./redis_url.ts";
import { parseCredential, parseServiceUrl } from "./service_url.ts";

/** Which broker the environment names; the same variables for publishers and subscribers. */
export type BrokerConfig =
  | { readonly kind: "memory" }
  | {
      readonly kind: "redis";
      readonly url: string;
      readonly databaseNumber: number;
      /** Another number in `REDIS_URL`, which does not count. */
      readonly ignoredDatabase: number | null;
    }
  | { readonly kind: "upstash"; readonly url: string; readonly token: string; readonly databaseNumber: number };

/** `memory` when none is named. What is wrong is reported to the reader. */
export function parseBrokerConfig(reader: EnvironmentReader): BrokerConfig {
  // Redis answers a larger number as it answers no number at all.
  const databaseNumber = reader.integer("EVENTSTREAM_CACHE_DB", { fallback: 2, min: 0, max: 2 ** 31 - 1 });
  const [givenUrl, givenToken] = [reader.text("UPSTASH_REDIS_REST_URL"), reader.text("UPSTASH_REDIS_REST_TOKEN")];
  const restUrl = reader.parsed("UPSTASH_REDIS_REST_URL", givenUrl, parseServiceUrl);
  const token = reader.parsed("UPSTASH_REDIS_REST_TOKEN", givenToken, parseCredential);
  const redisUrl = reader.text("REDIS_URL");
  const address = reader.parsed("REDIS_URL", redisUrl, parseRedisUrl);
  if (givenUrl !== null && givenToken === null) {
    reader.report("UPSTASH_REDIS_REST_TOKEN: required with UPSTASH_REDIS_REST_URL: expected the database's REST token");
  }
  if (givenToken !== null && givenUrl === null) {
    reader.report("UPSTASH_REDIS_REST_URL: required with UPSTASH_REDIS_REST_TOKEN: expected https://<name>.upstash.io");
  }
  // Both may be set where a platform injects several addresses of one server; REST works on every runtime.
  if (restUrl !== null && token !== null) return { kind: "upstash", url: restUrl, token, databaseNumber };
  if (redisUrl === null || address === null) return { kind: "memory" };
  const named = address.kind === "single" ? address.database : null;
  return { kind: "redis", url: redisUrl, databaseNumber, ignoredDatabase: named === databaseNumber ? null : named };
}
