import type { CommandIo } from "../../command_line/command_io.ts";
import { adviceFor } from "../../shared/nearest_name.ts";
import { UsageError } from "../../shared/usage_error.ts";
import { isAbout, openConfigFile, type ConfigFile, type Organization } from "./config_file.ts";
import { readSettings, textOf, type Flags, type Given, type Settings } from "./read_settings.ts";
import { attributeOf, flagOf, type CommandName, type Setting } from "./setting.ts";
import { table } from "./table.ts";

/** The organizations of `scanstream.config.json` that a command is about, and the settings of each. */

type Io = Pick<CommandIo, "env">;

/** The one organization of a command. Throws `UsageError` where there are several. */
export async function oneOrganization(command: CommandName, flags: Flags, { env }: Io): Promise<Given> {
  const [only, ...others] = await chosen({ command, flags, env });
  if (only !== undefined && others.length === 0) return only;
  const names = [only, ...others].map((each) => each?.organization ?? "").join(", ");
  const place = only?.file?.at(-1)?.place ?? "the file";
  throw new UsageError([
    `--org: this command works on one organization, and ${place} has several: expected one of ${names}`,
  ]);
}

/** Requests for the settings of each organization: all of the file, those of `--org`, or the one of flags and variables. */
export async function settingsOfEach(command: CommandName, flags: Flags, { env }: Io): Promise<readonly Given[]> {
  const organizations = await chosen({ command, flags, env });
  if (organizations.length < 2) return organizations;
  const problems = Object.values<Setting<unknown>>(table)
    .filter((row) => (row.isIdentity ?? row.isOfOne) === true && flags[attributeOf(row)] !== undefined)
    .map(
      (row) =>
        `${flagOf(row)} belongs to one organization, and this run has several: set it in the file, or choose one with --org`,
    );
  if (problems.length > 0) throw new UsageError(problems);
  return organizations;
}

/** The settings of a command that reads what an organization gave before: those of `--org`, or of the organization with that address. */
export async function settingsOfSaved(
  command: CommandName,
  flags: Flags,
  { io: { env }, orgUrl }: { readonly io: Io; readonly orgUrl: string | null },
): Promise<Settings> {
  const given = { command, flags, env };
  if (typeof flags["org"] === "string") return readSettings((await chosen(given))[0] ?? given);
  const config = await openConfigFile(flags["config"]);
  const organization = config?.organizations?.find((each) => orgUrl !== null && isAbout(each, orgUrl));
  return readSettings(withFile(given, config, organization));
}

/** The names of the file's organizations where it lists several; none else. */
export async function severalNames(flags: Flags): Promise<readonly string[]> {
  const list = (await openConfigFile(flags["config"]))?.organizations ?? [];
  return list.length > 1 && flags["orgUrl"] === undefined ? list.map(({ name }) => name) : [];
}

/** All organizations of the file, those that `--org` or `--org-url` names, or the one of flags and variables. */
async function chosen(given: Given): Promise<readonly Given[]> {
  const config = await openConfigFile(given.flags["config"]);
  const { organizations: list = null } = config ?? {};
  if (config === null || list === null) {
    if (given.flags["org"] === undefined) return [withFile(given, config)];
    const where =
      config === null ? "no scanstream.config.json is read here" : `${config.file} does not list organizations`;
    throw new UsageError([`--org: ${where}; name a file that lists organizations with --config FILE`]);
  }
  const selected = select(list, config.file, given);
  const several = { isOneOfSeveral: selected.length > 1, isNamed: list.length > 1 };
  return selected.map((organization) => ({ ...withFile(given, config, organization), ...several }));
}

function select(
  list: readonly Organization[],
  file: string,
  { flags: { org, orgUrl }, env }: Given,
): readonly Organization[] {
  const names = list.map(({ name }) => name);
  if (typeof org === "string") {
    const wanted = table.org.read(org, "--org") ?? [];
    const problems = wanted
      .filter((name) => !names.includes(name))
      .map(
        (name) => `--org ${JSON.stringify(name)}: ${file} has no organization of this name: ${adviceFor(name, names)}`,
      );
    if (wanted.length === 0) problems.push(`--org: expected one or more of ${names.join(", ")}`);
    if (problems.length > 0) throw new UsageError(problems);
    return list.filter(({ name }) => wanted.includes(name));
  }
  if (typeof orgUrl === "string" && orgUrl.trim() !== "") {
    const same = list.filter((each) => isAbout(each, orgUrl));
    if (same.length > 0) return same;
    throw new UsageError([
      `--org-url: ${file} lists no organization with this address: expected --no-config, or --org with one of ${names.join(", ")}`,
    ]);
  }
  // A variable that names one organization, and a file that names others: a person has to say which is meant.
  const variable = table.orgUrl.variables?.find((name) => textOf(env, name) !== null);
  const [only, ...others] = list;
  const isSame = variable !== undefined && only !== undefined && isAbout(only, env[variable] ?? "");
  if (variable === undefined || (isSame && others.length === 0)) return list;
  throw new UsageError([
    `${variable} names one organization, and ${file} names ${others.length === 0 ? "another" : list.length}: expected --org NAME, --no-config, or ${variable} without a value`,
  ]);
}

/** The layers of the file: what it says of the organization, if it lists it, before what it says of all. */
function withFile(given: Given, config: ConfigFile | null, organization?: Organization): Given {
  if (config === null) return given;
  const { file, top, defaults } = config;
  const shared = [
    { place: `${file}: defaults`, members: defaults },
    { place: file, members: top },
  ];
  if (organization === undefined) return { ...given, file: shared };
  const { name, ...members } = organization;
  return { ...given, organization: name, file: [{ place: `${file}: organization ${name}`, members }, ...shared] };
}
