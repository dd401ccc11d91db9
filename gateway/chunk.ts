/**
 * The bytes of one or more whole events, made once and handed to every stream: nobody copies them, nobody changes them.
 */
export interface Chunk {
  /** Server-sent events as they are. A view on the middle of `chunked`. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** The same as one chunk of the chunked transfer coding (RFC 9112, section 7.1): for sinks that own an HTTP/1.1 socket. */
  readonly chunked: Uint8Array<ArrayBuffer>;
}

const encoder = new TextEncoder();
const lineEnd = [0x0d, 0x0a];

/** Encodes text that is not empty: an empty chunk would end the HTTP response. */
export function encodeChunk(text: string): Chunk {
  if (text === "") throw new RangeError("Cannot encode a chunk: the text is empty");
  const head = `${text.length.toString(16)}\r\n`;
  const chunked = encoder.encode(`${head}${text}\r\n`);
  // ASCII, as nearly every event is: as many bytes as characters, so that the head was right and one encoding is enough.
  const end = head.length + text.length;
  if (chunked.byteLength === end + 2) return { bytes: chunked.subarray(head.length, end), chunked };
  return encodeWideChunk(text);
}

function encodeWideChunk(text: string): Chunk {
  const body = encoder.encode(text);
  const head = encoder.encode(`${body.byteLength.toString(16)}\r\n`);
  const end = head.byteLength + body.byteLength;
  const chunked = new Uint8Array(end + 2);
  chunked.set(head);
  chunked.set(body, head.byteLength);
  chunked.set(lineEnd, end);
  return { bytes: chunked.subarray(head.byteLength, end), chunked };
}
