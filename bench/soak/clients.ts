import { get, type IncomingMessage } from "node:http";
import { pause } from "../../shared/abortable.ts";
import { openLoadStream, type Tally } from "./load_stream.ts";
import type { ProducedScan } from "./producer.ts";

/** State that the clients of a soak share. */
export interface SoakRun {
  readonly url: string;
  readonly tally: Tally;
  /** Aborts when clients are to leave. */
  readonly over: AbortSignal;
}

/** An event that an open stream does not get within this time is lost. */
const deliveryMs = 60_000;

/** Opens a stream, reads for up to three seconds, waits for what was published by then, and leaves; again and again. */
export async function ordinaryClient(run: SoakRun, scans: readonly ProducedScan[]): Promise<void> {
  while (!run.over.aborted) {
    const scan = scans[Math.floor(Math.random() * scans.length)];
    if (scan === undefined) throw new Error("There is no scan to follow");
    const { apiKey } = scan.tenant;
    const stream = openLoadStream({ url: streamUrl(run, scan), apiKey, tally: run.tally, published: scan });
    await Promise.race([stream.answered, pause(5000, [run.over])]);
    await pause(50 + Math.random() * 3000, [run.over]);
    const untilMs = performance.now() + deliveryMs;
    while (stream.isOpen && !stream.isComplete && performance.now() < untilMs) await pause(10, []);
    await stream.close();
  }
}

/** Reads nothing of much traffic for five seconds: the gateway closes the stream as slow and keeps its memory bounded. */
export async function slowReader(run: SoakRun, scan: ProducedScan, onClosed: () => void): Promise<void> {
  while (!run.over.aborted) {
    const request = get(streamUrl(run, scan), {
      agent: false,
      headers: { authorization: `Api-Key ${scan.tenant.apiKey}` },
    });
    const closed = new Promise<void>((resolve) => void request.once("close", resolve).on("error", () => resolve()));
    const response = await Promise.race([
      new Promise<IncomingMessage>((resolve) => void request.once("response", resolve)),
      closed.then(() => null),
    ]);
    if (response?.statusCode === 200) {
      let tail = "";
      const ended = new Promise<boolean>(
        (resolve) => void response.on("error", () => undefined).once("close", () => resolve(true)),
      );
      await pause(5000, [run.over]);
      response.setEncoding("utf8").on("data", (text: string) => (tail = (tail + text).slice(-100)));
      const isEnded = await Promise.race([ended, pause(2000, []).then(() => false)]);
      // A stream that is closed as slow has its last bytes, or a reset in their place.
      if (isEnded && !/: close lost/.test(tail)) onClosed();
    }
    request.destroy();
    await closed;
    await pause(300, [run.over]);
  }
}

function streamUrl({ url }: SoakRun, { scanId }: ProducedScan): URL {
  return new URL(`/api/v1/scans/${scanId}/event-stream`, url);
}
