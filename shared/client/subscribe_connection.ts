import { createParser, type EventSourceMessage } from "eventsource-parser";
import { problemDetail } from "../problem_detail.ts";
import { SubscribeError, type SubscribeErrorCode } from "./subscribe_error.ts";

/** One attempt to open the stream. */
export interface ConnectionRequest {
  readonly url: string;
  readonly fetch: typeof fetch;
  /** The whole value of the `Authorization` header. */
  readonly authorization: string | null;
  /** Sent as `?access_token=` instead. */
  readonly queryToken: string | null;
  readonly signal: AbortSignal;
}

const maxProblemBytes = 65_536;
/** Longer waits are capped (and a timer over 2^31 ms would fire at once). */
const maxWaitMs = 3_600_000;

/** The open stream's bytes, or `null` for 204: the resource has already ended. Rejects with `SubscribeError`. */
export async function openConnection(request: ConnectionRequest): Promise<ReadableStream<Uint8Array> | null> {
  const response = await send(request);
  if (response.status === 204) {
    await discard(response);
    return null;
  }
  if (response.status !== 200) throw await toRefusal(request, response);
  const contentType = response.headers.get("content-type") ?? "none";
  if (response.body === null || !/^text\/event-stream\s*(;|$)/i.test(contentType)) {
    await discard(response);
    throw new SubscribeError(
      "not_a_stream",
      `Cannot follow ${shown(request.url)}: content type ${JSON.stringify(contentType.slice(0, 80))} is not "text/event-stream"`,
      { status: 200 },
    );
  }
  return response.body;
}

export interface EventReaderHandlers {
  onRetry(retryMs: number): void;
  onComment(comment: string): void;
}

/**
 * Turns the chunks of one stream into events. `feed` throws `SubscribeError` (`garbage`) when one event grows over
 * `maxEventChars`: an endless line must not become endless memory.
 */
export function createEventReader(
  handlers: EventReaderHandlers,
  maxEventChars: number,
): { feed(bytes: Uint8Array): readonly EventSourceMessage[] } {
  // The parser drops the byte order mark; if the decoder did too, a second one would go unseen.
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  let events: EventSourceMessage[] = [];
  let isOverflown = false;
  const parser = createParser({
    maxBufferSize: maxEventChars,
    onEvent: (event) => events.push(event),
    onRetry: (retryMs) => handlers.onRetry(Math.min(retryMs, maxWaitMs)),
    onComment: (comment) => handlers.onComment(comment),
    onError: (error) => {
      if (error.type === "max-buffer-size-exceeded") isOverflown = true;
    },
  });
  return {
    feed(bytes) {
      events = [];
      parser.feed(decoder.decode(bytes, { stream: true }));
      if (isOverflown) {
        throw new SubscribeError(
          "garbage",
          `Cannot read the stream: an event is longer than ${maxEventChars} characters`,
        );
      }
      return events;
    },
  };
}

/** The URL without what could hold a secret, in quotes. */
export function shown(url: string): string {
  return JSON.stringify(url.replace(/[?#].*$/s, "").replace(/^([a-z]+:\/\/)[^/@]*@/i, "$1"));
}

/** The wait that a header asks for: seconds or an HTTP date (https://www.rfc-editor.org/rfc/rfc9110#field.retry-after). */
function parseRetryAfterMs(headers: Headers, nowMs: number): number | null {
  const value = headers.get("retry-after")?.trim() ?? "";
  if (/^\d+$/.test(value)) return Math.min(Number(value) * 1000, maxWaitMs);
  const untilMs = Date.parse(value);
  if (Number.isNaN(untilMs)) return null;
  // Measured by the server's clock where it sends a date: ours may be wrong by hours.
  const serverNowMs = Date.parse(headers.get("date") ?? "");
  return Math.min(Math.max(0, untilMs - (Number.isNaN(serverNowMs) ? nowMs : serverNowMs)), maxWaitMs);
}

async function send(request: ConnectionRequest): Promise<Response> {
  const headers = new Headers({ accept: "text/event-stream" });
  if (request.authorization !== null) headers.set("authorization", request.authorization);
  const url = request.queryToken === null ? request.url : withQueryToken(request.url, request.queryToken);
  try {
    return await request.fetch(url, { headers, cache: "no-store", signal: request.signal });
  } catch (error) {
    if (request.signal.aborted) throw request.signal.reason;
    throw new SubscribeError("unreachable", `Cannot follow ${shown(request.url)}: the server cannot be reached`, {
      // Deno writes the whole URL into its message, query and all.
      cause: request.queryToken === null ? error : undefined,
    });
  }
}

function withQueryToken(url: string, token: string): string {
  const [beforeFragment = ""] = url.split("#", 1);
  const joint = beforeFragment.includes("?") ? "&" : "?";
  return `${beforeFragment}${joint}access_token=${encodeURIComponent(token)}`;
}

async function toRefusal(request: ConnectionRequest, response: Response): Promise<SubscribeError> {
  const detail = await readProblemDetail(response);
  return new SubscribeError(
    toCode(response.status),
    `Cannot follow ${shown(request.url)}: the server answered ${response.status}${detail === null ? "" : ` (${detail})`}`,
    { status: response.status, detail, retryAfterMs: parseRetryAfterMs(response.headers, Date.now()) },
  );
}

function toCode(status: number): SubscribeErrorCode {
  if (status === 401) return "not_authenticated";
  if (status === 403) return "permission_denied";
  if (status === 404) return "not_found";
  // 408 and 425 invite a retry.
  if (status === 408 || status === 425 || status === 429 || status >= 500) return "unavailable";
  return "refused";
}

async function readProblemDetail(response: Response): Promise<string | null> {
  if (!/^application\/(problem\+)?json\s*(;|$)/i.test(response.headers.get("content-type") ?? "")) {
    await discard(response);
    return null;
  }
  // The status alone decides; a body that breaks or is too long only costs the detail.
  const text = await readText(response, maxProblemBytes).catch(() => "");
  return problemDetail(text)?.slice(0, 500) ?? null;
}

async function readText(response: Response, maxBytes: number): Promise<string> {
  if (response.body === null) return "";
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  let text = "";
  let byteCount = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    byteCount += value.byteLength;
    if (byteCount > maxBytes) {
      await reader.cancel();
      throw new RangeError(`Cannot read the answer: it is longer than ${maxBytes} bytes`);
    }
    text += decoder.decode(value, { stream: true });
  }
}

/** An unread body would keep its connection busy. */
async function discard(response: Response): Promise<void> {
  await response.body?.cancel().catch(() => undefined);
}
