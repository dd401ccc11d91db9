import { applyEdits, modify, type JSONPath } from "jsonc-parser";
import { readFile } from "node:fs/promises";
import { hasCode, readProblem } from "../../shared/error_code.ts";
import { UsageError } from "../../shared/usage_error.ts";
import { usingFile, writeWhole } from "../../command_line/files.ts";
import { isAbout, parseConfigFile, type ConfigFile } from "../settings/config_file.ts";

type SetupEntry = Readonly<Record<"org_url" | "client_id" | "private_key_file" | "private_key_id", string>>;

/** The entry of an org in `scanstream.config.json`, in place or new; comments and the order of everything else stay. Gives its name. */
export async function writeSetupConfig(file: string, entry: SetupEntry): Promise<string | null> {
  const before = await readConfig(file);
  const config = before === null ? null : await parse(before, file);
  const { path, name } = placeOf(config, entry.org_url, file);
  let text = before ?? "{}\n";
  const members: readonly (readonly [string, string])[] = [
    ...(name === null ? [] : [["name", name] as const]),
    ...Object.entries(entry),
  ];
  if (config === null || path.at(-1) === -1) {
    text = edited(text, path, Object.fromEntries(members));
  } else {
    for (const [member, value] of members) text = edited(text, [...path, member], value);
  }
  // The other commands read what is written.
  await parse(text, file);
  const problem = await writeWhole({ option: "--config", file }, text);
  if (problem !== null) throw new UsageError([problem]);
  return name;
}

/** The client id that an earlier setup wrote for the org; null: none. Throws `UsageError` for a file that cannot be read. */
export async function clientIdInConfig(file: string, orgUrl: string): Promise<string | null> {
  const text = await readConfig(file);
  if (text === null) return null;
  const { organizations, defaults } = await parse(text, file);
  const found = [...(organizations ?? []), defaults].find((each) => isAbout(each, orgUrl));
  return typeof found?.["client_id"] === "string" ? found["client_id"] : null;
}

function parse(text: string, file: string): Promise<ConfigFile> {
  return usingFile({ option: "--config", file }, () => parseConfigFile(text, file));
}

async function readConfig(file: string): Promise<string | null> {
  return readFile(file, "utf8").catch((error: unknown) => {
    if (hasCode(error, "ENOENT")) return null;
    throw new UsageError([
      `Cannot read --config ${JSON.stringify(file)}: ${readProblem(error) ?? "it cannot be read"}`,
    ]);
  });
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
  const names = new Set(list.map(({ name }) => name.toLowerCase()));
  const base = firstLabel(orgUrl);
  const name = [base, ...Array.from({ length: 500 }, (_, at) => `${base}-${at + 2}`)].find((each) => !names.has(each));
  return { path: ["organizations", -1], name: name ?? base };
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
