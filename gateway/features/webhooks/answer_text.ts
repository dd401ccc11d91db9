/**
 * The beginning of a body as text, for the list of deliveries. Reads no more than `maxBytes` and one chunk, and never rejects: what
 * came until a sender stopped sending is what there is.
 */
export async function readBeginning(body: AsyncIterable<Uint8Array> | null, maxBytes: number): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  let length = 0;
  try {
    for await (const chunk of body ?? []) {
      text += decoder.decode(chunk.subarray(0, maxBytes - length), { stream: true });
      length += chunk.byteLength;
      if (length >= maxBytes) break;
    }
  } catch {
    // The status has come already, and it decides.
  }
  return text;
}
