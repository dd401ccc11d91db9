import type { JsonObject } from "../json.ts";
import { isHeaderSafe } from "../text.ts";
import type { SubscribeError } from "./subscribe_error.ts";

/** One event: a union over the map's types, so that a check of `type` also narrows `data`. */
export type StreamEvent<Events extends object> = {
  readonly [Type in keyof Events & string]: { readonly type: Type; readonly data: Events[Type] };
}[keyof Events & string];

/** An event of a snapshot: its type ends with `.snapshot`. */
export type SnapshotEvent<Events extends object> = Extract<
  StreamEvent<Events>,
  { readonly type: `${string}.snapshot` }
>;

/** `ended` and `failed` are final. After `close()` or an aborted signal no further state is reported. */
export type SubscriptionState = "connecting" | "live" | "reconnecting" | "ended" | "failed";

export interface StateDetail {
  /** With `reconnecting`, why the last attempt failed; with `failed`, why it is over; else null. */
  readonly error: SubscribeError | null;
  /** With `reconnecting`: the pause before the next attempt; 0 while that attempt is in flight. */
  readonly retryInMs: number;
}

export interface TokenRequest {
  /** The server refused the last token with 401: a cached one is of no use. */
  readonly wasRefused: boolean;
  readonly signal: AbortSignal;
}

export interface SubscribeOptions<Events extends object> {
  /** Called for each event, in order. While a returned promise is pending the next event waits. */
  readonly onEvent?: (event: StreamEvent<Events>) => void | Promise<void>;
  /**
   * Asks the server for the present state (`?snapshot=1`) and is called with all of it once on every open, before any event
   * that came after it. Without a snapshot the subscription fails (`no_snapshot`). A resource that ended before the stream
   * could open has none: `finished` then resolves with `event: null`.
   */
  readonly onSnapshot?: (snapshot: readonly SnapshotEvent<Events>[]) => void | Promise<void>;
  /**
   * Reads the resource's current state where the server sends no snapshot, or what a snapshot does not hold. Called on
   * every open, after `onSnapshot`, and once when the resource had already ended; never concurrently. Events that arrive in the meantime are handed over after it, so state followed by events is complete. When it
   * rejects, the subscription reconnects. Its signal aborts when the result is no longer needed.
   */
  readonly refetch?: (signal: AbortSignal) => unknown;
  /** A returned promise is not waited for; when it rejects before the subscription is over, the subscription fails. */
  readonly onStateChange?: (state: SubscriptionState, detail: StateDetail) => void | Promise<void>;
  /**
   * Called before each connect, so that a short-lived token is always fresh. When it rejects it is called again after a
   * pause, unless with a final `SubscribeError` (`not_authenticated`, `permission_denied`, `not_found`).
   */
  readonly getAccessToken?: (request: TokenRequest) => string | Promise<string>;
  /** Sent as `Authorization: Api-Key …`. Not together with `getAccessToken`. */
  readonly apiKey?: string;
  /** Ends the subscription; nothing is called after it. */
  readonly signal?: AbortSignal;
  /** The server's heartbeat: silence of 2.5 times as long is a lost stream. Default 15,000; a gateway with a longer one tells it. */
  readonly heartbeatMs?: number;
  /** Bound on one connect: token, request and answer. Default 30,000: a gateway may take 20 s to refuse. */
  readonly connectTimeoutMs?: number;
  /** Bound on one `refetch`, and on the arrival of a snapshot. Default 60,000. */
  readonly refetchTimeoutMs?: number;
  /** The random part of a pause is at most the first, doubled with each failure up to the second. Default 1,000 and 30,000. */
  readonly backoffMs?: readonly [number, number];
  /** Bound on one event. Default 262,144: four times what a gateway sends. */
  readonly maxEventChars?: number;
  /** Bound on a snapshot, and on the events that wait for `onSnapshot` and `refetch`. Default 16,777,216. */
  readonly maxWaitingChars?: number;
  readonly fetch?: typeof fetch;
  /** From 0 inclusive to 1 exclusive: spreads the reconnects of many clients. */
  readonly random?: () => number;
}

/** The internal type: the caller's event map is only asserted. */
export type RawEvent = StreamEvent<Record<string, JsonObject>>;

interface RawOptions extends Omit<SubscribeOptions<Record<string, JsonObject>>, "onSnapshot"> {
  readonly onSnapshot?: (snapshot: readonly RawEvent[]) => void | Promise<void>;
}

/** Checked options with every default filled in. */
export type SubscribeSettings = ReturnType<typeof parseOptions>;

/** Longer waits are capped (and a timer over 2^31 ms would fire at once). */
export const maxWaitMs = 3_600_000;
export const heartbeatsOfSilence = 2.5;
/** 5 s of the usual 15 s: long enough not to be a server that takes connections only to drop them. */
const heartbeatsOfGoodStream = 1 / 3;
const nothing = (): void => undefined;

/** How often a gateway writes to an idle stream unless it is configured otherwise: `EVENTSTREAM_HEARTBEAT_SECONDS`. */
export const defaultHeartbeatSeconds = 15;

const defaults = {
  heartbeatMs: defaultHeartbeatSeconds * 1000,
  connectTimeoutMs: 30_000,
  refetchTimeoutMs: 60_000,
  maxEventChars: 262_144,
  maxWaitingChars: 16_777_216,
} as const;

/** Throws `TypeError` or `RangeError` naming the option; the value of a secret is never shown. */
export function parseOptions<Events extends object>(url: string | URL, options: SubscribeOptions<Events>) {
  // The caller's map describes what its server sends; at run time an event is a name and an object either way.
  const given = options as unknown as RawOptions;
  const { apiKey, getAccessToken, onSnapshot, backoffMs = [1000, 30_000] } = given;
  if (apiKey !== undefined && getAccessToken !== undefined) {
    throw new TypeError("Cannot subscribe: both apiKey and getAccessToken are given");
  }
  if (apiKey !== undefined && !isHeaderSafe(apiKey)) {
    throw new TypeError("Cannot subscribe: apiKey is not visible ASCII without spaces");
  }
  if (!(backoffMs[0] > 0 && backoffMs[1] >= backoffMs[0] && Number.isFinite(backoffMs[1]))) {
    throw new RangeError(`Cannot subscribe: backoffMs [${backoffMs.join(", ")}] is not [shortest, longest] above 0`);
  }
  const quantities: Record<keyof typeof defaults, number> = { ...defaults };
  for (const name of Object.keys(defaults) as readonly (keyof typeof defaults)[]) {
    const value = given[name] ?? defaults[name];
    if (!(Number.isFinite(value) && value > 0)) {
      throw new RangeError(`Cannot subscribe: ${name} ${value} is not a number above 0`);
    }
    quantities[name] = name.endsWith("Ms") ? Math.min(value, maxWaitMs) : value;
  }
  return {
    ...quantities,
    url: parseUrl(url, given),
    apiKey,
    getAccessToken,
    onSnapshot,
    onEvent: given.onEvent ?? nothing,
    refetch: given.refetch ?? nothing,
    onStateChange: given.onStateChange ?? nothing,
    silenceMs: quantities.heartbeatMs * heartbeatsOfSilence,
    /** After a stream that was open for so long, pauses start small again. */
    goodStreamMs: quantities.heartbeatMs * heartbeatsOfGoodStream,
    backoffMs,
    // Called as a method of our object, a browser's own fetch would throw "Illegal invocation".
    fetch: given.fetch ?? ((...request: Parameters<typeof fetch>) => fetch(...request)),
    random: given.random ?? Math.random,
  };
}

/** The URL of the stream, which may be relative; one that asks for a snapshot has no fragment. */
function parseUrl(url: string | URL, { fetch: given, onSnapshot }: RawOptions): string {
  const text = String(url);
  const refusal = (problem: string) =>
    new TypeError(`Cannot subscribe: URL ${JSON.stringify(text.slice(0, 80))} ${problem}`);
  if (text === "" || (/^[a-z][a-z0-9+.-]*:/i.test(text) && !/^https?:\/\//i.test(text))) {
    throw refusal("is not http:, https: or relative");
  }
  // Only a page has an address that a relative one can belong to; elsewhere every attempt would fail.
  if (given === undefined && !URL.canParse(text) && Reflect.get(globalThis, "location") === undefined) {
    throw refusal("is relative: expected http: or https:");
  }
  if (onSnapshot === undefined || /[?&]snapshot=/.test(text)) return text;
  const [beforeFragment = ""] = text.split("#", 1);
  return `${beforeFragment}${beforeFragment.includes("?") ? "&" : "?"}snapshot=1`;
}
