import { readFileSync } from "node:fs";
import { join } from "node:path";
import { crc32 } from "node:zlib";

/** DISA's own file of V1R1, as it was published. */
export const v1r1File = join(import.meta.dirname, "../fixtures/stig/U_Okta_IDaaS_STIG_V1R1_Manual-xccdf.xml");
export const v1r1 = readFileSync(v1r1File, "utf8");

/** A zip (APPNOTE 6.3.9) whose entries are not compressed. */
export function zipOf(files: Readonly<Record<string, string | Buffer>>): Buffer {
  const locals: Buffer[] = [];
  const centrals: Buffer[] = [];
  let offset = 0;
  for (const [file, content] of Object.entries(files)) {
    const [name, raw] = [Buffer.from(file), Buffer.from(content)];
    // Version 2.0, names in UTF-8, 1980-01-01.
    const common = Buffer.concat([
      u16(20, 0x0800, 0, 0, 0x21),
      u32(crc32(raw), raw.length, raw.length),
      u16(name.length, 0),
    ]);
    const local = Buffer.concat([u32(0x04034b50), common, name, raw]);
    locals.push(local);
    centrals.push(u32(0x02014b50), u16(20), common, u16(0, 0, 0), u32(0, offset), name);
    offset += local.length;
  }
  const directory = Buffer.concat(centrals);
  const count = locals.length;
  const end = [u32(0x06054b50), u16(0, 0, count, count), u32(directory.length, offset), u16(0)];
  return Buffer.concat([...locals, directory, ...end]);
}

/** Numbers of two and of four bytes, in the little-endian order of every machine that runs this. */
const u16 = (...numbers: readonly number[]) => Buffer.from(new Uint16Array(numbers).buffer);
const u32 = (...numbers: readonly number[]) => Buffer.from(new Uint32Array(numbers).buffer);
