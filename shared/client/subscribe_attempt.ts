import { createParser } from "eventsource-parser";
import { abortable } from "../abortable.ts";
import { parseJsonObject } from "../json.ts";
import { isHeaderSafe } from "../text.ts";
import { withTimeout } from "../with_timeout.ts";
import { openConnection } from "./subscribe_connection.ts";
import { streamError, SubscribeError, type SubscribeErrorCode, type SubscribeErrorOptions } from "./subscribe_error.ts";
import { heartbeatsOfSilence, maxWaitMs, type RawEvent, type SubscribeSettings } from "./subscribe_options.ts";

/** The state that one attempt leaves to the next. */
export const createProgress = () => ({
  wasOpen: false,
  /** Time of `performance.now()`; Infinity while the stream is not open. */
  openedAtMs: Infinity,
  /** A stream was open, and its state was read. */
  wasLive: false,
  /** The last token was. */
  wasRefused: false,
  serverRetryMs: 0,
  /** Settles when the refetch of an earlier, lost stream is over. */
  refetching: Promise.resolve<unknown>(null),
});

export interface Attempt {
  readonly settings: SubscribeSettings;
  /** The caller closes the subscription. */
  readonly signal: AbortSignal;
  readonly progress: ReturnType<typeof createProgress>;
  /** The stream is open and state was refetched. */
  readonly onLive: () => void;
}

/**
 * Opens the stream once and follows it until it ends, is lost, or the caller closes it (the result is then ignored).
 * Resolves with the terminal event, null where the resource had ended already, or why the stream was lost. Never rejects.
 */
export async function runAttempt(attempt: Attempt): Promise<RawEvent | null | SubscribeError> {
  const { settings, progress } = attempt;
  // Owns everything of this attempt: the request, its timers, the caller's refetch.
  const own = new AbortController();
  const signal = AbortSignal.any([attempt.signal, own.signal]);
  /** Null where silence means nothing: before the stream is open, and while nothing is read. */
  let lastByteMs: number | null = null;
  let closeReason: string | null = null;

  const lost = (code: SubscribeErrorCode, what: string, options?: SubscribeErrorOptions) =>
    streamError(settings.url, code, what, options);
  let { silenceMs } = settings;
  // While a machine sleeps, its wall clock runs and its timers do not.
  const silence = setInterval(() => {
    if (lastByteMs === null || Date.now() - lastByteMs < silenceMs) return;
    own.abort(lost("silent", `no heartbeat within ${silenceMs} ms`));
  }, settings.silenceMs / 8);
  const expectBytes = () => {
    lastByteMs = Date.now();
  };

  try {
    return await follow();
  } catch (error) {
    const known = [error, signal.reason].find((reason) => reason instanceof SubscribeError);
    return known ?? lost("cut", "the connection broke", { cause: error });
  } finally {
    clearInterval(silence);
    own.abort();
  }

  async function follow(): Promise<RawEvent | null> {
    const connecting = readToken().then((token) => openConnection(settings, token, signal));
    const body = await inTime(connecting, settings.connectTimeoutMs, "timeout", "no answer");
    if (body === null) {
      await refetch();
      return null;
    }
    progress.wasOpen = true;
    progress.openedAtMs = performance.now();
    progress.wasRefused = false;
    const reader = body.getReader();
    try {
      return await readUntilEnd(reader);
    } finally {
      // The stream may be broken already; then there is nothing to cancel.
      void reader.cancel().catch(() => undefined);
    }
  }

  async function readToken(): Promise<string | undefined> {
    const { getAccessToken } = settings;
    if (getAccessToken === undefined) return undefined;
    const { wasRefused } = progress;
    const token = await call("token_failed", "getAccessToken", () => getAccessToken({ wasRefused, signal }));
    if (!isHeaderSafe(token)) throw lost("callback_failed", "getAccessToken did not give a token");
    return token;
  }

  async function readUntilEnd(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<RawEvent | null> {
    const snapshotRead = Promise.withResolvers<readonly RawEvent[]>();
    let snapshot: RawEvent[] | null = settings.onSnapshot === undefined ? null : [];
    const waiting: RawEvent[] = [];
    let waitingChars = 0;
    // No event is the last one unless the gateway's comment `terminal` names its type.
    let terminalType: string | null = null;
    let endsLeft = Infinity;
    let isEndSeen = false;
    // The parser drops the byte order mark; if the decoder did too, a second one would go unseen.
    const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
    const parser = createParser({
      // An endless line must not become endless memory.
      maxBufferSize: settings.maxEventChars,
      onRetry(retryMs) {
        progress.serverRetryMs = Math.min(retryMs, maxWaitMs);
      },
      onError({ type }) {
        if (type !== "max-buffer-size-exceeded") return;
        throw lost("garbage", `an event is longer than ${settings.maxEventChars} characters`);
      },
      onComment(comment) {
        const [, word, value = "", count] =
          /^ ?(close|heartbeat-seconds|terminal) (\S{1,200})(?: ([1-9]\d{0,8}))?/.exec(comment) ?? [];
        if (word === "close") closeReason = value;
        else if (word === "terminal") {
          terminalType = value;
          endsLeft = Number(count);
        }
        // A gateway says it where it is longer than the default.
        else if (word)
          silenceMs = Math.min(Math.max(silenceMs, Number(value) * 1000 * heartbeatsOfSilence) || silenceMs, maxWaitMs);
        if (snapshot === null || comment.trim() !== "snapshot complete") return;
        snapshotRead.resolve(snapshot);
        snapshot = null;
      },
      onEvent({ event: type = "message", data: text }) {
        // Nothing follows the terminal event.
        if (isEndSeen) return;
        const data = parseJsonObject(text);
        if (data === null) {
          throw lost("garbage", `the data of event ${JSON.stringify(type.slice(0, 80))} is not a JSON object`);
        }
        const event = { type, data };
        waitingChars += text.length;
        if (snapshot === null) {
          waiting.push(event);
          if (type === terminalType) endsLeft -= 1;
          isEndSeen = endsLeft === 0;
        } else if (type.endsWith(".snapshot")) snapshot.push(event);
        else throw lost("no_snapshot", `it began with ${JSON.stringify(type.slice(0, 80))} instead of a snapshot`);
      },
    });
    let isSynced = false;
    const synced = open(snapshotRead.promise).then(() => {
      isSynced = true;
      progress.wasLive = true;
      attempt.onLive();
    });
    expectBytes();
    // Started only where it is waited for: a read ahead that is rejected while an event is being worked on has no handler
    // yet, and that ends the process.
    let read: ReturnType<typeof reader.read> | null = null;
    for (;;) {
      if (isSynced) {
        for (const event of waiting) {
          await deliver(event);
          if (isEndSeen && event === waiting.at(-1)) return event;
        }
        waiting.length = 0;
        waitingChars = 0;
      }
      if (isEndSeen) {
        // Only the state before the terminal event is still to come.
        lastByteMs = null;
        await synced;
        continue;
      }
      read ??= reader.read();
      const result = await abortable(isSynced ? read : Promise.race([read, synced]), signal);
      if (result === undefined) continue;
      read = null;
      if (result.done) {
        const why = closeReason === null ? "" : ` (${closeReason})`;
        throw lost("closed", `the server ended the stream${why}`, { detail: closeReason });
      }
      parser.feed(decoder.decode(result.value, { stream: true }));
      expectBytes();
      if (waitingChars > settings.maxWaitingChars) {
        throw lost("refetch_failed", "too much came before the state was read");
      }
    }
  }

  async function open(snapshotRead: Promise<readonly RawEvent[]>): Promise<void> {
    const { onSnapshot } = settings;
    if (onSnapshot !== undefined) {
      const snapshot = await inTime(snapshotRead, settings.refetchTimeoutMs, "no_snapshot", "no snapshot");
      await call("callback_failed", "onSnapshot", () => onSnapshot(snapshot));
    }
    await refetch();
  }

  async function refetch(): Promise<void> {
    const read = async () => {
      await abortable(progress.refetching, signal);
      // The caller's own promise, not the wait for it: that ends with the signal, whether the caller heeds it or not.
      const running = new Promise((resolve) => resolve(settings.refetch(signal)));
      progress.refetching = running.catch(() => undefined);
      await call("refetch_failed", "refetch", () => running);
    };
    await inTime(read(), settings.refetchTimeoutMs, "refetch_failed", "no refetched state");
  }

  function inTime<Value>(promise: Promise<Value>, ms: number, code: SubscribeErrorCode, what: string): Promise<Value> {
    return withTimeout(abortable(promise, signal), ms, () => lost(code, `${what} within ${ms} ms`));
  }

  /** Silence means nothing while the caller works on an event: nothing is read. */
  async function deliver(event: RawEvent): Promise<void> {
    lastByteMs = null;
    await call("callback_failed", "onEvent", () => settings.onEvent(event));
    expectBytes();
  }

  /** Calls the caller's function; its error names the function, and the signal ends the wait for it. */
  async function call<Value>(code: SubscribeErrorCode, name: string, callback: () => Value | Promise<Value>) {
    if (signal.aborted) throw signal.reason;
    try {
      // Inside a promise, so that a synchronous throw becomes a rejection.
      return await abortable(new Promise<Value>((resolve) => resolve(callback())), signal);
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      // A token or a refetch that fails permanently keeps its own code; an event that cannot be handled is a bug.
      if (error instanceof SubscribeError && code !== "callback_failed") throw error;
      const text = error instanceof Error ? error.message : String(error);
      throw new SubscribeError(code, `${name} failed: ${text}`, { cause: error });
    }
  }
}
