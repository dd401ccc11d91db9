/** SHA-1, RFC 3174, for identifiers that a standard makes of it: WebCrypto's has no answer at once. Nothing is secured by it. */
export function sha1(text: string, prefix: Uint8Array = new Uint8Array()): Uint8Array {
  const message = new TextEncoder().encode(text);
  const length = prefix.length + message.length;
  const padded = new Uint8Array((((length + 8) >> 6) + 1) << 6);
  padded.set(prefix);
  padded.set(message, prefix.length);
  padded[length] = 0x80;
  const view = new DataView(padded.buffer);
  view.setUint32(padded.length - 8, Math.floor(length / 0x20000000));
  view.setUint32(padded.length - 4, (length << 3) >>> 0);

  const state = new Int32Array([0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0]);
  const words = new Int32Array(80);
  for (let block = 0; block < padded.length; block += 64) {
    for (let at = 0; at < 80; at += 1) {
      words[at] =
        at < 16
          ? view.getInt32(block + at * 4)
          : rotate(word(words, at - 3) ^ word(words, at - 8) ^ word(words, at - 14) ^ word(words, at - 16), 1);
    }
    let [a = 0, b = 0, c = 0, d = 0, e = 0] = state;
    for (let at = 0; at < 80; at += 1) {
      const next = (rotate(a, 5) + mixed(at, b, c, d) + e + word(words, at)) | 0;
      [a, b, c, d, e] = [next, a, rotate(b, 30), c, d];
    }
    for (const [at, value] of [a, b, c, d, e].entries()) state[at] = (word(state, at) + value) | 0;
  }
  const digest = new DataView(new ArrayBuffer(20));
  for (const [at, value] of state.entries()) digest.setInt32(at * 4, value);
  return new Uint8Array(digest.buffer);
}

function mixed(round: number, b: number, c: number, d: number): number {
  if (round < 20) return ((b & c) | (~b & d)) + 0x5a827999;
  if (round < 40) return (b ^ c ^ d) + 0x6ed9eba1;
  if (round < 60) return ((b & c) | (b & d) | (c & d)) + 0x8f1bbcdc;
  return (b ^ c ^ d) + 0xca62c1d6;
}

function rotate(value: number, by: number): number {
  return (value << by) | (value >>> (32 - by));
}

function word(words: Int32Array, at: number): number {
  return words[at] ?? 0;
}
