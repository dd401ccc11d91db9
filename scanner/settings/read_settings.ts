import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { readProblem } from "../../shared/error_code.ts";
import type { Environment } from "../../command_line/command_io.ts";
import { InvalidSetting } from "../../shared/environment_reader.ts";
import { shellWord } from "../../shared/text.ts";
import { UsageError } from "../../shared/usage_error.ts";
import type { ConnectionSettings } from "../okta/connection_settings.ts";
import { parsePrivateKey, PrivateKeyError, type SigningKey } from "../okta/private_key.ts";
import type { Members } from "./config_file.ts";
import { attributeOf, flagOf, memberOf, type CommandName, type Raw, type Setting } from "./setting.ts";
import { table, type SettingName, type Values } from "./table.ts";
import { expectedAddress, expectedClientId } from "./values.ts";

/** Options of one command, as commander gives them. */
export type Flags = Readonly<Record<string, string | boolean | undefined>>;

/** A part of the configuration file that has settings; earlier ones win. */
interface FileLayer {
  /** Name in messages: `scanstream.config.json: organization acme`. */
  readonly place: string;
  readonly members: Members;
}

export interface Given {
  readonly command: CommandName;
  readonly flags: Flags;
  readonly env: Environment;
  readonly file?: readonly FileLayer[];
  /** An organization of the list: what the file says of its address and key wins over variables, which name one organization. */
  readonly organization?: string | null;
  /** Set where the run is over several: those of one flag share its folder. */
  readonly isOneOfSeveral?: boolean;
  /** Set where a command on one organization has to name this one, because the file lists others too. */
  readonly isNamed?: boolean;
}

/** The settings of a command. Those that it does not take have their defaults. */
export interface Settings extends Values {
  /** Names the setting as the person wrote it: flag, variable or place in the file; the flag where nobody gave it. */
  readonly nameOf: (name: SettingName) => string;
  /** The organization of the list. */
  readonly organization: string | null;
  /** The options with which another command has the same organization and results: ` --config FILE --org NAME`, mostly none. */
  readonly again: (other: CommandName) => string;
}

export type ConnectedSettings = Settings & { readonly connection: ConnectionSettings };

/** Everything that is wrong with the settings. */
export class SettingsError extends UsageError {
  /** The problems of the private key, which are among the others. */
  readonly keyProblems: readonly string[];

  constructor(found: readonly Problem[]) {
    const texts = (problems: readonly Problem[]) => [...new Set(problems.map(({ text }) => text))];
    super(texts(found));
    this.keyProblems = texts(found.filter(({ name }) => isOfKey(name)));
  }
}

interface Problem {
  readonly name: SettingName;
  readonly text: string;
}

/** The settings of a command that does not connect, or may not. Throws `SettingsError`. */
export function readSettings(given: Given): Settings {
  return read(given, given.command === "setup" ? "identity" : "address").settings;
}

/** The settings of a command that connects. Throws `SettingsError`, also for what is missing. */
export function readConnectedSettings(given: Given): ConnectedSettings {
  const { settings, key } = read(given, "connection");
  const { orgUrl, clientId, scopes, scopePrefix, concurrency, timeoutMs, httpsProxy, noProxy } = settings;
  if (orgUrl === null || clientId === null || key === null) throw new TypeError("A problem was not reported");
  const proxy = { httpsProxy, noProxy };
  return { ...settings, connection: { orgUrl, clientId, key, scopes, scopePrefix, concurrency, timeoutMs, proxy } };
}

/** An empty variable is as one that is not set. */
export function textOf(env: Environment, name: string): string | null {
  return env[name]?.trim() || null;
}

interface Found {
  readonly raw: Raw;
  /** Flag, variable or place in the file, as the person wrote it. */
  readonly source: string;
}

/** One place that may have settings. */
type Layer = (name: SettingName) => Found | null;

/** The layers that may have settings, in the order in which they win. `report` receives variables that contradict each other. */
function layersIn(given: Given, report: (name: SettingName, text: string) => void) {
  const { env, file = [], organization = null } = given;
  const flags: Layer = (name) => {
    const row = rowOf(name);
    const raw = row.flag === null ? undefined : given.flags[attributeOf(row)];
    // The option of a switch can only turn it away from its default; commander gives the others their defaults.
    const isGiven = row.form === "switch" ? raw === !row.fallback : typeof raw === "string";
    return isGiven && raw !== undefined ? { raw, source: flagOf(row) } : null;
  };
  /** Variables under any of their names; two with two values are a problem, unless a flag decides. */
  const variables: Layer = (name) => {
    const row = rowOf(name);
    const found = (row.variables ?? []).flatMap((source) => {
      const raw = textOf(env, source);
      return raw === null ? [] : [{ raw, source }];
    });
    const [first = null] = found;
    const other = found.find((each) => first !== null && !isSame(row, each, first));
    const expected = "expected one of them, or the same value in both";
    if (other !== undefined) report(name, `${first?.source} and ${other.source} have two values: ${expected}`);
    return first;
  };
  const ofFile = file.map(({ place, members }): Layer => (name) => {
    const member = memberOf(name, table[name]);
    const raw = rowOf(name).kept === undefined ? undefined : members[member];
    return raw === undefined ? null : { raw, source: `${place}: ${member}` };
  });
  const layersOf = ({ isIdentity = false }: Setting<unknown>) =>
    isIdentity && organization !== null ? [flags, ...ofFile, variables] : [flags, variables, ...ofFile];

  return { flags, variables, ofFile, layersOf };
}

/** `needs`: the settings of the organization that are read; of `connection` none may be missing. */
function read(given: Given, needs: "address" | "identity" | "connection") {
  const { command, env, file = [], organization = null, isOneOfSeveral = false, isNamed = false } = given;
  const problems: Problem[] = [];
  /** The source of each setting that was given. */
  const sources = new Map<SettingName, string>();
  const report = (name: SettingName, text: string) => void problems.push({ name, text });
  const attempt = <Value>(name: SettingName, source: string, parse: () => Value): Value | null => {
    try {
      return parse();
    } catch (error) {
      if (!(error instanceof InvalidSetting)) throw error;
      report(name, `${source}${/^(is|has|holds|names|") ?/.test(error.message) ? "" : ":"} ${error.message}`);
      return null;
    }
  };
  const { flags, variables, ofFile, layersOf } = layersIn(given, report);

  /** Name of a setting that nobody gave. */
  const ungiven = (name: SettingName): string => {
    const row = rowOf(name);
    const [layer] = file;
    const isInFile = organization !== null && row.kept !== undefined && layer !== undefined;
    if (isInFile) return `${layer.place}: ${memberOf(name, row)}`;
    return (row.isIdentity !== true && flagOf(row)) || (row.variables?.[0] ?? name);
  };

  const valueOf = (name: SettingName): unknown => {
    const row = rowOf(name);
    const isTaken =
      row.commands.includes(command) && (needs !== "address" || row.isIdentity !== true || name === "orgUrl");
    if (!isTaken || isOfKey(name)) return row.fallback;
    for (const layer of layersOf(row)) {
      const found = layer(name);
      if (found === null) continue;
      const { source } = found;
      sources.set(name, source);
      // Each organization of the list has its own folder below one that they share; a flag for one of them names its own.
      const isShared = layer === flags ? isOneOfSeveral : layer !== ofFile[0];
      const hasOwn = row.isPerOrganization === true && organization !== null && isShared && found.raw !== "";
      const raw = hasOwn ? join(String(found.raw), organization) : found.raw;
      return attempt(name, source, () => row.read(raw, source)) ?? row.fallback;
    }
    return row.fallback;
  };
  const names = Object.keys(table) as SettingName[];
  const values = Object.fromEntries(names.map((name) => [name, valueOf(name)])) as unknown as Values;

  /** `idLayer`: the layer that may have the id of the key. */
  const parseKey = (name: KeySetting, { raw, source }: Found, idLayer: Layer): SigningKey | null => {
    const given = String(raw).trim();
    const text = attempt(name, source, () => readKeyText(name, given, env));
    const id = idLayer("privateKeyId");
    const keyId = id && attempt("privateKeyId", id.source, () => table.privateKeyId.read(id.raw, id.source));
    const place = name === "privateKeyEnv" ? `${source}: ${given}` : source;
    return text === null ? null : attempt(name, place, () => parseKeyText(text, keyId));
  };

  /** The key of the first layer that has one. The other layers' ids do not belong to it. */
  const readKey = (): SigningKey | null => {
    for (const layer of layersOf(table.privateKey))
      for (const name of keySettings) {
        const found = layer(name);
        // No flag names the id of a key: that of the variables belongs to the file of the flag.
        if (found !== null) return parseKey(name, found, layer === flags ? variables : layer);
      }
    if (textOf(env, "OKTA_API_TOKEN") ?? textOf(env, "OKTA_CLIENT_TOKEN")) report("orgUrl", apiToken);
    const isListed = organization !== null;
    const name = ungiven(isListed ? "privateKeyFile" : "privateKey");
    const also = isListed ? "private_key_env" : "IDP_PRIVATE_KEY_FILE, or --private-key-file";
    const expected = `expected the service application's private key, as PEM, JWK or JWKS (or ${also})`;
    report("privateKey", `${name} is not set: ${expected}`);
    return null;
  };
  const require = (name: "orgUrl" | "clientId", expected: string, more = "") => {
    const also = organization === null ? ` (or ${flagOf(table[name])}${more})` : "";
    if (!sources.has(name)) report(name, `${ungiven(name)} is not set: expected ${expected}${also}`);
  };
  if (needs === "connection") {
    require("orgUrl", expectedAddress, ", or run scanstream setup");
    require("clientId", expectedClientId);
  }
  const key = needs === "connection" ? readKey() : null;
  if (problems.length > 0) throw new SettingsError(problems);
  const nameOf = (name: SettingName) => sources.get(name) ?? ungiven(name);
  const again = (other: CommandName) => {
    const options = [...carried, ...(other === "doctor" ? identity : [])].flatMap((name) => {
      const found = rowOf(name).commands.includes(other) ? flags(name) : null;
      // Stdin cannot be read again.
      if (found === null || found.raw === "-") return [];
      return [typeof found.raw === "boolean" ? found.source : `${found.source} ${shellWord(String(found.raw))}`];
    });
    return [...options, ...(isNamed ? [`--org ${organization}`] : [])].map((option) => ` ${option}`).join("");
  };
  return { settings: { ...values, nameOf, organization, again }, key };
}

function rowOf(name: SettingName): Setting<unknown> {
  return table[name];
}

/** Returns true for two spellings of one value, and for the two cases of one name, of which the first wins. */
function isSame(row: Setting<unknown>, one: Found, other: Found): boolean {
  const valueOf = ({ raw }: Found): unknown => {
    try {
      const value = row.read(raw, "");
      return Array.isArray(value) ? new Set(value) : value;
    } catch {
      return raw;
    }
  };
  return one.source.toLowerCase() === other.source.toLowerCase() || isDeepStrictEqual(valueOf(one), valueOf(other));
}

/** Options that a next command repeats; one that connects also those of the service app. */
const criteria = ["orgPolicy", "benchmark", "decisions", "decisionsFromGateway", "checklist"] as const;
const carried = ["config", "hasConfig", "orgUrl", ...criteria] as const;
const identity = ["clientId", "privateKeyFile"] as const;

/** The settings that have a key, in the order in which they win in one layer: its content, its variable, its file. */
const keySettings = ["privateKey", "privateKeyEnv", "privateKeyFile"] as const;
type KeySetting = (typeof keySettings)[number];

/** The parts of the private key belong together: `readKey` takes them from one layer. */
function isOfKey(name: SettingName): boolean {
  return name.startsWith("privateKey");
}

const apiToken =
  "OKTA_API_TOKEN is not used, because an API token has every right of the person who made it, and a scan only reads: run scanstream setup to make a service app with a key";

function readKeyText(name: KeySetting, given: string, env: Environment): string {
  if (name === "privateKey") return given;
  if (name === "privateKeyEnv") {
    const text = textOf(env, given);
    if (text === null) throw new InvalidSetting(`the variable ${given} is not set: expected a private key in it`);
    return text;
  }
  try {
    return readFileSync(given, "utf8");
  } catch (error) {
    throw new InvalidSetting(`names a file that cannot be read: ${readProblem(error)}`);
  }
}

function parseKeyText(text: string, keyId: string | null): SigningKey {
  try {
    return parsePrivateKey(text, keyId);
  } catch (error) {
    if (!(error instanceof PrivateKeyError)) throw error;
    throw new InvalidSetting(`is not a usable private key. ${error.message}`);
  }
}
