import { crc32 } from "node:zlib";

/**
 * A zip file of stored entries (APPNOTE 6.3.9), sorted by the bytes of their names and all of 1980-01-01, so that the same
 * files give the same bytes. Node has no zip, and a library would compress and take the time of day.
 */

export interface ZipEntry {
  readonly name: string;
  readonly content: Uint8Array;
}

const [localSignature, centralSignature, endSignature] = [0x04034b50, 0x02014b50, 0x06054b50];
const version = 20;
/** Names are UTF-8. */
const flags = 0x0800;
/** 1980-01-01, 00:00. */
const [time, date] = [0, 0x21];

export function makeZip(entries: readonly ZipEntry[]): Uint8Array {
  const sorted = entries
    .map(({ name, content }) => ({ name: Buffer.from(name), content }))
    .toSorted((one, other) => Buffer.compare(one.name, other.name));
  const locals: Uint8Array[] = [];
  const centrals: Uint8Array[] = [];
  let offset = 0;
  for (const { name, content } of sorted) {
    const [crc, size] = [crc32(content), content.byteLength];
    const local = record(
      [localSignature, 4],
      [version, 2],
      [flags, 2],
      [0, 2],
      [time, 2],
      [date, 2],
      [crc, 4],
      [size, 4],
      [size, 4],
      [name.length, 2],
      [0, 2],
    );
    locals.push(local, name, content);
    centrals.push(
      record(
        [centralSignature, 4],
        [version, 2],
        [version, 2],
        [flags, 2],
        [0, 2],
        [time, 2],
        [date, 2],
        [crc, 4],
        [size, 4],
        [size, 4],
        [name.length, 2],
        [0, 2],
        [0, 2],
        [0, 2],
        [0, 2],
        [0, 4],
        [offset, 4],
      ),
      name,
    );
    offset += local.length + name.length + size;
  }
  const directory = Buffer.concat(centrals);
  const count = sorted.length;
  const end = record(
    [endSignature, 4],
    [0, 2],
    [0, 2],
    [count, 2],
    [count, 2],
    [directory.length, 4],
    [offset, 4],
    [0, 2],
  );
  return Buffer.concat([...locals, directory, end]);
}

/** The entries of such a file. Throws `RangeError` for any other zip: what is compressed, or has a folder in its names. */
export function readZip(bytes: Uint8Array): readonly ZipEntry[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const entries: ZipEntry[] = [];
  const names = new Set<string>();
  let at = 0;
  while (at + 30 <= bytes.byteLength && view.getUint32(at, true) === localSignature) {
    const [method, crc, size] = [
      view.getUint16(at + 8, true),
      view.getUint32(at + 14, true),
      view.getUint32(at + 18, true),
    ];
    const [nameLength, extraLength] = [view.getUint16(at + 26, true), view.getUint16(at + 28, true)];
    const start = at + 30 + nameLength + extraLength;
    const name = new TextDecoder("utf-8", { fatal: true }).decode(bytes.subarray(at + 30, at + 30 + nameLength));
    const content = bytes.subarray(start, start + size);
    if (method !== 0 || content.byteLength !== size || crc32(content) !== crc)
      throw new RangeError("an entry is compressed or broken");
    if (names.has(name)) throw new RangeError(`it has two entries ${JSON.stringify(name)}`);
    names.add(name);
    entries.push({ name, content });
    at = start + size;
  }
  if (entries.length === 0 || at + 4 > bytes.byteLength || view.getUint32(at, true) !== centralSignature)
    throw new RangeError("it is not a scanstream package");
  return entries;
}

function record(...fields: readonly (readonly [value: number, bytes: number])[]): Buffer {
  const buffer = Buffer.alloc(fields.reduce((sum, [, bytes]) => sum + bytes, 0));
  fields.reduce((at, [value, bytes]) => buffer.writeUIntLE(value, at, bytes), 0);
  return buffer;
}
