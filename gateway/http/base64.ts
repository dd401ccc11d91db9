/** Node has no `toBase64` yet, browsers and workerd have no `Buffer`. A megabyte takes well under a millisecond with both. */
interface NodeGlobals {
  readonly Buffer?: {
    from(bytes: ArrayBufferLike, offset: number, length: number): { toString(encoding: "base64"): string };
    from(text: string, encoding: "base64"): Uint8Array;
  };
}
interface NativeBytes {
  fromBase64?(text: string): Uint8Array<ArrayBuffer>;
}

const { Buffer: buffer } = globalThis as NodeGlobals;
const native = Uint8Array as NativeBytes;

export function toBase64(bytes: Uint8Array): string {
  if (buffer !== undefined) return buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
  return (bytes as Uint8Array & { toBase64(): string }).toBase64();
}

/** Takes what `toBase64` or Postgres has made, which breaks its lines. */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  if (native.fromBase64 !== undefined) return native.fromBase64(text);
  return new Uint8Array(buffer?.from(text, "base64") ?? []);
}
