/** A stream that makes each chunk when the client has taken the one before; an error breaks the answer off. */
export function pulledStream(chunks: AsyncGenerator<Uint8Array<ArrayBuffer>>): ReadableStream<Uint8Array<ArrayBuffer>> {
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await chunks.next();
      if (done === true) controller.close();
      else controller.enqueue(value);
    },
    async cancel() {
      await chunks.return(undefined);
    },
  });
}

/** Deno keeps all that an unread answer was given at once. */
export async function* slicesOf(
  bytes: Uint8Array<ArrayBuffer>,
  sliceBytes = 256 * 1024,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  for (let at = 0; at < bytes.length; at += sliceBytes) yield bytes.subarray(at, at + sliceBytes);
}
