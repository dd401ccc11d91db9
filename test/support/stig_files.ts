import { readFileSync } from "node:fs";
import { join } from "node:path";
import { crc32, deflateRawSync } from "node:zlib";

/** DISA's own file of V1R1, as it was published. */
export const v1r1File = join(import.meta.dirname, "../fixtures/stig/U_Okta_IDaaS_STIG_V1R1_Manual-xccdf.xml");
export const v1r1 = readFileSync(v1r1File, "utf8");

/** False facts about one entry in a zip's directory. */
export interface EntryChange {
  readonly name: string;
  /** Compresses the content, and says that it has this size. */
  readonly claimedSize?: number;
}

/** A zip as an attacker writes it. */
export function zipOf(files: Readonly<Record<string, string | Buffer>>, ...changes: readonly EntryChange[]): Buffer {
  const claim = (name: string) => changes.find((change) => change.name === name)?.claimedSize;
  const entries = Object.entries(files).map(([name, content]) => ({
    name,
    content: claim(name) === undefined ? Buffer.from(content) : deflateRawSync(Buffer.from(content)),
  }));
  const zip = storedZip(entries);
  let at = zip.indexOf(Buffer.from([0x50, 0x4b, 0x01, 0x02]));
  while (zip.readUInt32LE(at) === 0x02014b50) {
    const length = zip.readUInt16LE(at + 28);
    const name = zip.subarray(at + 46, at + 46 + length).toString();
    for (const { claimedSize } of changes.filter((change) => change.name === name)) {
      if (claimedSize !== undefined) zip.writeUInt16LE(8, at + 10);
      if (claimedSize !== undefined) zip.writeUInt32LE(claimedSize, at + 24);
    }
    at += 46 + length;
  }
  return zip;
}

interface ZipEntry {
  readonly name: string;
  readonly content: Uint8Array;
}

/** A zip of entries that are not compressed (APPNOTE 6.3.9). */
function storedZip(entries: readonly ZipEntry[]): Buffer {
  const locals: Uint8Array[] = [];
  const centrals: Uint8Array[] = [];
  let offset = 0;
  for (const { name, content } of entries) {
    const bytes = Buffer.from(name);
    const size = content.byteLength;
    // Version 2.0, names in UTF-8, stored, 1980-01-01.
    const common = record(
      20,
      2,
      0x0800,
      2,
      0,
      2,
      0,
      2,
      0x21,
      2,
      crc32(content),
      4,
      size,
      4,
      size,
      4,
      bytes.length,
      2,
      0,
      2,
    );
    locals.push(record(0x04034b50, 4), common, bytes, content);
    centrals.push(record(0x02014b50, 4, 20, 2), common, record(0, 2, 0, 2, 0, 2, 0, 4, offset, 4), bytes);
    offset += 4 + common.length + bytes.length + size;
  }
  const directory = Buffer.concat(centrals);
  const count = entries.length;
  const end = record(0x06054b50, 4, 0, 2, 0, 2, count, 2, count, 2, directory.length, 4, offset, 4, 0, 2);
  return Buffer.concat([...locals, directory, end]);
}

/** Little-endian numbers: each value with its width in bytes. */
function record(...fields: readonly number[]): Buffer {
  const pairs = fields.flatMap((value, at) => (at % 2 === 0 ? [[value, fields[at + 1] ?? 0] as const] : []));
  const buffer = Buffer.alloc(pairs.reduce((sum, [, width]) => sum + width, 0));
  let at = 0;
  for (const [value, width] of pairs) at = buffer.writeUIntLE(value, at, width);
  return buffer;
}
