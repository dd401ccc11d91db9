import { once } from "node:events";
import { get, type IncomingMessage } from "node:http";
import { createParser } from "eventsource-parser";

/** One client of one event stream, and everything it saw. */
export type StreamReader = Awaited<ReturnType<typeof openReader>>;

/** Resolves with the answer's head, whatever its status. On a connection of its own, which is gone when the stream is. */
export async function openReader(url: string, authorization: string) {
  const request = get(url, { agent: false, headers: { authorization } });
  const [response] = (await once(request, "response")) as [IncomingMessage];
  const numbers: number[] = [];
  const waiting = new Set<() => void>();
  const closed = Promise.withResolvers<void>();
  const reader = {
    status: response.statusCode ?? 0,
    retryAfter: response.headers["retry-after"] ?? null,
    /** Numbers of the events, in the order in which they came. */
    numbers,
    openedAtMs: performance.now(),
    isClosed: false,
    /** Reason that the gateway wrote before it closed. */
    closeReason: null as string | null,
    closed: closed.promise,
    /** Resolves once an event with this or a later number came; rejects when the stream closes before. */
    async until(number: number) {
      while ((numbers.at(-1) ?? -1) < number) {
        if (reader.isClosed) throw new Error(`Closed (${reader.closeReason}) before event ${number}`);
        await new Promise<void>((resolve) => void waiting.add(resolve));
      }
    },
    leave: () => void request.destroy(),
  };
  const parser = createParser({
    onEvent({ data }) {
      const { n } = JSON.parse(data) as { readonly n?: number };
      if (n !== undefined) numbers.push(n);
      tell();
    },
    onComment(comment) {
      const [, reason] = /^ ?close (\w+)/.exec(comment) ?? [];
      reader.closeReason = reason ?? reader.closeReason;
    },
  });
  if (reader.status === 200) response.setEncoding("utf8").on("data", (text: string) => parser.feed(text));
  else response.resume();
  // However it ends, it is over: when and why is what the tests look at.
  request.on("error", () => undefined);
  response.on("error", () => undefined);
  response.once("close", () => {
    reader.isClosed = true;
    tell();
    closed.resolve();
  });
  return reader;

  function tell(): void {
    for (const resolve of waiting) resolve();
    waiting.clear();
  }
}
