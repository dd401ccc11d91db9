import { abortable } from "../abortable.ts";
import { createEventReader, openConnection, shown } from "./subscribe_connection.ts";
import { SubscribeError, type SubscribeErrorCode } from "./subscribe_error.ts";
import { isHeaderSafe, type RawEvent, type SubscribeSettings } from "./subscribe_options.ts";

/** What one attempt needs from the earlier ones. */
export interface AttemptContext {
  readonly wasRefused: boolean;
  /** Settles when the refetch of an earlier, lost stream is over. */
  readonly earlierRefetch: Promise<void>;
  /** The caller closes the subscription. */
  readonly signal: AbortSignal;
  onOpen(): void;
  /** The stream is open and state was refetched. */
  onLive(): void;
  onRetry(retryMs: number): void;
  onRefetch(refetch: Promise<void>): void;
}

export type Outcome =
  | { readonly kind: "ended"; readonly event: RawEvent | null }
  | { readonly kind: "lost"; readonly error: SubscribeError };

/** Opens the stream once and follows it until it ends, is lost, or the caller closes it (the result is then ignored). Never rejects. */
export async function runAttempt(settings: SubscribeSettings, context: AttemptContext): Promise<Outcome> {
  // Owns everything of this attempt: the request, its timers, the caller's refetch.
  const own = new AbortController();
  const close = () => own.abort(context.signal.reason);
  context.signal.addEventListener("abort", close, { once: true });
  if (context.signal.aborted) close();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let closeReason: string | null = null;

  const giveUpAfter = (ms: number, code: SubscribeErrorCode, what: string) => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      own.abort(new SubscribeError(code, `Cannot follow ${shown(settings.url)}: ${what} within ${ms} ms`));
    }, ms);
  };
  const expectBytes = () => giveUpAfter(settings.silenceMs, "silent", "no heartbeat");

  try {
    return { kind: "ended", event: await follow() };
  } catch (error) {
    return { kind: "lost", error: explain(error) };
  } finally {
    clearTimeout(timer);
    context.signal.removeEventListener("abort", close);
    own.abort();
  }

  /** Resolves with the terminal event, or null when the resource had already ended. */
  async function follow(): Promise<RawEvent | null> {
    giveUpAfter(settings.connectTimeoutMs, "timeout", "no answer");
    const body = await openConnection({
      url: settings.url,
      fetch: settings.fetch,
      ...(await authorize()),
      signal: own.signal,
    });
    clearTimeout(timer);
    if (body === null) {
      await refetch();
      return null;
    }
    context.onOpen();
    const reader = body.getReader();
    try {
      return await readUntilEnd(reader);
    } finally {
      // The stream may be broken already; then there is nothing to cancel.
      void reader.cancel().catch(() => undefined);
    }
  }

  async function authorize(): Promise<{ readonly authorization: string | null; readonly queryToken: string | null }> {
    if (settings.apiKey !== null) return { authorization: `Api-Key ${settings.apiKey}`, queryToken: null };
    if (settings.getAccessToken === null) return { authorization: null, queryToken: null };
    const { getAccessToken } = settings;
    const request = { wasRefused: context.wasRefused, signal: own.signal };
    const token = await call("token_failed", "getAccessToken", () => getAccessToken(request));
    if (!isHeaderSafe(token)) {
      throw new SubscribeError("callback_failed", "Cannot subscribe: getAccessToken did not give a token");
    }
    return settings.tokenIn === "query"
      ? { authorization: null, queryToken: token }
      : { authorization: `Bearer ${token}`, queryToken: null };
  }

  async function readUntilEnd(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<RawEvent | null> {
    const events = createEventReader(
      {
        onRetry: (retryMs) => context.onRetry(retryMs),
        onComment: (comment) => {
          closeReason = /^\s*close (\S{1,40})/.exec(comment)?.[1] ?? closeReason;
        },
      },
      settings.maxEventChars,
    );
    const waiting: RawEvent[] = [];
    let waitingChars = 0;
    let isEndSeen = false;
    let isSynced = false;
    let isLive = false;
    const synced = open().then(() => {
      isSynced = true;
    });
    expectBytes();
    // Started only where it is waited for: a read ahead that is rejected while an event is being worked on has no handler
    // yet, and that ends the process.
    let read: ReturnType<typeof reader.read> | null = null;
    for (;;) {
      if (isSynced) {
        if (!isLive) context.onLive();
        isLive = true;
        for (const event of waiting) {
          await deliver(event);
          if (isEndSeen && event === waiting.at(-1)) return event;
        }
        waiting.length = 0;
        waitingChars = 0;
      }
      if (isEndSeen) {
        // Nothing follows the terminal event; what is still to come is only the state before it.
        clearTimeout(timer);
        await synced;
        continue;
      }
      read ??= reader.read();
      const result = await abortable(isSynced ? read : Promise.race([read, synced]), own.signal);
      if (result === undefined) continue;
      read = null;
      if (result.done) throw new SubscribeError("closed", closedMessage(), { detail: closeReason });
      expectBytes();
      for (const message of events.feed(result.value)) {
        const event = parseEvent(message.event ?? "message", message.data);
        waiting.push(event);
        waitingChars += message.data.length;
        isEndSeen = isEnd(event);
        if (isEndSeen) break;
      }
      if (waitingChars > settings.maxWaitingChars) {
        throw new SubscribeError("refetch_failed", "Cannot follow the stream: too many events came during the refetch");
      }
    }
  }

  async function open(): Promise<void> {
    await call("callback_failed", "onOpen", settings.onOpen);
    await refetch();
  }

  async function refetch(): Promise<void> {
    const { refetchTimeoutMs } = settings;
    const late = setTimeout(() => {
      own.abort(new SubscribeError("refetch_failed", `Cannot refetch: no result within ${refetchTimeoutMs} ms`));
    }, refetchTimeoutMs);
    try {
      await abortable(context.earlierRefetch, own.signal);
      // The caller's own promise, not the wait for it: that ends with the signal, whether the caller heeds it or not.
      const running = new Promise((resolve) => resolve(settings.refetch(own.signal)));
      context.onRefetch(
        running.then(
          () => undefined,
          () => undefined,
        ),
      );
      await call("refetch_failed", "refetch", () => running);
    } finally {
      clearTimeout(late);
    }
  }

  function isEnd(event: RawEvent): boolean {
    try {
      return settings.isEnd(event);
    } catch (error) {
      throw explainCallback("callback_failed", "isEnd", error);
    }
  }

  async function deliver(event: RawEvent): Promise<void> {
    if (own.signal.aborted) throw own.signal.reason;
    let returned: unknown;
    try {
      returned = settings.onEvent(event);
    } catch (error) {
      throw explainCallback("callback_failed", "onEvent", error);
    }
    if (!isPromise(returned)) return;
    // Nothing is read meanwhile, so silence would mean nothing.
    clearTimeout(timer);
    await call("callback_failed", "onEvent", () => returned);
    expectBytes();
  }

  /** Calls the caller's function; its error names the function, and the signal ends the wait for it. */
  async function call<Value>(
    code: SubscribeErrorCode,
    name: string,
    callback: () => Value | Promise<Value>,
  ): Promise<Value> {
    try {
      return await abortable(
        // Inside a promise, so that a synchronous throw becomes a rejection.
        new Promise<Value>((resolve) => resolve(callback())),
        own.signal,
      );
    } catch (error) {
      if (own.signal.aborted) throw own.signal.reason;
      throw explainCallback(code, name, error);
    }
  }

  function closedMessage(): string {
    return `The server ended the stream ${shown(settings.url)}${closeReason === null ? "" : ` (${closeReason})`}`;
  }

  function explain(error: unknown): SubscribeError {
    if (error instanceof SubscribeError) return error;
    const reason: unknown = own.signal.reason;
    if (reason instanceof SubscribeError) return reason;
    return new SubscribeError("cut", `The connection of the stream ${shown(settings.url)} broke`, {
      // In query mode a runtime's own message may hold the whole URL.
      cause: settings.tokenIn === "query" ? undefined : error,
    });
  }
}

function explainCallback(code: SubscribeErrorCode, name: string, error: unknown): SubscribeError {
  // A token or a refetch that fails permanently keeps its own code; an event that cannot be handled is a bug.
  if (error instanceof SubscribeError && code !== "callback_failed") return error;
  const text = error instanceof Error ? error.message : String(error);
  return new SubscribeError(code, `${name} failed: ${text}`, { cause: error });
}

function parseEvent(type: string, text: string): RawEvent {
  let data: unknown;
  try {
    data = JSON.parse(text);
  } catch {
    // Reported below, as any other payload that is not an object.
  }
  if (typeof data === "object" && data !== null && !Array.isArray(data)) return { type, data };
  throw new SubscribeError(
    "garbage",
    `Cannot read the stream: the data of event ${JSON.stringify(type.slice(0, 80))} is not a JSON object`,
  );
}

function isPromise(value: unknown): value is Promise<unknown> {
  return typeof value === "object" && value !== null && "then" in value && typeof value.then === "function";
}
