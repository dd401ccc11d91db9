import { isLoopback } from "../../../shared/loopback.ts";
import { UsageError } from "../../../shared/usage_error.ts";
import {
  createEnvironmentReader,
  InvalidSetting,
  type Environment,
  type EnvironmentReader,
} from "../../../shared/environment_reader.ts";
import { type GatewayConfig, parseConfig, settingsError } from "../../config.ts";

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
  const reader = createEnvironmentReader(environment);
  const gateway = parseGateway(environment, reader);
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
  const databaseHttpUrl = reader.parsed("DATABASE_HTTP_URL", httpUrl, parseHttpUrl);
  const shardsPerTenant = reader.integer("EVENTSTREAM_SHARDS_PER_TENANT", { fallback: 1, min: 1, max: maxShards });
  const { databaseUrl = null, streamTokenSecret = null, broker } = gateway ?? {};
  if (
    reader.problems.length > 0 ||
    gateway === null ||
    databaseUrl === null ||
    streamTokenSecret === null ||
    broker?.kind !== "upstash"
  ) {
    throw settingsError(reader.problems);
  }
  const { url, token, databaseNumber: database } = broker;
  return {
    gateway,
    databaseUrl,
    databaseHttpUrl,
    upstash: { url, token, database },
    streamTokenSecret,
    shardsPerTenant,
  };
}

function parseGateway(environment: Environment, { report }: EnvironmentReader): GatewayConfig | null {
  try {
    return parseConfig(environment);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    for (const problem of error.problems) report(problem);
    return null;
  }
}

/** The whole connection string travels to this address, password and all. */
function parseHttpUrl(value: string): string {
  const url = URL.canParse(value) ? new URL(value) : null;
  if (url?.protocol === "https:" || (url?.protocol === "http:" && isLoopback(url.hostname))) return url.href;
  throw new InvalidSetting("expected the https:// URL of a proxy that speaks Neon's SQL over HTTP");
}
