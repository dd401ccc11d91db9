import { applyEdits, modify, type JSONPath } from "jsonc-parser";
import { existsSync } from "node:fs";
import { UsageError } from "../../shared/usage_error.ts";
import { readOptionFile, usingFile, writeWhole } from "../../command_line/files.ts";
import { isAbout, maxConfigBytes, parseConfigFile, type ConfigFile } from "../settings/config_file.ts";

type SetupEntry = Readonly<Record<"org_url" | "client_id" | "private_key_file" | "private_key_id", string>>;

/** The entry of an org in `scanstream.config.json`, in place or new; comments and the order of everything else stay. Gives its name. */
export async function writeSetupConfig(file: string, entry: SetupEntry): Promise<string | null> {
  const before = await openConfig(file);
  const { path, name } = placeOf(before, entry.org_url, file);
  const members = name === null ? entry : { name, ...entry };
  let text = before?.text ?? "{}\n";
  if (path.at(-1) === -1) text = edited(text, path, members);
  else for (const [member, value] of Object.entries(members)) text = edited(text, [...path, member], value);
  // The other commands read what is written.
  await usingFile({ option: "--config", file }, () => parseConfigFile(text, file));
  const problem = await writeWhole({ option: "--config", file }, text);
  if (problem !== null) throw new UsageError([problem]);
  return name;
}

/** The client id that an earlier setup wrote for the org; null: none. Throws `UsageError` for a file that cannot be read. */
export async function clientIdInConfig(file: string, orgUrl: string): Promise<string | null> {
  const { organizations, defaults = {} } = (await openConfig(file)) ?? {};
  const found = [...(organizations ?? []), defaults].find((each) => isAbout(each, orgUrl));
  return typeof found?.["client_id"] === "string" ? found["client_id"] : null;
}

/** Reads the configuration file, with its text. Returns null where no file exists. */
async function openConfig(file: string) {
  if (!existsSync(file)) return null;
  const source = { option: "--config", file, maxBytes: maxConfigBytes };
  return readOptionFile(source, (text) => ({ ...parseConfigFile(text, file), text }));
}

/** Path of the entry, there or to be; a last step of -1 appends to the list. The name is null for the only org of a file. */
function placeOf(config: ConfigFile | null, orgUrl: string, file: string): { path: JSONPath; name: string | null } {
  const list = config?.organizations ?? [];
  const index = list.findIndex((each) => isAbout(each, orgUrl));
  if (index >= 0) return { path: ["organizations", index], name: list[index]?.name ?? null };
  const own = config?.defaults["org_url"];
  if (config !== null && own !== undefined && config.organizations === null) {
    if (isAbout(config.defaults, orgUrl)) return { path: ["defaults"], name: null };
    throw new UsageError([
      `Cannot add ${orgUrl} to ${file}: its defaults are of ${String(own)}: expected that org in the list "organizations", next to which setup adds this one`,
    ]);
  }
  const names = new Set(list.map((each) => each.name.toLowerCase()));
  const base = firstLabel(orgUrl);
  let name = base;
  for (let at = 2; names.has(name); at++) name = `${base}-${at}`;
  return { path: ["organizations", -1], name };
}

/** `acme` of `acme.okta.com`; the whole host where it is an address. */
function firstLabel(orgUrl: string): string {
  const { hostname } = new URL(orgUrl);
  if (/^[\d.]+$/.test(hostname)) return hostname;
  if (hostname.startsWith("[")) return hostname.slice(1, -1).replaceAll(":", "-").replace(/^-+/, "");
  return (hostname.split(".")[0] ?? hostname).toLowerCase();
}

function edited(text: string, path: JSONPath, value: unknown): string {
  const formattingOptions = { insertSpaces: true, tabSize: 2, eol: "\n" };
  return applyEdits(text, modify(text, path, value, { formattingOptions, isArrayInsertion: path.at(-1) === -1 }));
}
