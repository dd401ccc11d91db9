import { nextTurn } from "../../../next_turn.ts";
import type { ReportRow } from "./report_store.ts";

/** Workers inflate at once all that they are given, to a thousand times as much, and keep it until it is read. */
const inflatedAtOnceBytes = 4096;

/**
 * A stored report as it was sent. One part is in memory, and what a few kilobytes of it inflate to. The first part is read at once,
 * so that an outage is a separate answer; what fails later breaks the answer off, because no client may take half a report for a
 * whole one.
 */
export async function openReport(
  { partCount, sizeBytes }: Pick<ReportRow, "partCount" | "sizeBytes">,
  readPart: (part: number) => Promise<Uint8Array<ArrayBuffer>>,
): Promise<ReadableStream<Uint8Array>> {
  let content = await readPart(0);
  let part = 0;
  let offset = 0;
  let length = 0;
  const gzip = new DecompressionStream("gzip");
  const writer = gzip.writable.getWriter();
  const reader = gzip.readable.getReader();

  async function giveMore(): Promise<void> {
    if (offset >= content.length && part < partCount) {
      part += 1;
      offset = 0;
      content = part < partCount ? await readPart(part) : new Uint8Array();
      // What is wrong with it, the reader says.
      if (part === partCount) void writer.close().catch(() => {});
    }
    const slice = content.subarray(offset, offset + inflatedAtOnceBytes);
    offset += slice.length;
    if (slice.length > 0) void writer.write(slice).catch(() => {});
  }

  return new ReadableStream({
    async pull(controller) {
      const next = reader.read();
      let isThere = false;
      const arrived = next.then(
        () => void (isThere = true),
        () => void (isThere = true),
      );
      for (;;) {
        // Where the runtime inflates in other threads, it says when it has room for more.
        await (part === partCount ? arrived : Promise.race([arrived, writer.ready.catch(() => {})]));
        let cancelTurn = (): void => undefined;
        await Promise.race([arrived, new Promise<void>((resolve) => (cancelTurn = nextTurn(resolve)))]);
        cancelTurn();
        if (isThere) break;
        await giveMore();
      }
      const { done, value } = await next;
      if (done) {
        controller.close();
        return;
      }
      length += value.byteLength;
      // What was imported may inflate to more than it says.
      if (length > sizeBytes) throw new RangeError("A stored report is larger than it says");
      controller.enqueue(value);
    },
    async cancel(reason) {
      await Promise.allSettled([reader.cancel(reason), writer.abort(reason)]);
    },
  });
}
