/**
 * The bytes of one or more whole events, encoded once and handed to every stream: no stream copies or changes them. Chunks
 * share slabs of memory, because an `ArrayBuffer` for each costs several times its encoding.
 */
export class Chunk {
  /** The number of bytes without the coding. */
  readonly byteLength: number;
  readonly #memory: Uint8Array<ArrayBuffer>;
  /** The place at which the head of the chunked coding begins. */
  readonly #head: number;
  readonly #start: number;
  #bytes: Uint8Array<ArrayBuffer> | null = null;
  #detachedCopy: Chunk | null = null;

  constructor(memory: Uint8Array<ArrayBuffer>, place: ChunkPlace) {
    this.#memory = memory;
    this.#head = place.head;
    this.#start = place.start;
    this.byteLength = place.end - place.start;
  }

  /** Server-sent events as they are. */
  get bytes(): Uint8Array<ArrayBuffer> {
    this.#bytes ??= this.#memory.subarray(this.#start, this.#start + this.byteLength);
    return this.#bytes;
  }

  /** The same as one chunk of the chunked transfer coding (RFC 9112, section 7.1): for sinks that own an HTTP/1.1 socket. */
  get chunked(): Uint8Array<ArrayBuffer> {
    return this.#memory.subarray(this.#head, this.#start + this.byteLength + tailBytes);
  }

  /** A copy outside the slab, for streams that buffer it: a few buffered bytes must not keep a whole slab. */
  get detachedCopy(): Chunk {
    this.#detachedCopy ??= this.#detach();
    return this.#detachedCopy;
  }

  #detach(): Chunk {
    const { chunked } = this;
    if (this.#memory.byteLength <= chunked.byteLength + headBytes) return this;
    const start = this.#start - this.#head;
    return new Chunk(chunked.slice(), { head: 0, start, end: start + this.byteLength });
  }
}

interface ChunkPlace {
  readonly head: number;
  readonly start: number;
  readonly end: number;
}

const encoder = new TextEncoder();
const hexDigits = "0123456789abcdef";
/** Room for the head of the chunked coding: eight digits and a line end. */
const headBytes = 10;
const tailBytes = 2;
const slabBytes = 8192;
/** Longer text is encoded outside the slab. */
const maxSlabChars = 1024;
let slab = new Uint8Array(slabBytes);
let slabUsed = 0;

/** Encodes text that is not empty: an empty chunk would end the HTTP response. */
export function encodeChunk(text: string): Chunk {
  if (text === "") throw new RangeError("Cannot encode a chunk: the text is empty");
  if (text.length > maxSlabChars) return encodeLong(text);
  // A UTF-16 unit is at most three bytes.
  if (slabUsed + headBytes + text.length * 3 + tailBytes > slabBytes) {
    slab = new Uint8Array(slabBytes);
    slabUsed = 0;
  }
  const place = encodeInto(slab, slabUsed, text);
  slabUsed = place.end + tailBytes;
  return new Chunk(slab, place);
}

function encodeLong(text: string): Chunk {
  const byteLength = isAscii(text) ? text.length : encoder.encode(text).byteLength;
  const memory = new Uint8Array(headBytes + byteLength + tailBytes);
  return new Chunk(memory, encodeInto(memory, 0, text));
}

function isAscii(text: string): boolean {
  return !/[^\0-\x7f]/.test(text);
}

/** Writes the events behind room for the head, and then the head, whose length depends on theirs, up against them. */
function encodeInto(memory: Uint8Array<ArrayBuffer>, offset: number, text: string): ChunkPlace {
  const start = offset + headBytes;
  const { written } = encoder.encodeInto(text, memory.subarray(start));
  const end = start + written;
  memory[end] = 0x0d;
  memory[end + 1] = 0x0a;
  let head = start;
  memory[--head] = 0x0a;
  memory[--head] = 0x0d;
  for (let size = written; size > 0; size >>>= 4) memory[--head] = hexDigits.charCodeAt(size & 15);
  return { head, start, end };
}
