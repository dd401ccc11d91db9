import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { readProblem } from "../../shared/error_code.ts";
import type { Environment } from "../../command_line/command_io.ts";
import { InvalidSetting } from "../../shared/environment_reader.ts";
import { UsageError } from "../../shared/usage_error.ts";
import type { ConnectionSettings } from "../okta/connection_settings.ts";
import { parsePrivateKey, PrivateKeyError, type SigningKey } from "../okta/private_key.ts";
import {
  fileLayer,
  flagLayer,
  flagOf,
  textOf,
  variableLayer,
  type FileLayer,
  type Flags,
  type Found,
  type Layer,
} from "./layers.ts";
import { memberOf, type CommandName, type Setting } from "./setting.ts";
import { table, type SettingName, type Values } from "./table.ts";

export type { FileLayer, Flags } from "./layers.ts";

export interface Given {
  readonly command: CommandName;
  readonly flags: Flags;
  readonly env: Environment;
  readonly file?: readonly FileLayer[];
  /** An organization of the list: what the file says of its address and key wins over variables, which name one organization. */
  readonly organization?: string | null;
  /** True where the run is over several: those of one flag share its folder. */
  readonly isOneOfSeveral?: boolean;
}

/** The settings of a command. Those that it does not take have their defaults. */
export interface Settings extends Values {
  /** As the person wrote it: flag, variable or place in the file; the flag where nobody gave it. */
  readonly nameOf: (name: SettingName) => string;
  /** The organization of the list. */
  readonly organization: string | null;
}

export type ConnectedSettings = Settings & { readonly connection: ConnectionSettings };

/** Everything that is wrong with the settings. */
export class SettingsError extends UsageError {
  /** The problems of the private key, which are among the others. */
  readonly keyProblems: readonly string[];

  constructor(found: readonly Problem[]) {
    const texts = (problems: readonly Problem[]) => [...new Set(problems.map(({ text }) => text))];
    super(texts(found));
    this.keyProblems = texts(found.filter(({ name }) => name.startsWith("privateKey")));
  }
}

interface Problem {
  readonly name: SettingName;
  readonly text: string;
}

/** The settings of a command that does not connect, or may not. Throws `SettingsError`. */
export function readSettings(given: Given): Settings {
  const reading = new Reading(given, { isConnecting: given.command === "setup" });
  reading.finish();
  return reading.settings;
}

/** The settings of a command that connects. Throws `SettingsError`, also for what is missing. */
export function readConnectedSettings(given: Given): ConnectedSettings {
  const reading = new Reading(given, { isConnecting: true });
  const { orgUrl, clientId, scopes, scopePrefix, concurrency, timeoutMs, httpsProxy, noProxy } = reading.settings;
  for (const name of ["orgUrl", "clientId"] as const) reading.require(name);
  const key = reading.readKey();
  reading.finish();
  if (orgUrl === null || clientId === null || key === null) throw new TypeError("A problem was not reported");
  const proxy = { httpsProxy, noProxy };
  const connection = { orgUrl, clientId, key, scopes, scopePrefix, concurrency, timeoutMs, proxy };
  return { ...reading.settings, connection };
}

class Reading {
  readonly #given: Given;
  readonly #problems: Problem[] = [];
  /** The source of each setting that was given. */
  readonly #sources = new Map<SettingName, string>();
  readonly #person: readonly [flags: Layer, variables: Layer];
  readonly #file: readonly Layer[];
  readonly settings: Settings;

  constructor(given: Given, { isConnecting }: { readonly isConnecting: boolean }) {
    this.#given = given;
    const { flags, env, file = [], organization = null } = given;
    this.#person = [flagLayer(flags), variableLayer(env, (name, text) => this.#report(name, text))];
    this.#file = file.map(fileLayer);
    const values: Partial<Record<SettingName, unknown>> = {};
    for (const name of Object.keys(table) as SettingName[]) {
      const row: Setting<unknown> = table[name];
      const isTaken =
        row.commands.includes(given.command) &&
        (isConnecting || row.isIdentity !== true || name === "orgUrl") &&
        !isOfKey(name);
      values[name] = isTaken ? this.#read(name, row) : row.fallback;
    }
    const nameOf = (name: SettingName) => this.#sources.get(name) ?? this.#nameOf(name);
    this.settings = { ...(values as Values), nameOf, organization };
  }

  finish(): void {
    if (this.#problems.length > 0) throw new SettingsError(this.#problems);
  }

  require(name: SettingName): void {
    const { required }: Setting<unknown> = table[name];
    if (this.#sources.has(name)) return;
    const also = this.#isListed
      ? ""
      : ` (or ${flagOf(table[name])}${name === "orgUrl" ? ", or run scanstream setup" : ""})`;
    this.#report(name, `${this.#nameOf(name)} is not set: expected ${required}${also}`);
  }

  /** The key of the first layer that has one: its content, then its file. The other layers' ids do not belong to it. */
  readKey(): SigningKey | null {
    const { env } = this.#given;
    const [flags, variables] = this.#person;
    for (const layer of this.#layers(table.privateKey)) {
      const content = layer.find("privateKey");
      if (content !== null) return this.#parseKey(content, layer);
      const variable = layer.find("privateKeyEnv");
      if (variable !== null) {
        const text = env[String(variable.raw)];
        if (typeof text === "string" && text.trim() !== "")
          return this.#parseKey({ raw: text, source: `${variable.source}: ${String(variable.raw)}` }, layer);
        const problem = `the variable ${String(variable.raw)} is not set: expected a private key in it`;
        this.#report("privateKeyEnv", `${variable.source}: ${problem}`);
        return null;
      }
      const file = layer.find("privateKeyFile");
      if (file !== null) return this.#readKeyFile(file, layer === flags ? variables : layer);
    }
    const hasToken = ["OKTA_API_TOKEN", "OKTA_CLIENT_TOKEN"].some((name) => textOf(env, name) !== null);
    if (hasToken) this.#report("orgUrl", apiToken);
    const expected = "expected the service application's private key, as PEM, JWK or JWKS";
    const name = this.#nameOf(this.#isListed ? "privateKeyFile" : "privateKey");
    const also = this.#isListed ? "private_key_env" : "IDP_PRIVATE_KEY_FILE, or --private-key-file";
    this.#report("privateKey", `${name} is not set: ${expected} (or ${also})`);
    return null;
  }

  #readKeyFile({ raw, source }: Found, layer: Layer): SigningKey | null {
    const path = String(raw).trim();
    const text = this.#attempt("privateKeyFile", source, () => readKeyFile(path));
    const key = text === null ? null : this.#parseKey({ raw: text, source }, layer);
    return key === null ? null : { ...key, file: path };
  }

  #parseKey({ raw, source }: Found, layer: Layer): SigningKey | null {
    const found = layer.find("privateKeyId");
    const { read } = table.privateKeyId;
    const keyId =
      found === null ? null : this.#attempt("privateKeyId", found.source, () => read(found.raw, found.source));
    return this.#attempt("privateKey", source, () => {
      try {
        return parsePrivateKey(String(raw), { keyId });
      } catch (error) {
        if (!(error instanceof PrivateKeyError)) throw error;
        throw new InvalidSetting(`is not a usable private key. ${error.message}`);
      }
    });
  }

  get #isListed(): boolean {
    return (this.#given.organization ?? null) !== null;
  }

  #layers({ isIdentity = false }: Setting<unknown>): readonly Layer[] {
    const [flags, variables] = this.#person;
    return isIdentity && this.#isListed ? [flags, ...this.#file, variables] : [flags, variables, ...this.#file];
  }

  #read(name: SettingName, row: Setting<unknown>): unknown {
    for (const layer of this.#layers(row)) {
      const found = layer.find(name);
      if (found === null) continue;
      const { source } = found;
      this.#sources.set(name, source);
      const { organization = null, isOneOfSeveral = false } = this.#given;
      // Each organization of the list has its own folder below one that they share; a flag for one of them names its own.
      const isOwn = layer === this.#file[0] || (layer === this.#person[0] && !isOneOfSeveral);
      const isShared = row.isPerOrganization === true && organization !== null && !isOwn;
      const raw = isShared && found.raw !== "" ? join(String(found.raw), organization) : found.raw;
      return this.#attempt(name, source, () => row.read(raw, source)) ?? row.fallback;
    }
    return row.fallback;
  }

  #attempt<Value>(name: SettingName, source: string, parse: () => Value): Value | null {
    try {
      return parse();
    } catch (error) {
      if (!(error instanceof InvalidSetting)) throw error;
      this.#report(name, `${source}${/^(is|has|holds|names|") ?/.test(error.message) ? "" : ":"} ${error.message}`);
      return null;
    }
  }

  #report(name: SettingName, text: string): void {
    this.#problems.push({ name, text });
  }

  /** Name of a setting that nobody gave. */
  #nameOf(name: SettingName): string {
    const row: Setting<unknown> = table[name];
    const [layer] = this.#given.file ?? [];
    if (this.#isListed && row.kept !== undefined && layer !== undefined)
      return `${layer.place}: ${memberOf(name, row)}`;
    return (row.required === undefined ? row.flag?.split(" ")[0] : undefined) ?? row.variables?.[0] ?? name;
  }
}

/** The parts of the private key belong together: `readKey` takes them from one layer. */
function isOfKey(name: SettingName): boolean {
  return name.startsWith("privateKey");
}

const apiToken =
  "OKTA_API_TOKEN is not used, because an API token has every right of the person who made it, and a scan only reads: run scanstream setup to make a service app with a key";
const maxKeyFileBytes = 131_072;

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
