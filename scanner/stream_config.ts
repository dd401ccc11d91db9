import type { Environment } from "./config.ts";
import { UsageError } from "./usage_error.ts";

/** Where a scan is registered and published. */
export interface StreamConfig {
  readonly gatewayUrl: string;
  readonly apiKey: string;
  /** Straight to the broker; null: events go through the gateway. */
  readonly broker: BrokerConfig | null;
}

export type BrokerConfig =
  | { readonly kind: "redis"; readonly url: string; readonly database: number }
  | { readonly kind: "upstash"; readonly url: string; readonly token: string; readonly database: number };

const defaultDatabase = 2;

/** Null when no gateway is named. Throws `UsageError` naming every variable that is wrong, never its value. */
export function readStreamConfig(env: Environment): StreamConfig | null {
  const problems: string[] = [];
  const read = (name: string) => {
    const value = env[name]?.trim();
    return value === undefined || value === "" ? null : value;
  };
  const gatewayUrl = read("SCANSTREAM_URL");
  const apiKey = read("SCANSTREAM_API_KEY");
  if (gatewayUrl !== null && !isHttpUrl(gatewayUrl)) {
    problems.push(
      "SCANSTREAM_URL: is not an address: expected that of a gateway, such as https://scanstream.example.com",
    );
  }
  if (gatewayUrl !== null && apiKey === null) {
    problems.push(
      "SCANSTREAM_API_KEY: is not set: expected a key of the gateway that SCANSTREAM_URL names (admin api-key create)",
    );
  }
  if (gatewayUrl === null && apiKey !== null) {
    problems.push("SCANSTREAM_URL: is not set: expected the address of the gateway that SCANSTREAM_API_KEY belongs to");
  }
  if (apiKey !== null && !/^[\x21-\x7e]+$/.test(apiKey)) {
    problems.push(
      "SCANSTREAM_API_KEY: holds blanks or unprintable characters: expected a key as admin api-key create shows it",
    );
  }
  const broker = gatewayUrl === null ? null : readBroker(read, problems);
  if (problems.length > 0) throw new UsageError(problems);
  return gatewayUrl === null || apiKey === null ? null : { gatewayUrl, apiKey, broker };
}

function readBroker(read: (name: string) => string | null, problems: string[]): BrokerConfig | null {
  const databaseText = read("EVENTSTREAM_CACHE_DB") ?? String(defaultDatabase);
  const database = Number(databaseText);
  if (!/^\d{1,6}$/.test(databaseText))
    problems.push("EVENTSTREAM_CACHE_DB: is not a database number: expected a whole number from 0");
  const url = read("UPSTASH_REDIS_REST_URL");
  const token = read("UPSTASH_REDIS_REST_TOKEN");
  if ((url === null) !== (token === null)) {
    const missing = url === null ? "UPSTASH_REDIS_REST_URL" : "UPSTASH_REDIS_REST_TOKEN";
    problems.push(
      `${missing}: is not set: expected both UPSTASH_REDIS_REST_URL and UPSTASH_REDIS_REST_TOKEN, or neither`,
    );
  }
  if (url !== null && !isHttpUrl(url)) problems.push("UPSTASH_REDIS_REST_URL: is not an address: expected https://…");
  if (url !== null && token !== null) return { kind: "upstash", url, token, database };
  const redisUrl = read("REDIS_URL");
  if (redisUrl === null) return null;
  if (!URL.canParse(redisUrl) || !/^rediss?:$/.test(new URL(redisUrl).protocol)) {
    problems.push("REDIS_URL: is not an address: expected redis://host:port or rediss://host:port");
  }
  return { kind: "redis", url: redisUrl, database };
}

function isHttpUrl(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}
