import { isDeepStrictEqual } from "node:util";
import { shorten } from "../../shared/text.ts";
import type { ConformanceCase, Observed, ReportedEvent, SentEvent, StreamRequest } from "./case.ts";

/** Clocks and timers are not exact. */
const toleranceMs = 50;
const maxShownLength = 120;

/** What is wrong already, no matter what comes; null: nothing. */
export function findMistake(one: ConformanceCase, observed: Observed): string | null {
  return (
    observed.unreadable ??
    wrongEvent(one.events, observed.events) ??
    earlyRequest(one, observed.requests) ??
    extraRequest(one, observed.requests)
  );
}

/** What has not been seen yet; null: the client has done everything. */
export function findMissing(one: ConformanceCase, { requests, events }: Observed): string | null {
  const last = requests.at(-1);
  if (last === undefined) return "it never asked for STREAM_URL";
  if (requests.length < leastRequests(one)) return `it did not ask again after ${describeAnswer(last)}`;
  const next = one.events[events.length];
  if (next === undefined) return null;
  return `it reported ${events.length} of ${one.events.length} events: ${describe(next)} is missing`;
}

/** The verdict at the end: null, or what was wrong. */
export function judge(one: ConformanceCase, observed: Observed): string | null {
  const missing = findMissing(one, observed);
  const end = missing === null || observed.exit === null ? "" : `; its process ended (${observed.exit})`;
  return findMistake(one, observed) ?? one.judge?.(observed) ?? (missing === null ? null : `${missing}${end}`);
}

function leastRequests({ leastRequests: least, mostRequests: most, answers }: ConformanceCase): number {
  return Math.min(least ?? answers.length, most ?? Infinity);
}

function wrongEvent(sent: readonly SentEvent[], reported: readonly ReportedEvent[]): string | null {
  for (const [index, event] of reported.entries()) {
    const expected = sent[index];
    if (expected === undefined) return `it reported ${describe(event)}, which is no event of this stream`;
    if (!isSame(expected, event)) {
      return `it reported ${describe(event)} as event ${index + 1}: expected ${describe(expected)}`;
    }
  }
  return null;
}

/** A client may report the text of the data, or what it has parsed it to. */
function isSame(sent: SentEvent, { event, data }: ReportedEvent): boolean {
  if (event !== sent.event) return false;
  return typeof data === "string" ? data === sent.data : isDeepStrictEqual(data, JSON.parse(sent.data));
}

function earlyRequest({ waits = [] }: ConformanceCase, requests: readonly StreamRequest[]): string | null {
  for (const { request: index, leastMs } of waits) {
    const [before, request] = requests.slice(index - 1, index + 1);
    if (before?.closedMs === undefined || before.closedMs === null || request === undefined) continue;
    const waitedMs = request.atMs - before.closedMs;
    if (waitedMs < leastMs - toleranceMs) {
      return `it asked again ${(waitedMs / 1000).toFixed(1)} s after ${describeAnswer(before)}: expected ${leastMs / 1000} s or more`;
    }
  }
  return null;
}

function extraRequest(
  { mostRequests: most = Infinity }: ConformanceCase,
  requests: readonly StreamRequest[],
): string | null {
  const before = requests[most - 1];
  return before === undefined || requests.length <= most ? null : `it asked again after ${describeAnswer(before)}`;
}

function describeAnswer({ status, closedMs }: StreamRequest): string {
  if (status !== 200) return `the answer ${status}`;
  return closedMs === null ? "the stream had fallen silent" : "the stream had ended";
}

function describe({ event, data }: ReportedEvent): string {
  const text = typeof data === "string" ? data : (JSON.stringify(data) ?? "nothing");
  return `${shorten(event, maxShownLength)} ${shorten(text, maxShownLength)}`;
}
