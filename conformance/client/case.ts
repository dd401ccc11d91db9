import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { cutStream, endedStream, type Answer, type Chunk } from "../../test/support/answers.ts";

export type Group = "reading" | "ending" | "refusals" | "reconnecting" | "liveness";

/** One thing that a right client does: a script of answers, and what is to be seen afterwards. */
export interface ConformanceCase {
  readonly name: string;
  readonly group: Group;
  /** What a right client does, in one sentence without a subject. */
  readonly promise: string;
  /** For the stream, as a gateway names it; that of one scan unless given. */
  readonly path?: string;
  /** How many terminal events the stream has: 1 unless given; 0: it never ends. */
  readonly ends?: number;
  /** One for each request that opens the stream; afterwards comes 204. */
  readonly answers: readonly ScriptedAnswer[];
  /** What follows the answers instead of 204. */
  readonly afterwards?: Answer;
  /** What the client is to report, in order. */
  readonly events: readonly SentEvent[];
  /** How often it is to ask: as often as there are answers, unless given. */
  readonly leastRequests?: number;
  /** How often it may ask, where that is what the case is about. */
  readonly mostRequests?: number;
  /** How long it waits before the request of that index, counted from the end of the answer before. */
  readonly waits?: readonly { readonly request: number; readonly leastMs: number }[];
  /** What else is wrong, as a sentence; null: nothing. */
  readonly judge?: (observed: Observed) => string | null;
}

/** Answers one request of a case. */
export type ScriptedAnswer = (
  response: ServerResponse,
  request: IncomingMessage,
  run: AnswerContext,
) => void | Promise<void>;

/** What an answer may use of the run that it belongs to. */
export interface AnswerContext {
  readonly heartbeatMs: number;
  /** How many requests were answered with 200 before this one. */
  readonly openedBefore: number;
  readonly tokens: TokenIssuer;
  /** Resolves with the next request for the resource's state, or after a while. */
  nextStateRead(): Promise<void>;
  /** Resolves when this many events were reported in all, or after a while. */
  reported(count: number): Promise<void>;
}

/** The tokens of one run. The first one is never valid. */
export interface TokenIssuer {
  isValid(request: IncomingMessage): boolean;
  /** The ones that were issued so far. */
  revokeAll(): void;
}

export interface SentEvent {
  readonly event: string;
  readonly data: string;
}

/** What the client wrote: the text of the data, or what it parsed it to. */
export interface ReportedEvent {
  readonly event: string;
  readonly data: unknown;
}

export interface StreamRequest {
  readonly atMs: number;
  /** When the connection or the answer was over. */
  readonly closedMs: number | null;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly status: number;
}

/** Everything that was seen of a client in one case. */
export interface Observed {
  readonly requests: readonly StreamRequest[];
  readonly events: readonly ReportedEvent[];
  /** When it read the resource's state. */
  readonly stateReadsMs: readonly number[];
  readonly tokensIssued: number;
  /** What it wrote that is no event. */
  readonly unreadable: string | null;
  /** Its process has ended; null: it runs, or is not ours. */
  readonly exit: string | null;
}

/** Where a gateway has the stream of one scan, and those of several or of a tenant. */
export const scanPath = (scan: string) => `/api/v1/scans/${scan}/event-stream`;
export const tenantPath = "/api/v1/event-stream";

/** The first bytes of every stream, as a gateway sends them, with a short pause. */
export const opening = "retry: 100\n: open\n";
export const heartbeat = ": heartbeat\n";
/** Why the gateway closes a stream whose resource has ended. Its last line never ends. */
export const closing = ": close ended\n ";

export const scanId = "8b9df7a5-3c1f-4f53-9a3e-0f6c1d6a2b11";
export const otherScanId = "5d0c5f7e-6f0b-4d5b-8f43-2a7f6f0f5a90";

export function progress(checksDone: number, scan = scanId): SentEvent {
  return toEvent("scan.progress", { checks_done: checksDone, checks_total: 29, scan_id: scan });
}

export function scanEnd(scan = scanId): SentEvent {
  return toEvent("scan.end", { status: "completed", pass: 20, fail: 4, manual: 5, not_applicable: 0, scan_id: scan });
}

export function toEvent(event: string, data: object): SentEvent {
  return { event, data: JSON.stringify(data) };
}

/** As the gateway writes it. */
export function frame({ event, data }: SentEvent): string {
  return `event: ${event}\ndata: ${data}\n\n`;
}

/** A stream that is opened, sends these chunks, and ends after the terminal event. */
export function wholeStream(...chunks: readonly Chunk[]): Answer {
  return endedStream(opening, ...chunks, frame(scanEnd()), closing);
}

export interface LostStream {
  /** How many events are to be reported before it is lost: what a client still waits to hand over may be lost with it. */
  readonly after: number;
  /** Its last bytes. */
  readonly tail?: string;
  /** Ended politely, or the connection breaks. */
  readonly how: "ended" | "cut";
}

/** A stream that sends these chunks and is lost. */
export function lostStream(chunks: readonly Chunk[], { after, tail, how }: LostStream): ScriptedAnswer {
  return (response, request, context) => {
    const all = [...chunks, { until: context.reported(after) }, ...(tail === undefined ? [] : [tail])];
    return (how === "cut" ? cutStream : endedStream)(...all)(response, request);
  };
}
