import { AppError } from "./app_error.ts";

/** Never holds more than `maxBytes` and one chunk. Rejects with `AppError("too_large")`, and with what reading rejects with. */
export async function readBounded(
  body: ReadableStream<Uint8Array<ArrayBuffer>> | null,
  maxBytes: number,
): Promise<Uint8Array<ArrayBuffer>> {
  const reader = body?.getReader();
  if (reader === undefined) return new Uint8Array();
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    length += value.byteLength;
    if (length > maxBytes) {
      void reader.cancel().catch(() => {}); // The refusal is what counts; the sender may be gone already.
      throw bodyTooLarge(maxBytes);
    }
    chunks.push(value);
  }
  return new Uint8Array(await new Blob(chunks).arrayBuffer());
}

export function bodyTooLarge(maxBytes: number): AppError {
  return new AppError("too_large", `The body is larger than ${maxBytes} bytes`);
}
