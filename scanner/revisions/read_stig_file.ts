import { buffer } from "node:stream/consumers";
import { fromBufferPromise } from "yauzl";
import { parseXml } from "../read_xml.ts";
import { readOptionBytes, usingFile, type NamedFile } from "../../command_line/files.ts";
import { ContentError } from "../../shared/usage_error.ts";
import { builtIn, type Revision } from "../catalog/catalog.ts";
import { toRevision } from "./revision.ts";
import { benchmarkIdOf, oktaStig, readXccdf, type DisaBenchmark } from "./read_xccdf.ts";

const maxFileBytes = 50 * 1_048_576;
const maxXccdfBytes = 20 * 1_048_576;

/** The revision of the STIG in a file, or the built-in one without a file. Throws `UsageError`. */
export async function readRevision(source: NamedFile | null): Promise<Revision> {
  if (source === null) return builtIn;
  const bytes = await readOptionBytes({ ...source, maxBytes: maxFileBytes });
  return usingFile(source, async () => toRevision(await readStigFile(bytes)));
}

/** Reads DISA's zip, or the XCCDF in it. Throws `ContentError`. */
export async function readStigFile(bytes: Buffer): Promise<DisaBenchmark> {
  const isZip = bytes.subarray(0, 2).toString("latin1") === "PK";
  return readXccdf(isZip ? await readZippedXccdf(bytes) : decode(bytes));
}

function decode(xccdf: Uint8Array): string {
  if (xccdf.byteLength > maxXccdfBytes) throw new ContentError(["its XCCDF is larger than 20 MiB"]);
  const text = new TextDecoder().decode(xccdf);
  if (text.includes("\uFFFD")) throw new ContentError(["it is not UTF-8 text: expected DISA's STIG"]);
  if (!text.trimStart().startsWith("<")) throw new ContentError(["it is neither a zip nor XML: expected DISA's STIG"]);
  return text;
}

/** The one XCCDF of the Okta STIG in a zip; those of other STIGs do not count. */
async function readZippedXccdf(bytes: Buffer): Promise<string> {
  const found = await readEntries(bytes).catch((error: unknown) => {
    if (error instanceof ContentError) throw error;
    throw new ContentError([`its zip is broken: ${error instanceof Error ? error.message : "it cannot be read"}`]);
  });
  const xccdf = found.map((text) => ({ text, id: benchmarkIdOf(parseXml(text)) }));
  const [first, second] = xccdf.filter(({ id }) => id === oktaStig);
  if (second !== undefined) throw new ContentError(["its zip has two XCCDF files of the Okta STIG: expected one"]);
  if (first !== undefined) return first.text;
  const others = xccdf.flatMap(({ id }) => (id === null ? [] : [JSON.stringify(id.slice(0, 60))]));
  throw new ContentError([
    `its zip has no XCCDF of the Okta STIG${others.length === 0 ? "" : `, but ${others.slice(0, 5).join(", ")}`}: expected the zip of this one STIG, as DISA publishes it`,
  ]);
}

/** The texts of the entries *xccdf.xml. The library refuses names that lead out of their folder, and entries larger than they say. */
async function readEntries(bytes: Buffer): Promise<readonly string[]> {
  const zip = await fromBufferPromise(bytes);
  const texts: string[] = [];
  let size = 0;
  for await (const entry of zip.eachEntry()) {
    if (!/xccdf\.xml$/i.test(entry.fileName)) continue;
    size += entry.uncompressedSize;
    if (size > maxXccdfBytes) throw new ContentError(["the XCCDF in its zip is larger than 20 MiB"]);
    texts.push(decode(await buffer(await zip.openReadStreamPromise(entry))));
  }
  return texts;
}
