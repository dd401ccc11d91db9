import type { CommandIo } from "../../command_line/command_io.ts";
import { adviceFor } from "../../shared/nearest_name.ts";
import { UsageError } from "../../shared/usage_error.ts";
import { findConfigFile, readConfigFile, type ConfigFile } from "./config_file.ts";
import {
  readConnectedSettings,
  readSettings,
  type ConnectedSettings,
  type FileLayer,
  type Flags,
  type Given,
  type Settings,
} from "./read_settings.ts";
import { attributeOf, type CommandName, type Setting } from "./setting.ts";
import { table } from "./table.ts";
import { isSameOrg } from "./values.ts";

/** The organizations of `scanstream.config.json` that a command is about, and the settings of each. */

type Io = Pick<CommandIo, "env">;
type Organization = NonNullable<ConfigFile["organizations"]>[number];

/** The settings of a command that works on one organization and connects to it. Throws `UsageError`. */
export async function settingsOfOne(command: CommandName, flags: Flags, io: Io): Promise<ConnectedSettings> {
  return readConnectedSettings(await oneOrganization(command, flags, io));
}

/** The one organization of a command. Throws `UsageError` where there are several. */
export async function oneOrganization(command: CommandName, flags: Flags, io: Io): Promise<Given> {
  const [only, ...others] = await chosen({ command, flags, env: io.env });
  if (only !== undefined && others.length === 0) return only;
  const names = [only, ...others].map((each) => each?.organization ?? "").join(", ");
  const place = only?.file?.at(-1)?.place ?? "the file";
  throw new UsageError([
    `--org: this command works on one organization, and ${place} has several: expected one of ${names}`,
  ]);
}

/** Requests for the settings of each organization: all of the file, those of `--org`, or the one of flags and variables. */
export async function settingsOfEach(command: CommandName, flags: Flags, io: Io): Promise<readonly Given[]> {
  const organizations = await chosen({ command, flags, env: io.env });
  const ofOne = Object.values<Setting<unknown>>(table).filter(
    ({ isIdentity, isOfOne }) => isIdentity === true || isOfOne === true,
  );
  const problems = ofOne.flatMap((row) =>
    row.flag === null || flags[attributeOf(row)] === undefined
      ? []
      : [
          `${row.flag.split(" ")[0]} belongs to one organization, and this run has several: set it in the file, or choose one with --org`,
        ],
  );
  if (organizations.length > 1 && problems.length > 0) throw new UsageError(problems);
  return organizations;
}

/** The settings of a command that reads what an organization gave before: those of `--org`, or of the organization with that address. */
export async function settingsOfSaved(
  command: CommandName,
  flags: Flags,
  { io, orgUrl }: { readonly io: Io; readonly orgUrl: string | null },
): Promise<Settings> {
  const given = { command, flags, env: io.env };
  const config = await openConfig(flags);
  if (typeof flags["org"] === "string") {
    const [only = given] = await chosen(given);
    return readSettings(only);
  }
  const organization = config?.organizations?.find((each) => orgUrl !== null && isOf(each, orgUrl));
  return readSettings(
    organization === undefined ? withFile(given, config) : withOrganization(given, organization, config),
  );
}

/** The names of the file's organizations where it lists several; none else. */
export async function severalNames(flags: Flags): Promise<readonly string[]> {
  const list = (await openConfig(flags))?.organizations ?? [];
  return list.length > 1 && flags["orgUrl"] === undefined ? list.map(({ name }) => name) : [];
}

async function openConfig(flags: Flags): Promise<ConfigFile | null> {
  const file = await findConfigFile(flags["config"]);
  return file === null ? null : readConfigFile(file);
}

async function chosen(given: Given): Promise<readonly Given[]> {
  const { flags, env } = given;
  const config = await openConfig(flags);
  const { org, orgUrl } = flags;
  const list = config?.organizations ?? null;
  if (config === null || list === null) {
    requireNoListOptions(flags, config);
    return [withFile(given, config)];
  }
  const toGiven = (organizations: readonly Organization[]) =>
    organizations.map((organization) => ({
      ...withOrganization(given, organization, config),
      isOneOfSeveral: organizations.length > 1,
    }));
  if (typeof org === "string") return toGiven(named(list, org, config));
  if (typeof orgUrl === "string" && orgUrl.trim() !== "") {
    const same = list.filter((each) => isOf(each, orgUrl));
    if (same.length > 0) return toGiven(same);
    throw new UsageError([
      `--org-url: ${config.file} lists no organization with this address: expected --no-config, or --org with one of ${namesOf(list)}`,
    ]);
  }
  requireOneSource(list, config, env);
  return toGiven(list);
}

function withFile(given: Given, config: ConfigFile | null): Given {
  if (config === null) return given;
  return { ...given, file: [{ place: `${config.file}: defaults`, members: config.defaults }, topOf(config)] };
}

function withOrganization(given: Given, organization: Organization, config: ConfigFile | null): Given {
  if (config === null) return given;
  const { name, ...members } = organization;
  return {
    ...given,
    organization: name,
    file: [
      { place: `${config.file}: organization ${name}`, members },
      { place: `${config.file}: defaults`, members: config.defaults },
      topOf(config),
    ],
  };
}

function topOf({ file, top }: ConfigFile): FileLayer {
  return { place: file, members: top };
}

function isOf({ org_url: address }: Organization, orgUrl: string): boolean {
  return typeof address === "string" && isSameOrg(address, orgUrl);
}

function namesOf(organizations: readonly Organization[]): string {
  return organizations.map(({ name }) => name).join(", ");
}

function named(organizations: readonly Organization[], text: string, { file }: ConfigFile): readonly Organization[] {
  const wanted = text
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
  const names = organizations.map(({ name }) => name);
  const problems = wanted
    .filter((name) => !names.includes(name))
    .map(
      (name) => `--org ${JSON.stringify(name)}: ${file} has no organization of this name: ${adviceFor(name, names)}`,
    );
  if (wanted.length === 0) problems.push(`--org: expected one or more of ${names.join(", ")}`);
  if (problems.length > 0) throw new UsageError(problems);
  return organizations.filter(({ name }) => wanted.includes(name));
}

function requireNoListOptions({ org, parallel }: Flags, config: ConfigFile | null): void {
  const where =
    config === null ? "there is no scanstream.config.json here" : `${config.file} does not list organizations`;
  const given = [...(org === undefined ? [] : ["--org"]), ...(parallel === undefined ? [] : ["--parallel"])];
  if (given.length === 0) return;
  throw new UsageError(
    given.map((name) => `${name}: ${where}; name a file that lists organizations with --config FILE`),
  );
}

/** Throws `UsageError` where a variable names one organization and the file others: which is meant is for a person to say. */
function requireOneSource(list: readonly Organization[], { file }: ConfigFile, env: Io["env"]): void {
  const name = table.orgUrl.variables?.find((variable) => (env[variable] ?? "").trim() !== "");
  if (name === undefined) return;
  const [only, ...others] = list;
  if (only !== undefined && others.length === 0 && isOf(only, env[name] ?? "")) return;
  throw new UsageError([
    `${name} names one organization, and ${file} names ${others.length === 0 ? "another" : list.length}: expected --org NAME, --no-config, or ${name} without a value`,
  ]);
}
