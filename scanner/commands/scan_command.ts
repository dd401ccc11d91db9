import { resolve } from "node:path";
import type { CommandIo } from "../../command_line/command_io.ts";
import { UsageError } from "../../shared/usage_error.ts";
import { reportFormats } from "../reports/formats.ts";
import { settingsOfEach } from "../settings/organizations.ts";
import { readConnectedSettings, readSettings, type ConnectedSettings, type Flags } from "../settings/read_settings.ts";
import { writeGitHubFeedback } from "./github_actions.ts";
import { createProgress, newProgress } from "./progress.ts";
import { prepareScan } from "./prepared_scan.ts";
import { scanOrganizations, type OrganizationScan } from "./scan_organizations.ts";
import { requireSummaryPlace } from "./summary_files.ts";

/** `scan` of the organization of flags and variables, or of one or several of the configuration file. Resolves with the exit code. */
export async function scanCommand(flags: Flags, io: CommandIo): Promise<number> {
  const organizations = await settingsOfEach("scan", flags, io);
  const [first, ...others] = organizations;
  if (first === undefined) throw new TypeError("No organization was chosen");
  if (others.length === 0) {
    const settings = readConnectedSettings(first);
    const { code, reported } = await (await prepareScan(settings, io, newProgress(settings, io))).run();
    if (reported !== null) await writeGitHubFeedback([{ name: null, report: reported.report }], io);
    return code;
  }
  const problems: string[] = [];
  const scans: OrganizationScan[] = [];
  const places = new Map<string, string>();
  for (const given of organizations) {
    try {
      const settings = readConnectedSettings(given);
      requirePlace(settings, { count: organizations.length, places });
      scans.push(await prepareOne(settings, io));
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      problems.push(...error.problems);
    }
  }
  if (problems.length > 0) throw new UsageError([...new Set(problems)]);
  // Settings that all share, without the name of an organization.
  const { parallel, output, quiet } = readSettings({
    ...first,
    organization: null,
    file: first.file?.slice(1) ?? [],
  });
  if (output !== null) await requireSummaryPlace(output);
  return scanOrganizations(scans, { parallel, output, isQuiet: quiet }, io);
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

/** One of several: its messages carry its name, and what it writes to stdout is kept, so that they never mix. */
async function prepareOne(settings: ConnectedSettings, io: CommandIo): Promise<OrganizationScan> {
  const name = settings.organization ?? settings.connection.orgUrl;
  const kept: string[] = [];
  const { terminal } = io;
  const own: CommandIo = {
    ...io,
    stdout: (text) => void kept.push(text),
    terminal: {
      ...terminal,
      isTTY: false,
      write: (text) => terminal.write(text.replaceAll(/^(?=.)/gm, `${name}: `)),
    },
  };
  const progress = createProgress(own.terminal, settings.quiet ? "quiet" : "totals");
  return { name, output: () => kept.join(""), prepared: await prepareScan(settings, own, progress) };
}
