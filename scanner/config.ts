import type { Environment } from "../command_line/command_io.ts";
import { readFileSync, statSync } from "node:fs";
import { parsePrivateKey, PrivateKeyError, type SigningKey } from "./idp/private_key.ts";

/** Everything the scanner must know to log in and read. Parsed: what is in here is valid. */
export interface ScannerConfig {
  /** The organization's origin, without a trailing slash: `https://acme.okta.com`. */
  readonly orgUrl: string;
  readonly clientId: string;
  readonly key: SigningKey;
  /** Without prefix: `policies.read`. */
  readonly scopes: readonly string[];
  /** null: asked from the organization. */
  readonly scopePrefix: "okta" | "idp" | null;
  /** How many requests may be under way at once. */
  readonly concurrency: number;
  /** Bound on one request, its body included. */
  readonly timeoutMs: number;
  readonly proxy: ProxyConfig;
}

/** For `https://` organizations only: `http://` ones are on this machine, where no proxy is needed. */
export interface ProxyConfig {
  /** null: none. May carry a password, so it is never shown. */
  readonly httpsProxy: string | null;
  readonly noProxy: string;
}

/** The command line's share; everything as typed. */
export interface ScannerFlags {
  readonly orgUrl?: string | undefined;
  readonly clientId?: string | undefined;
  readonly privateKeyFile?: string | undefined;
  readonly concurrency?: string | undefined;
  readonly timeout?: string | undefined;
}

export interface ConfigProblem {
  /** The variable or flag that is wrong or missing: `IDP_ORG_URL`, `--timeout`. */
  readonly name: string;
  /** What it should be. Never holds the value. */
  readonly message: string;
}

/** Every problem of the configuration at once (exit code 2). */
export class ConfigError extends Error {
  readonly problems: readonly ConfigProblem[];

  constructor(problems: readonly ConfigProblem[]) {
    super(`Cannot configure the scanner:\n${problems.map(({ name, message }) => `  ${name}: ${message}`).join("\n")}`);
    this.name = "ConfigError";
    this.problems = problems;
  }
}

/** The ten scopes of the default request; `users.read` is used when `IDP_SCOPES` asks for it and it is granted. */
export const defaultScopes: readonly string[] = [
  "policies.read",
  "brands.read",
  "apps.read",
  "authenticators.read",
  "networkZones.read",
  "apiTokens.read",
  "roles.read",
  "groups.read",
  "logStreams.read",
  "idps.read",
];

/** The provider allows 35 at once at the least (https://developer.okta.com/docs/reference/rl2-limits/); this leaves room for others. */
const defaultConcurrency = 20;
const maxConcurrency = 50;
const defaultTimeoutSeconds = 30;
const maxTimeoutSeconds = 600;
const maxKeyFileBytes = 131_072;

/** Reads flags and environment; a flag wins over its variable. Throws `ConfigError` that names every problem. */
export function readScannerConfig(flags: ScannerFlags, env: Environment): ScannerConfig {
  const reader = new ConfigReader(env);
  const orgUrl = reader.read(named("IDP_ORG_URL", "--org-url", flags.orgUrl), parseOrgUrl);
  const clientId = reader.read(named("IDP_CLIENT_ID", "--client-id", flags.clientId), parseClientId);
  const key = reader.readKey(flags.privateKeyFile);
  const scopes = reader.readOptional("IDP_SCOPES", parseScopes) ?? defaultScopes;
  const scopePrefix = reader.readOptional("IDP_SCOPE_PREFIX", parseScopePrefix);
  const concurrency = reader.check("--concurrency", flags.concurrency, parseConcurrency) ?? defaultConcurrency;
  const timeoutMs = reader.check("--timeout", flags.timeout, parseTimeout) ?? defaultTimeoutSeconds * 1000;
  const proxy = reader.readProxy();
  if (reader.problems.length > 0 || orgUrl === null || clientId === null || key === null) {
    throw new ConfigError(reader.problems);
  }
  return { orgUrl, clientId, key, scopes, scopePrefix, concurrency, timeoutMs, proxy };
}

interface NamedSetting {
  readonly variable: string;
  readonly flag: string;
  readonly given: string | undefined;
}

function named(variable: string, flag: string, given: string | undefined): NamedSetting {
  return { variable, flag, given };
}

type Parse<Value> = (text: string) => Value;

/** A refusal of one value: what it should be, without the value. */
class Refused extends Error {}

class ConfigReader {
  readonly problems: ConfigProblem[] = [];
  readonly #env: Environment;

  constructor(env: Environment) {
    this.#env = env;
  }

  read<Value>(setting: NamedSetting, parse: Parse<Value>): Value | null {
    if (setting.given !== undefined) return this.check(setting.flag, setting.given, parse);
    const text = this.#variable(setting.variable);
    if (text !== null) return this.check(setting.variable, text, parse);
    this.#add(
      setting.variable,
      `is not set: expected ${expectations[setting.variable] ?? "a value"} (or ${setting.flag})`,
    );
    return null;
  }

  readOptional<Value>(variable: string, parse: Parse<Value>): Value | null {
    return this.check(variable, this.#variable(variable) ?? undefined, parse);
  }

  check<Value>(name: string, text: string | undefined, parse: Parse<Value>): Value | null {
    if (text === undefined) return null;
    try {
      return parse(text.trim());
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      this.#add(name, error.message);
      return null;
    }
  }

  /** The flag wins, then the content, then the file. */
  readKey(flagFile: string | undefined): SigningKey | null {
    const content = this.#variable("IDP_PRIVATE_KEY");
    if (flagFile === undefined && content !== null) return this.#parseKey("IDP_PRIVATE_KEY", content);
    const name = flagFile === undefined ? "IDP_PRIVATE_KEY_FILE" : "--private-key-file";
    const path = flagFile ?? this.#variable("IDP_PRIVATE_KEY_FILE");
    if (path === null || path.trim() === "") {
      this.#add(
        "IDP_PRIVATE_KEY",
        `is not set: expected ${expectations["IDP_PRIVATE_KEY"]} (or IDP_PRIVATE_KEY_FILE, or --private-key-file)`,
      );
      return null;
    }
    const text = this.#readFile(name, path.trim());
    return text === null ? null : this.#parseKey(name, text);
  }

  readProxy(): ProxyConfig {
    const name = this.#variable("https_proxy") === null ? "HTTPS_PROXY" : "https_proxy";
    const httpsProxy = this.readOptional(name, parseProxy);
    return { httpsProxy, noProxy: this.#variable("no_proxy") ?? this.#variable("NO_PROXY") ?? "" };
  }

  #parseKey(name: string, text: string): SigningKey | null {
    try {
      return parsePrivateKey(text, { keyId: this.readOptional("IDP_PRIVATE_KEY_ID", parseKeyId) });
    } catch (error) {
      if (!(error instanceof PrivateKeyError)) throw error;
      this.#add(name, `is not a usable private key. ${error.message}`);
      return null;
    }
  }

  #readFile(name: string, path: string): string | null {
    try {
      const { size } = statSync(path);
      if (size <= maxKeyFileBytes) return readFileSync(path, "utf8");
      this.#add(name, `names a file of ${size} bytes; a key has at most ${maxKeyFileBytes}`);
    } catch (error) {
      this.#add(name, `names a file that cannot be read: ${fileProblem(error)}`);
    }
    return null;
  }

  /** An empty variable is an unset one: CI systems pass secrets that do not exist as empty text. */
  #variable(name: string): string | null {
    const value = this.#env[name];
    return value === undefined || value.trim() === "" ? null : value;
  }

  #add(name: string, message: string): void {
    this.problems.push({ name, message });
  }
}

const expectations: Readonly<Record<string, string>> = {
  IDP_ORG_URL: "the organization's address, such as https://acme.okta.com",
  IDP_CLIENT_ID: "the client id of the service application",
  IDP_PRIVATE_KEY: "the service application's private key, as PEM, JWK or JWKS",
};

const providerDomains = /\.(okta|oktapreview|okta-emea|okta-gov|okta-miltest|trex-govcloud)\.(com|mil)$|\.okta\.mil$/;

function parseOrgUrl(text: string): string {
  const expected = `expected ${expectations["IDP_ORG_URL"]}`;
  if (text === "") throw new Refused(`is empty: ${expected}`);
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) throw new Refused(`is not a URL with https://: ${expected}`);
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || url.hostname === "") throw new Refused(`is not a URL: ${expected}`);
  if (url.username !== "" || url.password !== "") throw new Refused(`holds a user name or password: ${expected}`);
  if (url.pathname !== "/" || url.search !== "" || url.hash !== "") {
    throw new Refused(`has a path, query or fragment: ${expected}`);
  }
  if (url.protocol === "http:" && !isLoopback(url.hostname)) {
    throw new Refused("is http:// and not on this machine: expected https:// (http:// only for loopback)");
  }
  if (url.protocol !== "https:" && url.protocol !== "http:") throw new Refused(`is not https://: ${expected}`);
  if (providerDomains.test(url.hostname) && /^[^.]+-admin\./.test(url.hostname)) {
    throw new Refused("is the address of the admin console: expected the organization's own, without -admin");
  }
  return url.origin;
}

function isLoopback(hostname: string): boolean {
  return (
    hostname === "localhost" ||
    hostname.endsWith(".localhost") ||
    hostname === "[::1]" ||
    /^127(\.\d+){3}$/.test(hostname)
  );
}

function parseClientId(text: string): string {
  if (/^[A-Za-z0-9._~-]{1,200}$/.test(text)) return text;
  throw new Refused(`is not a client id: expected ${expectations["IDP_CLIENT_ID"]}, such as 0oa1b2c3d4e5f6g7h8i9`);
}

function parseKeyId(text: string): string {
  if (/^[\x21-\x7e]{1,200}$/.test(text)) return text;
  throw new Refused("is not a key id: expected at most 200 printable characters without blanks");
}

function parseScopes(text: string): readonly string[] {
  const scopes = text
    .split(/[\s,]+/)
    .filter((scope) => scope !== "")
    .map((scope) => scope.replace(/^(okta|idp)\./, ""));
  if (scopes.length === 0)
    throw new Refused("holds no scope: expected names such as policies.read, separated by blanks or commas");
  if (scopes.length > 50) throw new Refused("holds more than 50 scopes");
  if (scopes.some((scope) => !/^[A-Za-z][A-Za-z0-9.]*\.read$/.test(scope))) {
    throw new Refused(
      "holds something other than a read scope: expected names such as policies.read or okta.policies.read",
    );
  }
  return [...new Set(scopes)];
}

function parseScopePrefix(text: string): "okta" | "idp" {
  if (text === "okta" || text === "idp") return text;
  throw new Refused("is not a known prefix: expected okta or idp");
}

function parseConcurrency(text: string): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= 1 && value <= maxConcurrency) return value;
  throw new Refused(`is not a number of requests: expected a whole number from 1 to ${maxConcurrency}`);
}

function parseTimeout(text: string): number {
  const seconds = Number(text);
  if (/^\d+(\.\d+)?$/.test(text) && seconds > 0 && seconds <= maxTimeoutSeconds)
    return Math.max(1, Math.round(seconds * 1000));
  throw new Refused(`is not a time in seconds: expected a number above 0, up to ${maxTimeoutSeconds}`);
}

function parseProxy(text: string): string {
  const url = URL.canParse(text.includes("://") ? text : `http://${text}`)
    ? new URL(text.includes("://") ? text : `http://${text}`)
    : null;
  if (url !== null && url.hostname !== "" && (url.protocol === "http:" || url.protocol === "https:")) return url.href;
  throw new Refused("is not a proxy's address: expected http://host:port");
}

function fileProblem(error: unknown): string {
  const code = error instanceof Error && "code" in error ? error.code : null;
  if (code === "ENOENT") return "there is no such file";
  if (code === "EACCES" || code === "EPERM") return "no permission to read it";
  if (code === "EISDIR") return "it is a directory";
  return "reading it failed";
}
