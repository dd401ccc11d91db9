import { join, resolve } from "node:path";
import type { CommandIo, Environment } from "../../../command_line/command_io.ts";
import { AppError } from "../../../shared/app_error.ts";
import { UsageError } from "../../../shared/usage_error.ts";
import { nearestName } from "../../../shared/nearest_name.ts";
import { createQuietProgress, createTotals } from "../progress.ts";
import { prepareScan, scanCommand, type ScanFlags } from "../scan_command.ts";
import { parseReportOptions, splitList } from "../scan_options.ts";
import type { OrganizationConfig, ScanDefaults } from "./config_schema.ts";
import { ioOfOrganization } from "./organization_io.ts";
import { findConfigFile, readConfigFile, type ConfigFile } from "./read_config_file.ts";
import { scanOrganizations, type OrganizationScan } from "./scan_organizations.ts";
import { inputsOfDefaults, inputsOfOrganization, type ScanInputs } from "./scan_inputs.ts";
import { requireSummaryPlace } from "./summary_files.ts";

export interface ConfiguredScanFlags extends ScanFlags {
  /** False: `--no-config`. */
  readonly config?: string | boolean;
  readonly org?: string;
  readonly parallel?: string;
}

const defaultParallel = 4;
const maxParallel = 32;

/** `scan`: with the options of `scanstream.config.json`, of one organization or of several. Resolves with the exit code. */
export async function configuredScanCommand(flags: ConfiguredScanFlags, io: CommandIo): Promise<number> {
  const { config: configFlag, org, parallel, stream, ...others } = flags;
  // The option can only turn it off; else the file decides.
  const given: ScanFlags = stream === false ? { ...others, stream } : others;
  const file = await findConfigFile(configFlag);
  const config = file === null ? null : await readConfigFile(file);
  if (config?.organizations === undefined) {
    requireNoListOptions({ org, parallel }, config);
    if (config === null) return scanCommand(given, io);
    const { flags: all, env } = inputsOfDefaults(config.defaults ?? {}, { flags: given, env: io.env });
    requireKeyVariable(config.defaults ?? {}, env, `${config.file} /defaults`);
    return scanCommand(all, { ...io, env });
  }
  if (org === undefined) requireOneSource(config, io.env);
  const chosen = chooseOrganizations(config.organizations, org, config);
  const atOnce = parseParallel(parallel, config.parallel);
  const [only] = chosen;
  if (chosen.length === 1 && only !== undefined) return scanOne(only, config, { given, io });

  requireForAll(given);
  const output = given.output ?? config.defaults?.output ?? null;
  const scans = await prepareAll(chosen, config, { given, io });
  if (output !== null) await requireSummaryPlace(output);
  return scanOrganizations(scans, { parallel: atOnce, output, isQuiet: given.quiet === true }, io);
}

interface Given {
  readonly given: ScanFlags;
  readonly io: CommandIo;
}

async function scanOne(organization: OrganizationConfig, config: ConfigFile, { given, io }: Given): Promise<number> {
  try {
    const { flags, env } = inputsOf(organization, config, { flags: given, env: io.env });
    return await scanCommand(flags, { ...io, env });
  } catch (error) {
    throw new UsageError(problemsOf(error, organization, config));
  }
}

/** Every organization's options and files are checked before the first request; throws `UsageError` naming all that is wrong. */
async function prepareAll(
  organizations: readonly OrganizationConfig[],
  config: ConfigFile,
  { given, io }: Given,
): Promise<readonly OrganizationScan[]> {
  const problems: string[] = [];
  const scans: OrganizationScan[] = [];
  const places = new Map<string, string>();
  for (const organization of organizations) {
    const { name } = organization;
    try {
      const { flags, env } = inputsOf(organization, config, { flags: given, env: io.env });
      const own = ioOfOrganization(name, { ...io, env });
      requirePlace(flags, organizations.length);
      for (const [member, path] of [
        ["output", flags.output],
        ["save_artifacts", flags.saveArtifacts],
      ] as const) {
        if (path === undefined) continue;
        const other = places.get(resolve(path));
        if (other !== undefined) throw new UsageError([`${member} ${JSON.stringify(path)}: ${other} writes there too`]);
        places.set(resolve(path), name);
      }
      const progress = given.quiet === true ? createQuietProgress(own.io.terminal) : createTotals(own.io.terminal);
      scans.push({ name, io: own, prepared: await prepareScan(flags, own.io, progress) });
    } catch (error) {
      problems.push(...problemsOf(error, organization, config));
    }
  }
  if (problems.length > 0) throw new UsageError(problems);
  return scans;
}

export function inputsOf(organization: OrganizationConfig, config: ConfigFile, given: ScanInputs): ScanInputs {
  const { name, ...members } = organization;
  const { flags, env } = inputsOfOrganization(members, config.defaults ?? {}, given);
  if (given.flags.privateKeyFile === undefined) requireKeyVariable({ ...config.defaults, ...members }, env);
  // Each in its own folder, unless the list names another one.
  const shared = given.flags.output ?? config.defaults?.output;
  const own = given.flags.output === undefined ? members.output : undefined;
  const output = own ?? (shared === undefined ? undefined : join(shared, name));
  return { flags: output === undefined ? flags : { ...flags, output }, env };
}

/** Else the message would be of another variable, and of a file that is not there. */
function requireKeyVariable({ private_key_env: variable }: ScanDefaults, env: Environment, place?: string): void {
  const hasKey = ["IDP_PRIVATE_KEY", "IDP_PRIVATE_KEY_FILE"].some((name) => (env[name] ?? "").trim() !== "");
  if (variable === undefined || hasKey) return;
  const before = place === undefined ? "" : `${place}: `;
  throw new UsageError([`${before}private_key_env: the variable ${variable} is not set: expected a private key in it`]);
}

/** Reports of several organizations on one stdout are of use to people only. */
function requirePlace(flags: ScanFlags, count: number): void {
  const { formats, outputDir } = parseReportOptions(flags);
  const machine = formats.find(({ isMachine }) => isMachine);
  if (outputDir !== null || machine === undefined) return;
  throw new UsageError([
    `--format ${machine.name}: ${count} organizations need --output DIR, with a folder for each; or choose one with --org`,
  ]);
}

const memberNames: readonly (readonly [variable: string, member: string])[] = [
  ["IDP_ORG_URL", "org_url"],
  ["IDP_CLIENT_ID", "client_id"],
  ["IDP_PRIVATE_KEY_FILE", "private_key_file"],
  ["IDP_PRIVATE_KEY_ID", "private_key_id"],
  ["IDP_PRIVATE_KEY", "private_key_file or private_key_env"],
  ["IDP_SCOPES", "scopes"],
  ["IDP_SCOPE_PREFIX", "scope_prefix"],
  ["IDP_APPROVED_ISSUERS", "approved_issuers"],
];

/** In the words of the file; throws again what is no usage error. */
function problemsOf(error: unknown, organization: OrganizationConfig, config: ConfigFile): readonly string[] {
  if (!(error instanceof UsageError || error instanceof AppError)) throw error;
  const index = config.organizations?.indexOf(organization) ?? 0;
  const place = `Organization ${organization.name} (${config.file}, number ${index + 1})`;
  const problems = error instanceof UsageError ? error.problems : [error.message];
  return problems.map((problem) => {
    const [variable, member] = memberNames.find(([name]) => /^\w+/.exec(problem)?.[0] === name) ?? [];
    return `${place}: ${variable === undefined ? problem : `${member}${problem.slice(variable.length)}`}`;
  });
}

export function chooseOrganizations(
  organizations: readonly OrganizationConfig[],
  text: string | undefined,
  { file }: ConfigFile,
): readonly OrganizationConfig[] {
  if (text === undefined) return organizations;
  const wanted = [...new Set(splitList(text))];
  const names = organizations.map(({ name }) => name);
  const problems = wanted
    .filter((name) => !names.includes(name))
    .map((name) => {
      const nearest = nearestName(name, names);
      const advice =
        nearest === null ? `expected one of ${names.join(", ")}` : `did you mean ${JSON.stringify(nearest)}?`;
      return `--org ${JSON.stringify(name)}: ${file} has no organization of this name: ${advice}`;
    });
  if (wanted.length === 0) problems.push(`--org: expected one or more of ${names.join(", ")}`);
  if (problems.length > 0) throw new UsageError(problems);
  return organizations.filter(({ name }) => wanted.includes(name));
}

function parseParallel(flag: string | undefined, member: number | undefined): number {
  const text = flag ?? member?.toString() ?? String(defaultParallel);
  const count = /^\d{1,2}$/.test(text) ? Number(text) : 0;
  if (count >= 1 && count <= maxParallel) return count;
  const name = flag === undefined ? "/parallel" : "--parallel";
  throw new UsageError([`${name} ${JSON.stringify(text)}: expected a whole number from 1 to ${maxParallel}`]);
}

function requireNoListOptions(
  { org, parallel }: { readonly org: string | undefined; readonly parallel: string | undefined },
  config: ConfigFile | null,
): void {
  const where =
    config === null ? "there is no scanstream.config.json here" : `${config.file} does not list organizations`;
  const named = [...(org === undefined ? [] : ["--org"]), ...(parallel === undefined ? [] : ["--parallel"])];
  if (named.length === 0) return;
  throw new UsageError(
    named.map((name) => `${name}: ${where}; name a file that lists organizations with --config FILE`),
  );
}

/** Refuses options that belong to one organization, in a run of several. */
function requireForAll(flags: ScanFlags): void {
  if (flags.output === "") throw new UsageError(["--output: expected a directory"]);
  const single = [
    ["--org-url", flags.orgUrl],
    ["--client-id", flags.clientId],
    ["--private-key-file", flags.privateKeyFile],
    ["--save-artifacts", flags.saveArtifacts],
    ["--baseline", flags.baseline],
    ["--checklist", flags.checklist],
  ] as const;
  const problems = single.flatMap(([name, value]) =>
    value === undefined
      ? []
      : [`${name} belongs to one organization, and this run has several: set it in the file, or choose one with --org`],
  );
  if (problems.length > 0) throw new UsageError(problems);
}

const addressVariables = ["IDP_ORG_URL", "OKTA_ORG_URL", "OKTA_CLIENT_ORGURL"];

/** The variable that names one org; null: none does. */
export function addressVariable(env: Environment): string | null {
  return addressVariables.find((name) => (env[name] ?? "").trim() !== "") ?? null;
}

/** Which of them is meant is for a person to say. Throws `UsageError` that names both. */
export function requireOneSource(config: ConfigFile, env: Environment): void {
  const name = addressVariable(env);
  const count = config.organizations?.length ?? 0;
  if (name === null || count < 2) return;
  throw new UsageError([
    `${name} names one organization, and ${config.file} names ${count}: expected --org NAME, --no-config, or ${name} without a value`,
  ]);
}
