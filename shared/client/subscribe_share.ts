import type { abortable } from "../abortable.ts";

/*
 * Tabs that share a stream are one leader, which has the connection and passes its bytes on, and followers, which read
 * them as if they came from the server: so snapshots, events, silence and the end mean the same in every tab. A tab leads
 * while it holds a lock, and the browser gives the lock to the next tab as soon as the leader is closed or crashes.
 * The bytes of the stream, and numbers that order them, are all that tabs send to each other.
 */

type Message =
  | { readonly kind: "join"; readonly from: string }
  /** The leader has no stream yet. */
  | { readonly kind: "wait"; readonly to: string }
  /** Everything since the stream was opened; `next` is the number of the chunk after it. */
  | {
      readonly kind: "record";
      readonly to: string;
      readonly stream: string;
      readonly next: number;
      readonly chunks: readonly Uint8Array[];
    }
  | { readonly kind: "chunk"; readonly stream: string; readonly number: number; readonly bytes: Uint8Array }
  | { readonly kind: "end"; readonly stream: string; readonly how: End };

/** By the server, by a broken connection, or because the leading tab is done. */
type End = "closed" | "cut" | "handover";

export interface ShareRequest {
  /** Only those who may read the same stream know the same name. */
  readonly name: string;
  /** Aborts when this tab's attempt is over. */
  readonly signal: AbortSignal;
  /** Opens the stream itself; null: the resource has ended. */
  open(): Promise<ReadableStream<Uint8Array> | null>;
  readonly lost: (what: string, isHandover: boolean) => Error;
  /** An argument, so that a page loads this file only where tabs share, and no third one. */
  readonly abortable: typeof abortable;
  /** Bound on what this tab has not read yet. */
  readonly maxWaitingBytes: number;
}

/** A leader that says nothing for so long is frozen: the next tab takes its place. */
const answerMs = 5000;
/** A browser passes on messages and locks separately: either may come first. */
const lastWordsMs = 250;
/** Beyond this a tab that joins lets everybody begin anew, with a fresh snapshot. */
const maxRecordBytes = 1_048_576;

export function canShare(): boolean {
  return "locks" in navigator && "subtle" in crypto && "BroadcastChannel" in globalThis;
}

/** Opens the stream, or joins the tab that has it. Resolves and rejects as `request.open` does. */
export async function openShared(request: ShareRequest): Promise<ReadableStream<Uint8Array> | null> {
  const { name, signal, abortable } = request;
  const me = crypto.randomUUID();
  const channel = new BroadcastChannel(name);
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel reaches its own origin only
  const post = (message: Message) => channel.postMessage(message);
  const opened = Promise.withResolvers<ReadableStream<Uint8Array> | null>();
  const waiting = new AbortController();
  const own = createBody(request);
  let role: "new" | "follower" | "leader" = "new";
  let stream = "";
  let next = 0;
  let record: Uint8Array[] | null = [];
  let recordBytes = 0;
  const unanswered = setTimeout(() => {
    waiting.abort();
    hold({ steal: true });
  }, answerMs);

  signal.addEventListener("abort", leave, { once: true });
  channel.addEventListener("message", ({ data }: MessageEvent<Message>) =>
    role === "leader" ? answer(data) : hear(data),
  );
  hold({ signal: AbortSignal.any([signal, waiting.signal]) });
  post({ kind: "join", from: me });
  return abortable(opened.promise, signal);

  function leave(): void {
    clearTimeout(unanswered);
    if (role === "leader" && stream !== "") post({ kind: "end", stream, how: "handover" });
    channel.close();
  }

  function hold(options: LockOptions): void {
    navigator.locks.request(name, options, lead).catch((error: unknown) => {
      // Stolen by a tab that got no answer.
      if (role === "leader") lose("handover");
      // A document without an origin may not lock. Anything else is a lock that nobody waits for any more.
      else if (!(error instanceof Error && error.name === "AbortError")) opened.resolve(request.open());
    });
  }

  function lose(how: End): void {
    if (how === "closed") own.close();
    else own.fail(request.lost(how === "cut" ? "the connection broke" : "another tab goes on", how === "handover"));
  }

  /** Leads as long as it is pending. */
  async function lead(): Promise<void> {
    clearTimeout(unanswered);
    if (signal.aborted) return;
    if (role === "follower") {
      // The lock may come before the leader's last words, which may be the end that nobody has to ask for again.
      await new Promise((resolve) => {
        setTimeout(resolve, lastWordsMs);
        own.signal.addEventListener("abort", resolve, { once: true });
      });
      return lose("handover");
    }
    role = "leader";
    try {
      const body = await request.open();
      opened.resolve(body && own.body);
      if (body !== null) lose(await pump(body.getReader()));
    } catch (error) {
      opened.reject(error);
    }
  }

  async function pump(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<End> {
    stream = crypto.randomUUID();
    let how: End = "cut";
    try {
      for (;;) {
        const { done, value } = await abortable(reader.read(), own.signal);
        if (done) return (how = "closed");
        post({ kind: "chunk", stream, number: next, bytes: value });
        next += 1;
        recordBytes += value.byteLength;
        if (recordBytes > maxRecordBytes) record = null;
        record?.push(value);
        own.push(value);
      }
    } catch {
      if (own.signal.aborted) how = "handover";
      return how;
    } finally {
      if (!signal.aborted) post({ kind: "end", stream, how });
      // Whoever joins now waits for the lock.
      stream = "";
      void reader.cancel().catch(() => undefined);
    }
  }

  function answer(message: Message): void {
    if (message.kind !== "join") return;
    if (stream === "") post({ kind: "wait", to: message.from });
    else if (record === null) lose("handover");
    else post({ kind: "record", to: message.from, stream, next, chunks: record });
  }

  function hear(message: Message): void {
    if ("to" in message && message.to === me) clearTimeout(unanswered);
    if (message.kind === "record" && message.to === me && role === "new")
      follow(message.stream, message.next, message.chunks);
    if (message.kind === "chunk") {
      // Whoever waited for the leader's connection hears its stream from the beginning.
      if (role === "new" && message.number === 0) follow(message.stream, 0, []);
      if (message.stream !== stream) return;
      if (message.number > next) return lose("cut");
      if (message.number === next) own.push(message.bytes);
      next = message.number + 1;
    }
    if (message.kind === "end" && message.stream === stream) lose(message.how);
  }

  function follow(of: string, from: number, chunks: readonly Uint8Array[]): void {
    clearTimeout(unanswered);
    role = "follower";
    stream = of;
    next = from;
    for (const bytes of chunks) own.push(bytes);
    opened.resolve(own.body);
  }
}

/** What this tab reads. Its signal aborts when nothing is read from it any more. */
function createBody({ signal, lost, maxWaitingBytes }: ShareRequest) {
  const over = new AbortController();
  let controller: ReadableStreamDefaultController<Uint8Array> | null = null;
  signal.addEventListener("abort", () => over.abort(), { once: true });
  const body = new ReadableStream<Uint8Array>(
    {
      start(given) {
        controller = given;
      },
      cancel: () => over.abort(),
    },
    new ByteLengthQueuingStrategy({ highWaterMark: maxWaitingBytes }),
  );
  function end(act: (controller: ReadableStreamDefaultController<Uint8Array>) => void): void {
    if (over.signal.aborted || controller === null) return;
    act(controller);
    over.abort();
  }
  const fail = (error: Error) => end((given) => given.error(error));
  return {
    body,
    signal: over.signal,
    push(bytes: Uint8Array): void {
      if (over.signal.aborted) return;
      controller?.enqueue(bytes);
      if ((controller?.desiredSize ?? 0) < 0) fail(lost("this tab does not keep up", false));
    },
    close: () => end((given) => given.close()),
    fail,
  };
}

/**
 * The name of a stream for those who may read it. A token stands for what it claims, without its times, so that one person's
 * tabs, each with a token of its own, share; a claim that differs, such as the tenant, separates them.
 */
export async function toShareName(identity: string, url: string): Promise<string> {
  const bytes = new TextEncoder().encode(JSON.stringify([withoutTimes(identity), url]));
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return `scanstream ${Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}

const passingClaims: ReadonlySet<string> = new Set(["exp", "iat", "nbf", "jti", "auth_time", "nonce", "at_hash"]);

function withoutTimes(identity: string): string {
  const [, payload] = /^Bearer [\w-]+\.([\w-]+)\.[\w-]*$/.exec(identity) ?? [];
  if (payload === undefined) return identity;
  try {
    const claims: unknown = JSON.parse(atob(payload.replaceAll("-", "+").replaceAll("_", "/")));
    const lasting = Object.entries(Object(claims)).filter(([name]) => !passingClaims.has(name));
    return JSON.stringify(lasting.toSorted(([a], [b]) => (a < b ? -1 : 1)));
  } catch {
    return identity;
  }
}
