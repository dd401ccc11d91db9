import { readFileSync } from "node:fs";
import { join } from "node:path";
import { deflateRawSync } from "node:zlib";
import { makeZip } from "../../scanner/signing/zip.ts";

/** DISA's own file of V1R1, as it was published. */
export const v1r1File = join(import.meta.dirname, "../fixtures/stig/U_Okta_IDaaS_STIG_V1R1_Manual-xccdf.xml");
export const v1r1 = readFileSync(v1r1File, "utf8");

/** What stands in a zip's directory about one entry, in place of what is true. */
export interface EntryChange {
  readonly name: string;
  /** Compresses the content, and says that it has this size. */
  readonly claimedSize?: number;
  readonly mode?: number;
  readonly flags?: number;
}

/** A zip as an attacker writes it. */
export function zipOf(files: Readonly<Record<string, string | Buffer>>, ...changes: readonly EntryChange[]): Buffer {
  const claim = (name: string) => changes.find((change) => change.name === name)?.claimedSize;
  const entries = Object.entries(files).map(([name, content]) => ({
    name,
    content: claim(name) === undefined ? Buffer.from(content) : deflateRawSync(Buffer.from(content)),
  }));
  const zip = Buffer.from(makeZip(entries));
  let at = zip.indexOf(Buffer.from([0x50, 0x4b, 0x01, 0x02]));
  while (zip.readUInt32LE(at) === 0x02014b50) {
    const length = zip.readUInt16LE(at + 28);
    const name = zip.subarray(at + 46, at + 46 + length).toString();
    for (const { claimedSize, mode, flags } of changes.filter((change) => change.name === name)) {
      if (claimedSize !== undefined) zip.writeUInt16LE(8, at + 10);
      if (claimedSize !== undefined) zip.writeUInt32LE(claimedSize, at + 24);
      if (mode !== undefined) zip.writeUInt32LE(mode * 65_536, at + 38);
      if (flags !== undefined) zip.writeUInt16LE(flags, at + 8);
    }
    at += 46 + length;
  }
  return zip;
}
