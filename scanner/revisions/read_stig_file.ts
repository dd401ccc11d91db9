import { fromBufferPromise, type Entry, type ZipFile } from "yauzl";
import { parseXml } from "../xml.ts";
import { readOptionBytes, type NamedFile } from "../../command_line/files.ts";
import { UsageError } from "../../shared/usage_error.ts";
import { builtIn, type Revision } from "../catalog/catalog.ts";
import { toRevision } from "./revision.ts";
import { benchmarkIdOf, readXccdf, type DisaBenchmark } from "./read_xccdf.ts";

/** DISA's zip or its XCCDF. The file may come from anywhere: yauzl reads the zip, and nothing is ever unpacked to the disk. */

const maxFileBytes = 50 * 1_048_576;
const maxXccdfBytes = 20 * 1_048_576;
const maxEntries = 1000;

/** The revision of the STIG in a file, or the built-in one without a file. Throws `UsageError`. */
export async function readRevision(source: NamedFile | null): Promise<Revision> {
  if (source === null) return builtIn;
  const bytes = await readOptionBytes({ ...source, maxBytes: maxFileBytes });
  try {
    return toRevision(await readStigFile(bytes));
  } catch (error) {
    if (!(error instanceof RangeError || error instanceof SyntaxError)) throw error;
    throw new UsageError([`Cannot use ${source.option} ${JSON.stringify(source.file)}: ${error.message}`]);
  }
}

/** Throws `RangeError` or `SyntaxError` with one sentence that says what is wrong with the file. */
export async function readStigFile(bytes: Buffer): Promise<DisaBenchmark> {
  const isZip = bytes.subarray(0, 2).toString("latin1") === "PK";
  return readXccdf(decode(isZip ? await readZippedXccdf(bytes) : bytes));
}

function decode(xccdf: Uint8Array): string {
  if (xccdf.byteLength > maxXccdfBytes) throw new RangeError("its XCCDF is larger than 20 MiB");
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(xccdf);
    if (!text.trimStart().startsWith("<")) throw new RangeError("it is neither a zip nor XML: expected DISA's STIG");
    return text;
  } catch (error) {
    if (error instanceof TypeError) throw new RangeError("it is not UTF-8 text: expected DISA's STIG");
    throw error;
  }
}

/** The one XCCDF of the Okta STIG in a zip; those of other STIGs do not count. */
async function readZippedXccdf(bytes: Buffer): Promise<Uint8Array> {
  const found = await readEntries(bytes).catch((error: unknown) => {
    if (error instanceof RangeError) throw error;
    throw new RangeError(`its zip is broken: ${error instanceof Error ? error.message : "it cannot be read"}`);
  });
  const xccdf = found.map((content) => ({ content, id: benchmarkIdOf(parseXml(decode(content))) }));
  const ours = xccdf.filter(({ id }) => id === "Okta_IDaaS_STIG");
  const [first, second] = ours;
  if (second !== undefined) throw new RangeError("its zip has two XCCDF files of the Okta STIG: expected one");
  if (first !== undefined) return first.content;
  const others = xccdf.flatMap(({ id }) => (id === null ? [] : [JSON.stringify(id.slice(0, 60))]));
  throw new RangeError(
    `its zip has no XCCDF of the Okta STIG${others.length === 0 ? "" : `, but ${others.slice(0, 5).join(", ")}`}: expected the zip of this one STIG, as DISA publishes it`,
  );
}

/** The contents of the entries *xccdf.xml; one bad entry of any name refuses the whole zip. */
async function readEntries(bytes: Buffer): Promise<readonly Uint8Array[]> {
  const zip = await fromBufferPromise(bytes);
  if (zip.entryCount > maxEntries)
    throw new RangeError(`its zip has ${zip.entryCount} entries: expected 1,000 at most`);
  const wanted: Entry[] = [];
  for await (const entry of zip.eachEntry()) {
    const name = entry.fileName;
    const problem = problemOf(entry);
    if (problem !== null) throw new RangeError(`its zip has ${problem}: ${JSON.stringify(name.slice(0, 80))}`);
    if (/xccdf\.xml$/i.test(name)) wanted.push(entry);
  }
  const size = wanted.reduce((sum, { uncompressedSize }) => sum + uncompressedSize, 0);
  if (size > maxXccdfBytes) throw new RangeError("the XCCDF in its zip is larger than 20 MiB");
  const contents: Uint8Array[] = [];
  for (const entry of wanted) contents.push(await readEntry(zip, entry));
  return contents;
}

const fileTypeMask = 0o170000;
/** Unknown, a file, a folder. */
const plainTypes: ReadonlySet<number> = new Set([0, 0o100000, 0o040000]);

/** The library itself refuses names that lead out of their folder. */
function problemOf(entry: Entry): string | null {
  if (entry.isEncrypted()) return "an encrypted entry";
  // A link is a file whose Unix mode says so.
  const mode = entry.externalFileAttributes >>> 16;
  return plainTypes.has(mode & fileTypeMask) ? null : "a link or a device";
}

/** The library refuses an entry that is larger than it says. */
async function readEntry(zip: ZipFile, entry: Entry): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  for await (const chunk of await zip.openReadStreamPromise(entry)) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
