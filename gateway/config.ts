import { defaultHeartbeatSeconds } from "../shared/client/subscribe_options.ts";
import { settingsError } from "../shared/usage_error.ts";
import { parseBrokerConfig } from "../shared/brokers/broker_config.ts";
import {
  createEnvironmentReader,
  InvalidSetting,
  type Environment,
  type EnvironmentReader,
} from "../shared/environment_reader.ts";
import { levels, type LogLevel } from "./observability/log.ts";
import { defaultTenantPercent } from "./limits.ts";
import { isJsonObject, parseJsonObject } from "../shared/json.ts";
import { isLoopback } from "../shared/loopback.ts";

/** The gateway's environment, read once: pure, so that Node, Deno and Workers share it. */
export type GatewayConfig = Readonly<ReturnType<typeof readConfig>>;

/** Public keys that tokens are checked with, https://www.rfc-editor.org/rfc/rfc7517#section-5 */
export interface Jwks {
  readonly keys: readonly Readonly<Record<string, unknown>>[];
}

/** An issuer whose JWTs are accepted, with its public keys or their address. */
export type IssuerOptions = {
  readonly issuer: string;
  readonly audience: string;
  /** Default `tenant_id`. */
  readonly tenantClaim?: string;
} & ({ readonly url: string } | { readonly jwks: Jwks });

/** The live page as a public client of the issuer. */
export type SignInConfig = Readonly<NonNullable<ReturnType<typeof parseSignIn>>>;

export type StreamBounds = Readonly<ReturnType<typeof parseBounds>>;

/** The bounds of an embedded gateway, each with its default. */
export function toBounds(given: Partial<StreamBounds> = {}): StreamBounds {
  return { ...parseBounds(createEnvironmentReader({}), given), ...given };
}

/** Reads and checks the whole environment. Throws as `readVariables`. */
export function parseConfig(environment: Environment): GatewayConfig {
  return readVariables(environment, readConfig);
}

/** Parses the part that the administrative commands need: they run where no gateway is configured. */
export function parseAdminConfig(environment: Environment) {
  return readVariables(environment, (reader) => ({
    databaseUrl: parseDatabaseUrl(reader),
    hasIssuer: reader.text("AUTH_JWKS_URL") !== null || reader.text("AUTH_JWKS") !== null,
    tenantClaim: reader.text("AUTH_TENANT_CLAIM") ?? "tenant_id",
  }));
}

/** Throws `UsageError` with every problem of every variable, and no message holds a value; an empty value counts as unset. */
export function readVariables<Config>(
  environment: Environment,
  read: (reader: EnvironmentReader) => Config,
): Readonly<Config> {
  const reader = createEnvironmentReader(environment);
  const config = read(reader);
  if (reader.problems.length > 0) throw settingsError(reader.problems);
  return config;
}

export function readConfig(reader: EnvironmentReader) {
  const port = reader.integer("PORT", { fallback: 8787, min: 0, max: 65_535 });
  const auth = parseAuth(reader);
  return {
    host: reader.pattern("HOST", /^[A-Za-z0-9._:%-]+$/, "a host name or IP address") ?? "127.0.0.1",
    /** 0: any free port. */
    port,
    /** When set, `/metrics` is served there and nowhere else. */
    metricsPort: parseMetricsPort(reader, port),
    /** Less severe lines are dropped. */
    logLevel: reader.parsed("LOG_LEVEL", reader.text("LOG_LEVEL") ?? undefined, parseLogLevel) ?? "info",
    /** Null: embedded PGlite. */
    databaseUrl: parseDatabaseUrl(reader),
    broker: parseBrokerConfig(reader),
    auth,
    /** Null: on the page a token or key is pasted. */
    signIn: parseSignIn(reader, auth),
    /** Null: generated and kept next to the embedded database. */
    streamTokenSecret: parseStreamTokenSecret(reader),
    /** Exact origins, as browsers send them. */
    corsOrigins: reader.parsed("CORS_ORIGINS", reader.text("CORS_ORIGINS"), parseOrigins) ?? [],
    /** How long after SIGTERM the gateway reports not ready before it closes its port. */
    drainDelaySeconds: reader.seconds("DRAIN_DELAY_SECONDS", 5, { least: "0" }),
    /** How long ended scans and monitors are kept; null: for ever. */
    retentionDays: reader.integer("RETENTION_DAYS", { fallback: null, min: 1, max: 36_500 }),
    /** How long the history of organizations is kept. */
    historyDays: reader.integer("HISTORY_DAYS", { fallback: 400, min: 1, max: 36_500 }),
    bounds: parseBounds(reader),
    /** How many proxies before this gateway append to `X-Forwarded-For`; 0: nobody is believed. Null: unset. */
    trustedProxyHops: reader.integer("TRUSTED_PROXY_HOPS", { fallback: null, min: 0, max: 10 }),
  };
}

function parseDatabaseUrl(reader: EnvironmentReader): string | null {
  return reader.url("DATABASE_URL", ["postgres:", "postgresql:"], "postgres://user:password@host/database");
}

function parseBounds(reader: EnvironmentReader, given: { readonly maxStreams?: number } = {}) {
  const count = (name: string, fallback: number) =>
    reader.integer(name, { fallback, min: 1, max: Number.MAX_SAFE_INTEGER });
  const maxStreams = count("EVENTSTREAM_MAX_STREAMS", given.maxStreams ?? 50_000);
  const ofTenant = Math.max(1, Math.min(1000, Math.floor((maxStreams * defaultTenantPercent) / 100)));
  return {
    heartbeatSeconds: reader.seconds("EVENTSTREAM_HEARTBEAT_SECONDS", defaultHeartbeatSeconds),
    recheckSeconds: reader.seconds("EVENTSTREAM_RECHECK_SECONDS", 30),
    maxBufferBytes: count("EVENTSTREAM_MAX_BUFFER_BYTES", 1_048_576),
    maxStreams,
    maxStreamsPerTenant: count("EVENTSTREAM_MAX_STREAMS_PER_TENANT", ofTenant),
    /** How much of each other limit of the process one tenant may take (`limits.ts`). */
    tenantPercent: reader.integer("TENANT_MAX_PERCENT", { fallback: defaultTenantPercent, min: 1, max: 100 }),
    maxLifetimeSeconds: reader.seconds("EVENTSTREAM_MAX_LIFETIME_SECONDS", 3600),
  };
}

function parseMetricsPort(reader: EnvironmentReader, port: number): number | null {
  const metricsPort = reader.integer("METRICS_PORT", { fallback: null, min: 0, max: 65_535 });
  if (metricsPort !== 0 && metricsPort === port) reader.report("METRICS_PORT: expected another port than PORT");
  return metricsPort;
}

/** The issuer whose JWTs are accepted. `local`: those of the development key of this folder. */
function parseAuth(reader: EnvironmentReader) {
  const tenantClaim = reader.text("AUTH_TENANT_CLAIM") ?? "tenant_id";
  const [given, other] = ["AUTH_JWKS_URL", "AUTH_JWKS"].filter((name) => reader.text(name) !== null);
  const url = reader.url("AUTH_JWKS_URL", ["https:", "http:"], "https://<issuer>/.well-known/jwks.json");
  const jwks = reader.parsed("AUTH_JWKS", reader.text("AUTH_JWKS"), parseKeySet);
  if (other !== undefined) reader.report("AUTH_JWKS_URL, AUTH_JWKS: expected one of the two, not both");
  const require = (name: string, expected: string) => {
    const value = reader.text(name);
    // Without its own keys the gateway would silently trust the development key instead of this issuer.
    if (given === undefined && value !== null)
      reader.report(`${name}: set without keys: expected AUTH_JWKS_URL or AUTH_JWKS as well`);
    if (given !== undefined && value === null) reader.report(`${name}: required with ${given}: expected ${expected}`);
    return value ?? "";
  };
  const issuer = require("AUTH_ISSUER", 'the exact "iss" of accepted tokens');
  const audience = require("AUTH_AUDIENCE", 'the "aud" that names this gateway');
  if (given === undefined) return { kind: "local", tenantClaim } as const;
  if (url !== null) return { kind: "jwks_url", url, tenantClaim, issuer, audience } as const;
  return { kind: "jwks", jwks: jwks ?? { keys: [] }, tenantClaim, issuer, audience } as const;
}

function parseSignIn(reader: EnvironmentReader, auth: ReturnType<typeof parseAuth>) {
  const clientId = reader.pattern(
    "OIDC_CLIENT_ID",
    /^[\x21-\x7e]{1,256}$/,
    "the client id of a public client at AUTH_ISSUER",
  );
  // https://www.rfc-editor.org/rfc/rfc6749#section-3.3
  const scopes = reader.pattern(
    "OIDC_SCOPES",
    /^(?=(?:.* )?openid(?: |$))[\x21\x23-\x5b\x5d-\x7e]+(?: [\x21\x23-\x5b\x5d-\x7e]+)*$/,
    "scopes with one space between them, openid among them",
  );
  if (reader.text("OIDC_CLIENT_ID") === null) {
    if (scopes !== null) reader.report("OIDC_SCOPES: set without a client: expected OIDC_CLIENT_ID as well");
    return null;
  }
  const issuer = reader.text("AUTH_ISSUER");
  if (auth.kind === "local") {
    if (issuer === null) reader.report("OIDC_CLIENT_ID: set without an issuer: expected AUTH_ISSUER as well");
    return null;
  }
  if (issuer !== null && !isIssuerAddress(issuer)) {
    reader.report(
      "AUTH_ISSUER: with OIDC_CLIENT_ID expected an address, https://<issuer>; http:// on this machine only",
    );
  }
  const { audience, tenantClaim } = auth;
  return {
    issuer: auth.issuer,
    clientId: clientId ?? "",
    /** With spaces between them. */
    scopes: scopes ?? "openid profile email",
    audience,
    tenantClaim,
  };
}

/** An address that a browser may be sent to, and a code may be redeemed at: unencrypted on this machine only. */
export function isIssuerAddress(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || url.username !== "" || url.password !== "" || url.hash !== "") return false;
  return url.protocol === "https:" || (url.protocol === "http:" && isLoopback(url.hostname));
}

/** The set has at least one key, and holds no secret. `jwt.ts` imports them. */
function parseKeySet(text: string): Jwks {
  const keys = parseJsonObject(text)?.["keys"];
  if (Array.isArray(keys) && keys.length > 0 && keys.every(isPublicKey)) return { keys };
  throw new InvalidSetting(
    'expected the JSON of a key set, {"keys":[…]}, with one public key (RSA, EC or OKP) or more',
  );
}

/** A private or symmetric key here is a secret in the wrong place. */
function isPublicKey(key: unknown): key is Jwks["keys"][number] {
  return isJsonObject(key) && !("d" in key) && !("k" in key);
}

function parseStreamTokenSecret(reader: EnvironmentReader): string | null {
  const secret = reader.text("STREAM_TOKEN_SECRET");
  const isMissing = secret === null && reader.text("DATABASE_URL") !== null;
  const isShort = secret !== null && new TextEncoder().encode(secret).byteLength < 32;
  const problem = isMissing ? "required with DATABASE_URL: " : "";
  if (isMissing || isShort) reader.report(`STREAM_TOKEN_SECRET: ${problem}expected 32 random bytes or more`);
  return secret;
}

function parseOrigins(list: string): readonly string[] {
  const origins = list.split(",").map((entry) => toOrigin(entry.trim()));
  if (!origins.includes(null)) return origins.filter((origin) => origin !== null);
  throw new InvalidSetting("expected a comma list of origins like https://app.example.com, without any path");
}

/** The origin as a browser sends it, or null for anything that is more or less than an origin. */
export function toOrigin(entry: string): string | null {
  if (!/^https?:\/\/[^/?#@*\s]+$/i.test(entry) || !URL.canParse(entry)) return null;
  return new URL(entry).origin;
}

function parseLogLevel(text: string): LogLevel {
  const level = levels.find((each) => each === text.toLowerCase());
  if (level === undefined) throw new InvalidSetting(`expected one of ${levels.join(", ")}`);
  return level;
}
