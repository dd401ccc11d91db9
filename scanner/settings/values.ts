import { unescape } from "node:querystring";
import { endOfExpiry } from "../../shared/decisions/expiry.ts";
import { InvalidSetting } from "../../shared/environment_reader.ts";
import { isLoopback } from "../../shared/loopback.ts";
import { originOf } from "../../shared/schemas/web_address.ts";
import type { Severity } from "../../shared/report.ts";
import { type RuleState, ruleStates } from "../../shared/rule_result.ts";
import { parseSeverity, severityWords } from "../../shared/severity.ts";

/** Parsers of single settings. Each throws `InvalidSetting` with what is wrong and what is expected, never with the value. */

/** The scopes of the default request. A scan continues with the granted ones. */
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

export const expectedAddress = "the organization's address, such as https://acme.okta.com";
export const expectedClientId = "the client id of the service application";

const providerDomains = /\.(okta|oktapreview|okta-emea|okta-gov|okta-miltest|trex-govcloud)\.(com|mil)$|\.okta\.mil$/;

/** A bare host means https. */
export function parseOrgUrl(given: string): string {
  const expected = `expected ${expectedAddress}`;
  if (given === "") throw new InvalidSetting(`is empty: ${expected}`);
  const text = withScheme(given);
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || url.hostname === "") throw new InvalidSetting(`is not a URL: ${expected}`);
  if (url.username !== "" || url.password !== "")
    throw new InvalidSetting(`holds a user name or password: ${expected}`);
  // An address of the Admin Console, as a browser shows it.
  if (providerDomains.test(url.hostname) && /^[^.]+-admin\./.test(url.hostname))
    return parseOrgUrl(url.origin.replace("-admin.", "."));
  if (url.pathname !== "/" || url.search !== "" || url.hash !== "") {
    throw new InvalidSetting(`has a path, query or fragment: ${expected}`);
  }
  if (url.protocol === "http:" && !isLoopback(url.hostname)) {
    throw new InvalidSetting("is http:// and not on this machine: expected https:// (http:// only for loopback)");
  }
  if (url.protocol !== "https:" && url.protocol !== "http:") throw new InvalidSetting(`is not https://: ${expected}`);
  return url.origin;
}

/** Returns true where both name one organization. */
export function isSameOrg(one: string, other: string): boolean {
  return originOf(withScheme(one.trim())) === originOf(withScheme(other.trim()));
}

/** A bare host means https. */
function withScheme(text: string): string {
  return /^[a-z0-9-]+(\.[a-z0-9-]+)+(:\d+)?(\/.*)?$/i.test(text) ? `https://${text}` : text;
}

export const parseClientId = matching(
  /^[A-Za-z0-9._~-]{1,200}$/,
  `is not a client id: expected ${expectedClientId}, such as 0oa1b2c3d4e5f6g7h8i9`,
);
export const parseKeyId = matching(
  /^[\x21-\x7e]{1,200}$/,
  "is not a key id: expected at most 200 printable characters without blanks",
);

function matching(pattern: RegExp, problem: string): (text: string) => string {
  return (text) => {
    if (pattern.test(text)) return text;
    throw new InvalidSetting(problem);
  };
}

export function parseScopes(items: readonly string[]): readonly string[] {
  const scopes = items.flatMap((item) => item.split(/\s+/)).map((scope) => scope.replace(/^(okta|idp)\./, ""));
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

export function parseProxy(text: string): string {
  const url = URL.parse(text.includes("://") ? text : `http://${text}`);
  // With "/", "?" or "#" in a password the user would be the host, its beginning the port, and errors would show them.
  if (url === null || !/^https?:\/\/[^/]*\/[^@]*$/.test(url.href)) {
    const encoded = "with %2F, %3F and %23 for /, ? and # in its password";
    throw new InvalidSetting(`is not a proxy's address: expected http://host:port, ${encoded}`);
  }
  // A "%" of a password that encodes nothing stands for itself, as in curl.
  for (const part of ["username", "password"] as const) url[part] = encodeURIComponent(unescape(url[part]));
  return url.href;
}

const atLeast = ["", ":high", ":medium", ":low"];
export const gates = ["never", ...atLeast.map((level) => `fail${level}`), ...atLeast.map((level) => `manual${level}`)];

export function parseSeverities(levels: readonly string[]): readonly Severity[] {
  const severities = levels.map((level) => parseSeverity(level)).filter((level) => level !== null);
  if (levels.length > 0 && severities.length === levels.length) return severities;
  throw new InvalidSetting(`${quoted(levels)}: expected one or more of ${severityWords}`);
}

/** `fail,n/a` as states, in any case. */
export function parseStatuses(names: readonly string[]): readonly RuleState[] {
  const states = names.map((name) => {
    const word = name.toLowerCase();
    return word === "n/a" ? "not_applicable" : ruleStates.find((state) => state === word);
  });
  if (names.length > 0 && states.every((state) => state !== undefined)) return [...new Set(states)];
  throw new InvalidSetting(
    `${quoted(names)}: expected one or more of pass, fail, manual, not_applicable (or n/a), separated by commas`,
  );
}

export function requireNames(names: readonly string[]): readonly string[] {
  if (names.length > 0) return names;
  throw new InvalidSetting("expected names or ids of checks; run `scanstream explain` for the list");
}

/** Words that completion offers for a check. */
export async function checkNames() {
  const { catalog } = await import("../catalog/catalog.ts");
  return [
    ...catalog.map(({ rule }) => ({ value: rule.vuln_id, description: rule.title })),
    ...catalog.map(({ name, rule }) => ({ value: name, description: `${rule.vuln_id} ${rule.title}` })),
  ];
}

/** Words that completion offers for an organization; none where the file of the working directory cannot be read. */
export async function organizationNames() {
  const { openConfigFile } = await import("./config_file.ts");
  const config = await openConfigFile(undefined).catch(() => null);
  return (config?.organizations ?? []).map(({ name }) => ({ value: name }));
}

export function parseTime(text: string): string {
  // A time without its zone would be another one on another machine.
  if (!Number.isNaN(endOfExpiry(text))) return text;
  throw new InvalidSetting(
    `${quoted([text])}: expected a day such as 2026-01-31, or a time with its zone: 2026-01-31T12:00:00Z`,
  );
}

function quoted(items: readonly string[]): string {
  return JSON.stringify(items.join(","));
}
