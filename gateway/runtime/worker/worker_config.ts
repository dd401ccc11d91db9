import { type GatewayConfig, parseConfig, settingsError } from "../../config.ts";
import { isLoopback } from "../../../shared/loopback.ts";
import { UsageError } from "../../../shared/usage_error.ts";
import type { Environment } from "../../../shared/environment_reader.ts";

/** The result of `parseConfig`, with the parts that have no default on Workers. */
export interface WorkerConfig {
  readonly gateway: GatewayConfig;
  readonly databaseUrl: string;
  /** Null: Neon's own, which the host of `DATABASE_URL` names. */
  readonly databaseHttpUrl: string | null;
  readonly upstash: { readonly url: string; readonly token: string; readonly database: number };
  readonly streamTokenSecret: string;
  readonly shardsPerTenant: number;
}

/** More objects for one tenant than this would each hold next to nothing. */
const maxShards = 256;

/** Checks a Worker's variables and secrets. Throws `UsageError` with every problem found. */
export function parseWorkerConfig(environment: Environment): WorkerConfig {
  const problems: string[] = [];
  const gateway = parsedOr(problems, () => parseConfig(environment));
  const isSet = (name: string) => typeof environment[name] === "string" && environment[name].trim() !== "";
  // There is no folder, no process and no TCP broker to fall back on.
  if (!isSet("DATABASE_URL")) problems.push("DATABASE_URL: required on Workers: expected a Neon database's URL");
  if (!isSet("UPSTASH_REDIS_REST_URL") && !isSet("UPSTASH_REDIS_REST_TOKEN")) {
    problems.push(
      "UPSTASH_REDIS_REST_URL, UPSTASH_REDIS_REST_TOKEN: required on Workers: expected an Upstash database",
    );
  }
  const databaseHttpUrl = parseHttpUrl(environment["DATABASE_HTTP_URL"], problems);
  const shardsPerTenant = parseShards(environment["EVENTSTREAM_SHARDS_PER_TENANT"], problems);
  if (
    problems.length > 0 ||
    gateway === null ||
    gateway.databaseUrl === null ||
    gateway.streamTokenSecret === null ||
    gateway.broker.kind !== "upstash"
  ) {
    throw settingsError(problems);
  }
  const { url, token, databaseNumber: database } = gateway.broker;
  return {
    gateway,
    databaseUrl: gateway.databaseUrl,
    databaseHttpUrl,
    upstash: { url, token, database },
    streamTokenSecret: gateway.streamTokenSecret,
    shardsPerTenant,
  };
}

function parsedOr<Result>(problems: string[], parse: () => Result): Result | null {
  try {
    return parse();
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    problems.push(...error.problems);
    return null;
  }
}

/** The whole connection string travels to this address, password and all. */
function parseHttpUrl(value: unknown, problems: string[]): string | null {
  if (typeof value !== "string" || value.trim() === "") return null;
  const url = URL.canParse(value) ? new URL(value) : null;
  if (url?.protocol === "https:" || (url?.protocol === "http:" && isLoopback(url.hostname))) return url.href;
  problems.push("DATABASE_HTTP_URL: expected the https:// URL of a proxy that speaks Neon's SQL over HTTP");
  return null;
}

function parseShards(value: unknown, problems: string[]): number {
  if (typeof value !== "string" || value.trim() === "") return 1;
  const count = /^\d+$/.test(value.trim()) ? Number(value) : Number.NaN;
  if (count >= 1 && count <= maxShards) return count;
  problems.push(`EVENTSTREAM_SHARDS_PER_TENANT: expected an integer from 1 to ${maxShards}`);
  return 1;
}
