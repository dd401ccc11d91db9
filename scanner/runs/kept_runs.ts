import { mkdir, readdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { CommandIo } from "../../command_line/command_io.ts";
import { explainWriteError, makeDirectory } from "../../command_line/files.ts";
import { writeLines } from "../../command_line/terminal.ts";
import type { Report } from "../../shared/report.ts";
import { UsageError } from "../../shared/usage_error.ts";
import type { ArtifactsDocument } from "../evidence/artifacts_document.ts";
import { hostName } from "../setup/key_pair.ts";

/** `.scanstream/runs/<host and port>/<time>/` holds evidence and report of each completed scan. They say much of an org, so only their owner reads them. */
export const runsFolder = join(".scanstream", "runs");
export const evidenceName = "evidence.json.gz";
const reportName = "report.json.gz";
/** The word of `--baseline` for the newest run. */
export const lastRun = "last";

/** The folder of a run that is being written. Without the dot it is the run's. */
const hiddenRun = /^\.\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}Z$/;

interface KeptBy {
  readonly settings: { readonly isKept: boolean; readonly keep: number };
  readonly io: Pick<CommandIo, "terminal">;
}

/** The organizations that have runs, as `--org-url` takes them. */
export async function keptHosts(): Promise<readonly string[]> {
  const folders = await foldersIn(runsFolder);
  return folders.map((name) => name.replace(/_(\d+)$/, ":$1"));
}

/**
 * Paths of the runs of an organization, newest first; null: of the only organization that has runs. `before`: only
 * runs that began earlier.
 */
export async function listRuns(orgUrl: string | null, before?: string) {
  const [host, ...others] = orgUrl === null ? await foldersIn(runsFolder) : [hostName(orgUrl)];
  if (others.length > 0) {
    const hosts = (await keptHosts()).join(", ");
    throw new UsageError([`Runs of several organizations are kept, ${hosts}: choose one with --org-url`]);
  }
  if (host === undefined) return [];
  const times = await timesIn(join(runsFolder, host));
  const earlier = before === undefined ? times : times.filter((time) => time < nameOf(before));
  return earlier.toReversed().map((time) => runIn(join(runsFolder, host, time)));
}

/** Paths of a run's folder and what is in it. */
export function runIn(folder: string) {
  return { folder, evidence: join(folder, evidenceName), report: join(folder, reportName) };
}

/** Keeps a run as the settings say, and removes the oldest ones. Returns true when it is kept; that it cannot be fails nothing. */
export async function keepRun(
  { document, report }: { readonly document: ArtifactsDocument; readonly report: Report },
  { settings: { isKept, keep }, io }: KeptBy,
): Promise<boolean> {
  if (!isKept || keep === 0) return false;
  const place = join(runsFolder, hostName(report.scan.org_url));
  const name = nameOf(report.scan.started_at);
  const part = join(place, `.${name}`);
  try {
    await makeDirectory(place, 0o700);
    await rm(part, { recursive: true, force: true });
    await mkdir(part, 0o700);
    const write = async (name: string, content: object) => {
      // At the fastest level this adds 4 % to the time of a scan of 10,000 apps.
      const packed = await promisify(gzip)(JSON.stringify(content), { level: 1 });
      await writeFile(join(part, name), packed, { mode: 0o600 });
    };
    await Promise.all([write(evidenceName, document), write(reportName, report)]);
    await rename(part, join(place, name));
    const times = await timesIn(place);
    // One that was killed while it was written, and not one that another scan writes now.
    const dayAgo = nameOf(new Date(Date.now() - 86_400_000).toISOString());
    const abandoned = (await readdir(place)).filter((entry) => hiddenRun.test(entry) && entry < `.${dayAgo}`);
    for (const old of [...times.slice(0, Math.max(0, times.length - keep)), ...abandoned])
      await rm(join(place, old), { recursive: true, force: true });
    return true;
  } catch (error) {
    await rm(part, { recursive: true, force: true }).catch(() => {});
    writeLines(io, `${explainWriteError(`the run to ${place}`, error)}. With --no-keep none is kept`);
    return false;
  }
}

/** The runs of an organization, oldest first. One of the future was named by a wrong clock and would stay the newest: it is the oldest. */
async function timesIn(place: string): Promise<readonly string[]> {
  const now = nameOf(new Date().toISOString());
  // A folder that a person put there or named anew is not a run, and is not removed as one.
  const runs = (await foldersIn(place)).filter((name) => hiddenRun.test(`.${name}`));
  return runs.toSorted((one, other) => Number(one <= now) - Number(other <= now));
}

/** The name of a run's folder. */
function nameOf(startedAt: string): string {
  return startedAt.replaceAll(":", "-");
}

/** Lists the folders in their order, without a run that is being written, which begins with a dot. */
async function foldersIn(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => entry.isDirectory() && !entry.name.startsWith("."))
    .map(({ name }) => name)
    .toSorted();
}
