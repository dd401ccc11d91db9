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
  const parse = createEventParser(
    { ...handlers, onRetry: (retryMs) => handlers.onRetry(Math.min(retryMs, maxWaitMs)) },
    maxEventChars,
  );
  return (bytes) => parse(decoder.decode(bytes, { stream: true }));
}

/**
 * Reads an event stream in pieces of any size, https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream
 * Written here because npm's parsers are a third of what a browser may load for `subscribe`, and `id` means nothing to it.
 */
function createEventParser(handlers: EventHandlers, maxEventChars: number): (text: string) => void {
  let isFirst = true;
  /** The last piece ended with a carriage return, so that a line feed may still belong to it. */
  let isReturnLast = false;
  let rest = "";
  let type = "";
  let data: string | null = null;

  function onLine(line: string): void {
    if (line === "") {
      if (data !== null) handlers.onEvent(type === "" ? "message" : type, data);
      type = "";
      data = null;
      return;
    }
    const colon = line.indexOf(":");
    if (colon === 0) return handlers.onComment(line.slice(1));
    const name = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? "" : line.slice(colon + (line[colon + 1] === " " ? 2 : 1));
    if (name === "event") type = value;
    else if (name === "data") data = data === null ? value : `${data}\n${value}`;
    else if (name === "retry" && /^\d+$/.test(value)) handlers.onRetry(Number(value));
    bound();
  }

  function bound(): void {
    if (rest.length + (data?.length ?? 0) > maxEventChars) handlers.onOverflow();
  }

  return (text) => {
    if (text === "") return;
    const isFeedSkipped = isReturnLast && text.startsWith("\n");
    const isMarkSkipped = isFirst && text.startsWith("\uFEFF");
    isFirst = false;
    const all = rest + (isFeedSkipped || isMarkSkipped ? text.slice(1) : text);
    const lineEnd = /\r\n?|\n/g;
    // Nothing that was there before holds an end.
    lineEnd.lastIndex = rest.length;
    let from = 0;
    rest = "";
    for (let end = lineEnd.exec(all); end !== null; end = lineEnd.exec(all)) {
      onLine(all.slice(from, end.index));
      from = lineEnd.lastIndex;
    }
    isReturnLast = text.endsWith("\r");
    rest = all.slice(from);
    bound();
  };
}
