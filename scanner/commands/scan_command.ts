import { resolve } from "node:path";
import type { CommandIo } from "../../command_line/command_io.ts";
import { UsageError } from "../../shared/usage_error.ts";
import { settingsOfEach } from "../settings/organizations.ts";
import { readConnectedSettings, readSettings, type ConnectedSettings, type Flags } from "../settings/read_settings.ts";
import { ioOfOrganization } from "./organizations/organization_io.ts";
import { scanOrganizations, type OrganizationScan } from "./organizations/scan_organizations.ts";
import { requireSummaryPlace } from "./organizations/summary_files.ts";
import { prepareScan, scanOne } from "./prepared_scan.ts";
import { createQuietProgress, createTotals } from "./progress.ts";
import { reportFormats } from "../reports/formats.ts";

/** `scan` of the organization of flags and variables, or of one or several of the configuration file. Resolves with the exit code. */
export async function scanCommand(flags: Flags, io: CommandIo): Promise<number> {
  const organizations = await settingsOfEach("scan", flags, io);
  const [first, ...others] = organizations;
  if (first === undefined) throw new TypeError("No organization was chosen");
  if (others.length === 0) return scanOne(readConnectedSettings(first), io);
  // Settings that all share, without the name of an organization.
  const shared = readSettings({ ...first, organization: null, file: first.file?.slice(1) ?? [] });
  const problems: string[] = [];
  const scans: OrganizationScan[] = [];
  const places = new Map<string, string>();
  for (const given of organizations) {
    try {
      const settings = readConnectedSettings(given);
      requirePlace(settings, { count: organizations.length, places });
      scans.push(await prepare(settings, io));
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      problems.push(...error.problems);
    }
  }
  if (problems.length > 0) throw new UsageError([...new Set(problems)]);
  const { parallel, output, quiet: isQuiet } = shared;
  if (output !== null) await requireSummaryPlace(output);
  return scanOrganizations(scans, { parallel, output, isQuiet }, io);
}

async function prepare(settings: ConnectedSettings, io: CommandIo): Promise<OrganizationScan> {
  const name = settings.organization ?? settings.connection.orgUrl;
  const own = ioOfOrganization(name, io);
  const progress = settings.quiet ? createQuietProgress(own.io.terminal) : createTotals(own.io.terminal);
  return { name, io: own, prepared: await prepareScan(settings, own.io, progress) };
}

/** Reports of several organizations on one stdout are of use to people only, and no two write to one place. */
function requirePlace(
  settings: ConnectedSettings,
  { count, places }: { readonly count: number; readonly places: Map<string, string> },
): void {
  const { output, saveArtifacts, organization } = settings;
  const machine = reportFormats.find(({ name, isMachine }) => isMachine && settings.format.includes(name));
  if (output === null && machine !== undefined)
    throw new UsageError([
      `${settings.nameOf("format")} ${machine.name}: ${count} organizations need --output DIR, with a folder for each; or choose one with --org`,
    ]);
  for (const place of [output, saveArtifacts]) {
    if (place === null) continue;
    const { option, file } = place;
    const other = places.get(resolve(file));
    if (other !== undefined) throw new UsageError([`${option} ${JSON.stringify(file)}: ${other} writes there too`]);
    places.set(resolve(file), organization ?? "");
  }
}
