import type { RequestAccount } from "../limits.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/**
 * A stream that makes each slice of the pieces when the client has taken the one before: Deno keeps all that an unread answer was given
 * at once. An error breaks the answer off. The account is charged for each piece.
 */
export function pulledStream(
  pieces: AsyncIterable<Bytes>,
  account: RequestAccount,
  sliceBytes = 256 * 1024,
): ReadableStream<Bytes> {
  // Every runtime has it, and the types of TypeScript do not.
  const streams = ReadableStream as unknown as { from(slices: AsyncIterable<Bytes>): ReadableStream<Bytes> };
  return streams.from(slicesOf(pieces, account, sliceBytes));
}

async function* slicesOf(
  pieces: AsyncIterable<Bytes>,
  account: RequestAccount,
  sliceBytes: number,
): AsyncGenerator<Bytes> {
  for await (const bytes of pieces) {
    account.chargeAnswer(bytes.length);
    for (let at = 0; at < bytes.length; at += sliceBytes) yield bytes.subarray(at, at + sliceBytes);
  }
}
