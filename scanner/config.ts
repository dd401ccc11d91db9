import { readFileSync, statSync } from "node:fs";
import {
  createEnvironmentReader,
  InvalidSetting,
  type Environment,
  type EnvironmentReader,
} from "../shared/environment_reader.ts";
import { readProblem } from "../shared/error_code.ts";
import { UsageError } from "../shared/usage_error.ts";
import { dodIssuers } from "./checks/parsing/distinguished_name.ts";
import type { ConnectionSettings, ProxySettings } from "./okta/connection_settings.ts";
import { parsePrivateKey, PrivateKeyError, type SigningKey } from "./okta/private_key.ts";
import { isLoopback } from "../shared/loopback.ts";
import { withAliases, withScheme, type AliasedFlags } from "./setting_aliases.ts";

/** The command line's share; everything as typed. */
export interface ScannerFlags extends AliasedFlags {
  readonly concurrency?: string | undefined;
  readonly timeout?: string | undefined;
}

/** The eleven scopes of the default request. A scan continues with the granted ones. */
export const defaultScopes: readonly string[] = [
  "policies.read",
  "brands.read",
  "apps.read",
  "authenticators.read",
  "networkZones.read",
  "apiTokens.read",
  "roles.read",
  "groups.read",
  "users.read",
  "logStreams.read",
  "idps.read",
];

/** The provider allows 35 at once at the least (https://developer.okta.com/docs/reference/rl2-limits/); this leaves room for other clients. */
const defaultConcurrency = 20;
const maxConcurrency = 50;
const defaultTimeoutSeconds = 30;
const maxTimeoutSeconds = 600;
const maxKeyFileBytes = 131_072;

/** Reads flags and environment; a flag wins over its variable. Throws `UsageError` that names every problem. */
export function readScannerConfig(flags: ScannerFlags, given: Environment): ConnectionSettings {
  const { env, problems } = withAliases(given, flags);
  const reader = createEnvironmentReader(env);
  for (const problem of problems) reader.report(problem);
  const orgUrl = readRequired(
    reader,
    { variable: "IDP_ORG_URL", flag: "--org-url, or run scanstream setup", given: flags.orgUrl },
    parseOrgUrl,
  );
  const clientId = readRequired(
    reader,
    { variable: "IDP_CLIENT_ID", flag: "--client-id", given: flags.clientId },
    parseClientId,
  );
  const key = readKey(reader, flags.privateKeyFile);
  const { scopes, scopePrefix, proxy } = readConnection(reader);
  const concurrency = reader.parsed("--concurrency", flags.concurrency, parseConcurrency) ?? defaultConcurrency;
  const timeoutMs = reader.parsed("--timeout", flags.timeout, parseTimeout) ?? defaultTimeoutSeconds * 1000;
  if (reader.problems.length > 0 || orgUrl === null || clientId === null || key === null) {
    throw new UsageError(reader.problems, { heading: "Cannot configure the scanner" });
  }
  return { orgUrl, clientId, key, scopes, scopePrefix, concurrency, timeoutMs, proxy };
}

function readConnection(reader: EnvironmentReader): Pick<ConnectionSettings, "scopes" | "scopePrefix" | "proxy"> {
  return {
    scopes: readVariable(reader, "IDP_SCOPES", parseScopes) ?? defaultScopes,
    scopePrefix: readVariable(reader, "IDP_SCOPE_PREFIX", parseScopePrefix),
    proxy: readProxy(reader),
  };
}

/** How an org is reached, before anything is known of an app there. Throws `UsageError`. */
export function readSettings(env: Environment): Omit<ConnectionSettings, "orgUrl" | "clientId" | "key"> {
  const reader = createEnvironmentReader(env);
  const connection = readConnection(reader);
  if (reader.problems.length > 0) throw new UsageError(reader.problems, { heading: "Cannot configure the scanner" });
  return { ...connection, concurrency: defaultConcurrency, timeoutMs: defaultTimeoutSeconds * 1000 };
}

/** Distinguished names hold commas, so semicolons separate them. They replace the DOD's; after a `+` they join them. */
export function readApprovedIssuers(env: Environment): readonly string[] | null {
  const text = createEnvironmentReader(env).text("IDP_APPROVED_ISSUERS");
  if (text === null) return null;
  const isAdded = text.startsWith("+");
  const issuers = text
    .slice(isAdded ? 1 : 0)
    .split(";")
    .map((issuer) => issuer.trim());
  if (issuers.every((issuer) => /^[A-Za-z]+ ?= ?[^=]/.test(issuer)))
    return isAdded ? [...dodIssuers, ...issuers] : issuers;
  throw new UsageError([
    "IDP_APPROVED_ISSUERS is not a list of issuers: expected attributes or names separated by semicolons, such as OU=DoD;OU=ECA",
  ]);
}

interface NamedSetting {
  readonly variable: string;
  readonly flag: string;
  readonly given: string | undefined;
}

function readRequired<Value>(
  reader: EnvironmentReader,
  { variable, flag, given }: NamedSetting,
  parse: (text: string) => Value,
): Value | null {
  if (given !== undefined) return reader.parsed(flag.replace(/,.*/, ""), given, parse);
  if (reader.text(variable) !== null) return readVariable(reader, variable, parse);
  reader.report(`${variable} is not set: expected ${expectations[variable] ?? "a value"} (or ${flag})`);
  return null;
}

function readVariable<Value>(reader: EnvironmentReader, name: string, parse: (text: string) => Value): Value | null {
  return reader.parsed(name, reader.text(name) ?? undefined, parse);
}

/** The flag wins, then the content, then the file. */
function readKey(reader: EnvironmentReader, flagFile: string | undefined): SigningKey | null {
  const content = reader.text("IDP_PRIVATE_KEY");
  if (flagFile === undefined && content !== null) return parseKey(reader, "IDP_PRIVATE_KEY", content);
  const name = flagFile === undefined ? "IDP_PRIVATE_KEY_FILE" : "--private-key-file";
  const path = flagFile?.trim() ?? reader.text("IDP_PRIVATE_KEY_FILE") ?? "";
  if (path === "") {
    if (reader.text("OKTA_API_TOKEN") !== null || reader.text("OKTA_CLIENT_TOKEN") !== null) reader.report(apiToken);
    reader.report(
      `IDP_PRIVATE_KEY is not set: expected ${expectations["IDP_PRIVATE_KEY"]} (or IDP_PRIVATE_KEY_FILE, or --private-key-file)`,
    );
    return null;
  }
  const text = reader.parsed(name, path, readKeyFile);
  const key = text === null ? null : parseKey(reader, name, text);
  return key === null ? null : { ...key, file: path };
}

const apiToken =
  "OKTA_API_TOKEN is not used, because an API token has every right of the person who made it, and a scan only reads: run scanstream setup to make a service app with a key";

function parseKey(reader: EnvironmentReader, name: string, text: string): SigningKey | null {
  const keyId = readVariable(reader, "IDP_PRIVATE_KEY_ID", parseKeyId);
  return reader.parsed(name, text, (content) => {
    try {
      return parsePrivateKey(content, { keyId });
    } catch (error) {
      if (!(error instanceof PrivateKeyError)) throw error;
      throw new InvalidSetting(`is not a usable private key. ${error.message}`);
    }
  });
}

function readKeyFile(path: string): string {
  try {
    const { size } = statSync(path);
    if (size <= maxKeyFileBytes) return readFileSync(path, "utf8");
    throw new InvalidSetting(`names a file of ${size} bytes; a key has at most ${maxKeyFileBytes}`);
  } catch (error) {
    if (error instanceof InvalidSetting) throw error;
    throw new InvalidSetting(`names a file that cannot be read: ${readProblem(error)}`);
  }
}

function readProxy(reader: EnvironmentReader): ProxySettings {
  const name = reader.text("https_proxy") === null ? "HTTPS_PROXY" : "https_proxy";
  const httpsProxy = readVariable(reader, name, parseProxy);
  return { httpsProxy, noProxy: reader.text("no_proxy") ?? reader.text("NO_PROXY") ?? "" };
}

const expectations: Readonly<Record<string, string>> = {
  IDP_ORG_URL: "the organization's address, such as https://acme.okta.com",
  IDP_CLIENT_ID: "the client id of the service application",
  IDP_PRIVATE_KEY: "the service application's private key, as PEM, JWK or JWKS",
};

const providerDomains = /\.(okta|oktapreview|okta-emea|okta-gov|okta-miltest|trex-govcloud)\.(com|mil)$|\.okta\.mil$/;

/** A bare host means https. Throws `InvalidSetting`. */
export function parseOrgUrl(given: string): string {
  const expected = `expected ${expectations["IDP_ORG_URL"]}`;
  if (given === "") throw new InvalidSetting(`is empty: ${expected}`);
  const text = withScheme(given);
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || url.hostname === "") throw new InvalidSetting(`is not a URL: ${expected}`);
  if (url.username !== "" || url.password !== "")
    throw new InvalidSetting(`holds a user name or password: ${expected}`);
  if (url.pathname !== "/" || url.search !== "" || url.hash !== "") {
    throw new InvalidSetting(`has a path, query or fragment: ${expected}`);
  }
  if (url.protocol === "http:" && !isLoopback(url.hostname)) {
    throw new InvalidSetting("is http:// and not on this machine: expected https:// (http:// only for loopback)");
  }
  if (url.protocol !== "https:" && url.protocol !== "http:") throw new InvalidSetting(`is not https://: ${expected}`);
  if (providerDomains.test(url.hostname) && /^[^.]+-admin\./.test(url.hostname)) {
    throw new InvalidSetting("is the address of the admin console: expected the organization's own, without -admin");
  }
  return url.origin;
}

/** Throws `InvalidSetting`. */
export function parseClientId(text: string): string {
  if (/^[A-Za-z0-9._~-]{1,200}$/.test(text)) return text;
  throw new InvalidSetting(
    `is not a client id: expected ${expectations["IDP_CLIENT_ID"]}, such as 0oa1b2c3d4e5f6g7h8i9`,
  );
}

function parseKeyId(text: string): string {
  if (/^[\x21-\x7e]{1,200}$/.test(text)) return text;
  throw new InvalidSetting("is not a key id: expected at most 200 printable characters without blanks");
}

function parseScopes(text: string): readonly string[] {
  const scopes = text
    .split(/[\s,]+/)
    .filter((scope) => scope !== "")
    .map((scope) => scope.replace(/^(okta|idp)\./, ""));
  if (scopes.length === 0)
    throw new InvalidSetting("holds no scope: expected names such as policies.read, separated by blanks or commas");
  if (scopes.length > 50) throw new InvalidSetting("holds more than 50 scopes");
  if (scopes.some((scope) => !/^[A-Za-z][A-Za-z0-9.]*\.read$/.test(scope))) {
    throw new InvalidSetting(
      "holds something other than a read scope: expected names such as policies.read or okta.policies.read",
    );
  }
  return [...new Set(scopes)];
}

function parseScopePrefix(text: string): "okta" | "idp" {
  if (text === "okta" || text === "idp") return text;
  throw new InvalidSetting("is not a known prefix: expected okta or idp");
}

function parseConcurrency(text: string): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= 1 && value <= maxConcurrency) return value;
  throw new InvalidSetting(`is not a number of requests: expected a whole number from 1 to ${maxConcurrency}`);
}

function parseTimeout(text: string): number {
  const seconds = Number(text);
  if (/^\d+(\.\d+)?$/.test(text) && seconds > 0 && seconds <= maxTimeoutSeconds)
    return Math.max(1, Math.round(seconds * 1000));
  throw new InvalidSetting(`is not a time in seconds: expected a number above 0, up to ${maxTimeoutSeconds}`);
}

function parseProxy(text: string): string {
  const url = URL.canParse(text.includes("://") ? text : `http://${text}`)
    ? new URL(text.includes("://") ? text : `http://${text}`)
    : null;
  if (url !== null && url.hostname !== "" && (url.protocol === "http:" || url.protocol === "https:")) return url.href;
  throw new InvalidSetting("is not a proxy's address: expected http://host:port");
}
