import { readdir } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, join } from "node:path";
import type { Environment } from "../../command_line/command_io.ts";
import { explainWriteError, makeDirectory, readOptionBytes, writeWhole } from "../../command_line/files.ts";
import { nearestName } from "../../shared/nearest_name.ts";
import { UsageError } from "../../shared/usage_error.ts";
import { builtIn, type Revision } from "../catalog/catalog.ts";
import catalogText from "../catalog/okta_idaas_stig.json" with { type: "json" };
import { sha256 } from "../digest.ts";
import { maxFileBytes, readStigFile, type StigFile } from "./read_stig_file.ts";
import { toRevision } from "./revision.ts";

/** The revisions that this machine knows: the built-in one, and the files that `stig add` has put into the data directory. */

export interface KnownRevision extends Revision {
  readonly origin: "built-in" | "added";
  /** SHA-256 in hex: of DISA's XCCDF, or of the built-in catalog. */
  readonly sha256: string;
}

const builtInRevision: KnownRevision = { ...builtIn, origin: "built-in", sha256: sha256(JSON.stringify(catalogText)) };
const fileName = /^okta-idaas-stig-v\d{1,3}r\d{1,3}\.xml$/;

/** `SCANSTREAM_DATA`, else the user's data directory (XDG Base Directory). */
function stigDirectory(env: Environment): string {
  const { SCANSTREAM_DATA: own, XDG_DATA_HOME: data } = env;
  const root = own !== undefined && own !== "" ? own : join(data || join(homedir(), ".local", "share"), "scanstream");
  return join(root, "stigs");
}

/** The oldest first. Throws `UsageError` naming a file of the data directory that cannot be read. */
export async function knownRevisions(env: Environment): Promise<readonly KnownRevision[]> {
  const directory = stigDirectory(env);
  const names = await readdir(directory).catch(() => []);
  const added: KnownRevision[] = [];
  for (const name of names.filter((each) => fileName.test(each))) {
    const revision = await readRevision(join(directory, name));
    if (revision.benchmark.id !== basename(name, ".xml"))
      throw new UsageError([`${join(directory, name)} is ${revision.benchmark.id}: expected the file of its name`]);
    if (revision.benchmark.id !== builtIn.benchmark.id) added.push(revision);
  }
  return [...added, builtInRevision].sort(
    (one, other) => ageOf(one) - ageOf(other) || (one.benchmark.id < other.benchmark.id ? -1 : 1),
  );
}

function ageOf({ benchmark }: Revision): number {
  const [, version, release] = /v(\d+)r(\d+)$/.exec(benchmark.id) ?? [];
  return Number(version) * 1000 + Number(release);
}

/** A revision by name or file, the built-in one without; `option` is what asks for it. Throws `UsageError`. */
export async function findRevision(
  wanted: string | undefined,
  env: Environment,
  option = "--benchmark",
): Promise<KnownRevision> {
  if (wanted === undefined || wanted === builtIn.benchmark.id) return builtInRevision;
  const known = await knownRevisions(env);
  const found = known.find(({ benchmark }) => benchmark.id === wanted.toLowerCase());
  if (found !== undefined) return found;
  if (isRevisionFile(wanted)) return readRevision(wanted, option);
  const names = known.map(({ benchmark }) => benchmark.id);
  const nearest = nearestName(wanted.toLowerCase(), names);
  const advice = nearest === null ? `expected one of ${names.join(", ")}, or a file.` : `did you mean ${nearest}?`;
  throw new UsageError([
    `${option} ${JSON.stringify(wanted)}: no revision of the STIG has this name: ${advice} "scanstream stig add FILE" adds one`,
  ]);
}

/** A name has neither a dot nor a slash. */
export function isRevisionFile(benchmark: string): boolean {
  return /[./\\]/.test(benchmark);
}

async function readRevision(file: string, option = "the STIG"): Promise<KnownRevision> {
  const { content, sha256 } = await readStig(file, option);
  return { ...toRevision(content), origin: "added", sha256 };
}

/** Throws `UsageError` with one line that names the file. */
async function readStig(file: string, option: string): Promise<StigFile> {
  const bytes = await readOptionBytes({ option, file, maxBytes: maxFileBytes });
  try {
    return await readStigFile(bytes);
  } catch (error) {
    if (!(error instanceof RangeError || error instanceof SyntaxError)) throw error;
    throw new UsageError([`Cannot use ${option} ${JSON.stringify(file)}: ${error.message}`]);
  }
}

export interface AddedRevision {
  readonly revision: KnownRevision;
  /** False: it was there already. */
  readonly isNew: boolean;
  readonly file: string | null;
}

/** Keeps a revision of DISA's zip or XCCDF in the data directory. Throws `UsageError`; then nothing was written. */
export async function addRevision(file: string, env: Environment): Promise<AddedRevision> {
  const { content, xccdf, sha256 } = await readStig(file, "the STIG");
  const revision: KnownRevision = { ...toRevision(content), origin: "added", sha256 };
  const there = (await knownRevisions(env)).find(({ benchmark }) => benchmark.id === content.id);
  if (there !== undefined) {
    if (isSameContent(there, revision)) return { revision: there, isNew: false, file: null };
    throw new UsageError([
      `Cannot add ${JSON.stringify(file)}: ${content.id} is here already with other content (${there.origin}): expected the same file, or another revision`,
    ]);
  }
  const directory = stigDirectory(env);
  const path = join(directory, `${content.id}.xml`);
  await makeDirectory(directory).catch((error: unknown) => {
    throw new UsageError([explainWriteError(`the data directory ${JSON.stringify(directory)}`, error)]);
  });
  const problem = await writeWhole({ option: "the data directory", path }, xccdf);
  if (problem !== null) throw new UsageError([problem]);
  return { revision, isNew: true, file: path };
}

function isSameContent(there: KnownRevision, added: KnownRevision): boolean {
  if (there.origin === "added") return there.sha256 === added.sha256;
  // The built-in catalog has what DISA wrote, and more.
  const disas = ({ benchmark, checks }: Revision) =>
    JSON.stringify([
      benchmark.release_info,
      ...checks.map(({ rule: { rule_id, stig_id, severity, title, discussion, check_text, fix_text } }) => [
        rule_id,
        stig_id,
        severity,
        title,
        discussion,
        check_text,
        fix_text,
      ]),
    ]);
  return disas(there) === disas(added);
}
