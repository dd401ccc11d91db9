import type { Environment } from "../shared/environment_reader.ts";

/** The same settings under Okta's own names, and under those of its SDKs. */
const aliases: Readonly<Record<string, readonly string[]>> = {
  IDP_ORG_URL: ["OKTA_ORG_URL", "OKTA_CLIENT_ORGURL"],
  IDP_CLIENT_ID: ["OKTA_CLIENT_ID", "OKTA_CLIENT_CLIENTID"],
  IDP_PRIVATE_KEY: ["OKTA_PRIVATE_KEY", "OKTA_CLIENT_PRIVATEKEY"],
  IDP_PRIVATE_KEY_FILE: ["OKTA_PRIVATE_KEY_FILE"],
  IDP_PRIVATE_KEY_ID: ["OKTA_PRIVATE_KEY_ID"],
  IDP_SCOPES: ["OKTA_SCOPES"],
};

/** The options that win over a variable, under any of its names. */
export interface AliasedFlags {
  readonly orgUrl?: string | undefined;
  readonly clientId?: string | undefined;
  readonly privateKeyFile?: string | undefined;
}

/** Which flag wins over a variable, under any of its names. */
const flagOf: Readonly<Record<string, keyof AliasedFlags>> = {
  IDP_ORG_URL: "orgUrl",
  IDP_CLIENT_ID: "clientId",
  IDP_PRIVATE_KEY: "privateKeyFile",
  IDP_PRIVATE_KEY_FILE: "privateKeyFile",
};

/** The environment with each setting under the name that begins with `IDP_` alone; two names with two values stay, and are a problem. */
export function withAliases(
  env: Environment,
  flags: AliasedFlags = {},
): { readonly env: Environment; readonly problems: readonly string[] } {
  const merged: { [name: string]: Environment[string] } = { ...env };
  const problems: string[] = [];
  for (const [name, others] of Object.entries(aliases)) {
    const given = [name, ...others].flatMap((each) => {
      const value = env[each];
      return typeof value === "string" && value.trim() !== "" ? [{ name: each, value: value.trim() }] : [];
    });
    const [first] = given;
    if (first === undefined) continue;
    merged[name] = first.value;
    const other = given.find(({ value }) => comparable(name, value) !== comparable(name, first.value));
    const flag = flagOf[name];
    if (other === undefined) for (const each of others) delete merged[each];
    else if (flag === undefined || flags[flag] === undefined)
      problems.push(`${first.name} and ${other.name} have two values: expected one of them, or the same value in both`);
  }
  return { env: merged, problems };
}

function comparable(name: string, value: string): string {
  if (name === "IDP_SCOPES")
    return value
      .split(/[\s,]+/)
      .map((scope) => scope.replace(/^(okta|idp)\./, ""))
      .toSorted()
      .join(" ");
  if (name !== "IDP_ORG_URL") return value;
  const text = withScheme(value);
  return URL.canParse(text) ? new URL(text).origin : value;
}

/** A bare host means https. */
export function withScheme(text: string): string {
  return /^[a-z0-9-]+(\.[a-z0-9-]+)+(:\d+)?\/?$/i.test(text) ? `https://${text}` : text;
}
