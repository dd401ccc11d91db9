import type { CommandIo } from "../../../command_line/command_io.ts";
import { UsageError } from "../../../shared/usage_error.ts";
import type { JudgingFlags } from "../judging_options.ts";
import type { ScanFlags } from "../scan_command.ts";
import { addressVariable, chooseOrganizations, inputsOf, requireOneSource } from "./configured_scan_command.ts";
import { findConfigFile, readConfigFile } from "./read_config_file.ts";
import { inputsOfDefaults } from "./scan_inputs.ts";

/** The options of a command that works on one organization. */
export interface OrganizationFlags {
  /** False: `--no-config`. */
  readonly config?: string | boolean | undefined;
  readonly org?: string | undefined;
  readonly orgUrl?: string | undefined;
  readonly privateKeyFile?: string | undefined;
  /** Offline: no organization is asked. */
  readonly fromArtifacts?: string | undefined;
}

const judgingMembers = [
  "check",
  "exclude",
  "severity",
  "parameters",
  "benchmark",
  "waivers",
  "attestations",
  "decisionsFromGateway",
] as const;

/**
 * The options and variables of the organization that `--org` names in `scanstream.config.json`, or of its only one. What the
 * caller gave goes first. Throws `UsageError` where there are several and none is named, unless the environment names an org.
 */
export async function forOrganization<Flags extends OrganizationFlags & Partial<JudgingFlags>>(
  flags: Flags,
  io: CommandIo,
): Promise<{ readonly flags: Flags; readonly io: CommandIo }> {
  const { config: configFlag, org, fromArtifacts } = flags;
  if (fromArtifacts !== undefined && org === undefined) return { flags, io };
  const file = await findConfigFile(configFlag);
  const isNamedHere = flags.orgUrl !== undefined || addressVariable(io.env) !== null;
  if (file === null) {
    if (org !== undefined)
      throw new UsageError(["--org needs a scanstream.config.json with organizations here, or --config FILE"]);
    return { flags, io };
  }
  const config = await readConfigFile(file);
  const given = toScanFlags(flags);
  if (config.organizations === undefined) {
    if (org !== undefined) throw new UsageError([`--org: ${file} does not list organizations`]);
    return merged(flags, io, inputsOfDefaults(config.defaults ?? {}, { flags: given, env: io.env }));
  }
  if (org === undefined && flags.orgUrl === undefined) requireOneSource(config, io.env);
  if (org === undefined && isNamedHere) return { flags, io };
  const chosen = chooseOrganizations(config.organizations, org, config);
  const [only, ...others] = chosen;
  if (only === undefined || others.length > 0) {
    const names = config.organizations.map(({ name }) => name).join(", ");
    throw new UsageError([
      `--org: this command works on one organization, and ${file} has several: expected one of ${names}`,
    ]);
  }
  return merged(flags, io, inputsOf(only, config, { flags: given, env: io.env }));
}

/** One organization of a command that works on all of them. */
export interface NamedOrganization<Flags> {
  /** Null: the one that options and variables name. */
  readonly name: string | null;
  readonly flags: Flags;
  readonly io: CommandIo;
}

/** Every organization of `scanstream.config.json`, or the ones that `--org` names; without such a file the one of the options. */
export async function forEachOrganization<Flags extends OrganizationFlags & Partial<JudgingFlags>>(
  flags: Flags,
  io: CommandIo,
): Promise<readonly NamedOrganization<Flags>[]> {
  const file = await findConfigFile(flags.config);
  const config = file === null ? null : await readConfigFile(file);
  const isNamedHere = flags.orgUrl !== undefined || addressVariable(io.env) !== null;
  if (config !== null && flags.org === undefined && flags.orgUrl === undefined) requireOneSource(config, io.env);
  if (config?.organizations === undefined || (flags.org === undefined && isNamedHere))
    return [{ name: null, ...(await forOrganization(flags, io)) }];
  return chooseOrganizations(config.organizations, flags.org, config).map((organization) => {
    const inputs = inputsOf(organization, config, { flags: toScanFlags(flags), env: io.env });
    return { name: organization.name, ...merged(flags, io, inputs) };
  });
}

function toScanFlags(flags: OrganizationFlags & Partial<JudgingFlags>): ScanFlags {
  const given: Record<string, unknown> = {};
  for (const name of ["orgUrl", "privateKeyFile", ...judgingMembers] as const) {
    if (flags[name] !== undefined) given[name] = flags[name];
  }
  return given;
}

function merged<Flags extends OrganizationFlags & Partial<JudgingFlags>>(
  flags: Flags,
  io: CommandIo,
  { flags: all, env }: { readonly flags: ScanFlags; readonly env: CommandIo["env"] },
): { readonly flags: Flags; readonly io: CommandIo } {
  const judging = Object.fromEntries(
    judgingMembers.flatMap((name) => (all[name] === undefined ? [] : [[name, all[name]]])),
  );
  return { flags: { ...judging, ...flags }, io: { ...io, env } };
}
