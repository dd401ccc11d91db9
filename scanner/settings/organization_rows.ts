import { number, onOff, path, list, section, text, type CommandName } from "./setting.ts";
import {
  defaultScopes,
  expectedAddress,
  expectedClientId,
  parseClientId,
  parseKeyId,
  parseOrgUrl,
  parseProxy,
  parseScopePrefix,
  parseScopes,
  parseVariableName,
} from "./values.ts";

const connecting: readonly CommandName[] = [
  "doctor",
  "scan",
  "collect",
  "explain",
  "fix",
  "report",
  "org-policy",
  "follow",
];
const configured: readonly CommandName[] = [...connecting, "evaluate", "diff"];
const kept = "everywhere";

/** Settings that say which organization a command is about, and how to connect to it. */
export const organizationRows = {
  ...section(
    { group: "Organization:", commands: [...configured, "verify"] },
    {
      config: path("--config <file>", "configuration file, else scanstream.config.json", {
        commands: ["setup", ...configured, "verify"],
      }),
      hasConfig: onOff("--no-config", "ignore scanstream.config.json"),
      org: text("--org <names>", "organization of the file; scan, doctor: several", String, {
        commands: configured,
        words: organizationNames,
      }),
      parallel: number("--parallel <n>", "organizations at the same time", {
        commands: ["scan"],
        kept: "top",
        unit: "organizations",
        least: 1,
        most: 32,
        fallback: 4,
      }),
    },
  ),
  ...section(
    { group: "Organization:", commands: connecting, kept },
    {
      orgUrl: text("--org-url <url>", "address of the org", parseOrgUrl, {
        variables: ["IDP_ORG_URL", "OKTA_ORG_URL", "OKTA_CLIENT_ORGURL"],
        commands: ["setup", ...connecting, "diff"],
        isIdentity: true,
        required: expectedAddress,
      }),
      clientId: text("--client-id <id>", "its service app", parseClientId, {
        variables: ["IDP_CLIENT_ID", "OKTA_CLIENT_ID", "OKTA_CLIENT_CLIENTID"],
        commands: ["setup", ...connecting],
        isIdentity: true,
        required: expectedClientId,
      }),
      privateKeyFile: path("--private-key-file <file>", "private key file", {
        variables: ["IDP_PRIVATE_KEY_FILE", "OKTA_PRIVATE_KEY_FILE"],
        isIdentity: true,
      }),
      privateKeyEnv: text(null, "name of the variable that holds the private key", parseVariableName, {
        isIdentity: true,
      }),
      privateKeyId: text(null, "kid of a PEM key, or the key of a JWKS to use", parseKeyId, {
        variables: ["IDP_PRIVATE_KEY_ID", "OKTA_PRIVATE_KEY_ID"],
        isIdentity: true,
      }),
      concurrency: number("--concurrency <n>", "maximum number of parallel requests", {
        unit: "requests",
        least: 1,
        most: 50,
        // The provider allows 35 at once at the least (https://developer.okta.com/docs/reference/rl2-limits/); others need some.
        fallback: 20,
      }),
      timeoutMs: number("--timeout <seconds>", "time limit for one request", {
        unit: "seconds",
        least: 0.001,
        most: 600,
        fallback: 30,
        factor: 1000,
      }),
    },
  ),
  ...section(
    { commands: ["setup", ...connecting] },
    {
      privateKey: text(null, "the private key itself; it wins over the file", String, {
        commands: connecting,
        variables: ["IDP_PRIVATE_KEY", "OKTA_PRIVATE_KEY", "OKTA_CLIENT_PRIVATEKEY"],
        isIdentity: true,
      }),
      scopes: list(null, "scopes to ask for, in place of the default list", parseScopes, {
        variables: ["IDP_SCOPES", "OKTA_SCOPES"],
        kept,
        separator: /[\s,]+/,
        fallback: defaultScopes,
      }),
      scopePrefix: text(null, "okta or idp (default: asked from the org)", parseScopePrefix, {
        variables: ["IDP_SCOPE_PREFIX"],
        kept,
      }),
      httpsProxy: text(null, "proxy for the org: http://host:port", parseProxy, {
        variables: ["https_proxy", "HTTPS_PROXY"],
      }),
      noProxy: text(null, "hosts that are reached without the proxy", String, {
        variables: ["no_proxy", "NO_PROXY"],
        fallback: "",
      }),
    },
  ),
};

async function organizationNames() {
  const file = await import("./config_file.ts");
  return (await file.organizationNames()).map((value) => ({ value }));
}
