import { createParser } from "eventsource-parser";

export interface EventHandlers {
  onEvent(type: string, data: string): void;
  onRetry(retryMs: number): void;
  onComment(comment: string): void;
  /** One event grew over the bound: an endless line must not become endless memory. */
  onOverflow(): void;
}

/** Longer waits are capped (and a timer over 2^31 ms would fire at once). */
export const maxWaitMs = 3_600_000;

/** Turns the chunks of one stream into calls of the handlers, in order, and throws what they throw. */
export function createEventReader(handlers: EventHandlers, maxEventChars: number): (bytes: Uint8Array) => void {
  // The parser drops the byte order mark; if the decoder did too, a second one would go unseen.
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  const parser = createParser({
    maxBufferSize: maxEventChars,
    onEvent: ({ event = "message", data }) => handlers.onEvent(event, data),
    onRetry: (retryMs) => handlers.onRetry(Math.min(retryMs, maxWaitMs)),
    onComment: (comment) => handlers.onComment(comment),
    onError({ type }) {
      if (type === "max-buffer-size-exceeded") handlers.onOverflow();
    },
  });
  return (bytes) => parser.feed(decoder.decode(bytes, { stream: true }));
}
