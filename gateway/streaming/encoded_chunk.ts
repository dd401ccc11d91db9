/** The bytes of one or more whole events, encoded once and handed to every stream: no stream copies or changes them. */
export interface Chunk {
  /** Server-sent events as they are. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** The same as one chunk of the chunked transfer coding (RFC 9112, section 7.1): for sinks that own an HTTP/1.1 socket. */
  readonly chunked: Uint8Array<ArrayBuffer>;
}

interface NodeGlobals {
  readonly Buffer?: { alloc(size: number): Uint8Array<ArrayBuffer> };
}

/** On Node a socket takes a `Buffer` as it is, and wraps any other array once for each stream. */
const { Buffer: buffer } = globalThis as NodeGlobals;
const encoder = new TextEncoder();

/** Encodes text that is not empty: an empty chunk would end the HTTP response. */
export function encodeChunk(text: string): Chunk {
  if (text === "") throw new RangeError("Cannot encode a chunk: the text is empty");
  const isAscii = !/[^\0-\x7f]/.test(text);
  const byteLength = isAscii ? text.length : encoder.encode(text).byteLength;
  const head = `${byteLength.toString(16)}\r\n`;
  const length = head.length + byteLength + 2;
  const chunked = buffer?.alloc(length) ?? new Uint8Array(length);
  encoder.encodeInto(`${head}${text}\r\n`, chunked);
  return { bytes: chunked.subarray(head.length, head.length + byteLength), chunked };
}
