import {
  invalid,
  json,
  providerError,
  type Header,
  type PracticeRequest,
  type PracticeResponse,
} from "../http/messages.ts";
import { openCursor, pageAddress, sealCursor } from "../http/cursors.ts";
import type { RequestFaults } from "../api/faults.ts";
import type { LogEntry, LogEvent, SystemLog } from "./system_log.ts";

export interface LogReading {
  readonly log: SystemLog;
  readonly url: string;
  readonly cursorSecret: Uint8Array;
  readonly nowMs: number;
  readonly faults: RequestFaults;
}

const dayMs = 24 * 3_600_000;
const defaultSinceMs = 7 * dayMs;
const keptMs = 90 * dayMs;
const oldestSinceMs = 180 * dayMs;
const maxLimit = 1_000;
const defaultLimit = 100;
const maxFilterLength = 4_000;
const cursorPurpose = "logs";

/** Place at which a chain of pages goes on. The lower bound travels with it, because `since` and `after` exclude each other. */
interface Cursor {
  /** The first entry that the next page may show. */
  readonly position: number;
  readonly sinceMs: number;
}

interface LogQuery {
  readonly limit: number;
  readonly sinceMs: number;
  readonly matches: (event: LogEvent) => boolean;
  readonly after: Cursor | null;
}

/**
 * Answers a polling request for `GET /api/v1/logs`: ordered by the time of persistence, and every answer has a link to the
 * next page, an empty one too.
 */
export function answerLogRequest(request: PracticeRequest, reading: LogReading): PracticeResponse {
  const query = parseQuery(request.query, reading);
  if ("refusal" in query) return query.refusal;
  const page = pollingPage(query, reading);
  const headers: Header[] = [["link", `<${linkTo(request, reading.url, request.query.get("after"))}>; rel="self"`]];
  const origin = reading.faults.linkOrigin(reading.url);
  headers.push([
    "link",
    `<${linkTo(request, origin, sealCursor([page.next.sinceMs, page.next.position], cursorPurpose, reading.cursorSecret))}>; rel="next"`,
  ]);
  return json(
    200,
    page.entries.map(({ event }) => event),
    headers,
  );
}

function pollingPage(
  query: LogQuery,
  { log, faults }: LogReading,
): { readonly entries: readonly LogEntry[]; readonly next: Cursor } {
  const all = log.entries();
  const { sinceMs } = query;
  const end = (all.at(-1)?.position ?? -1) + 1;
  const offset = all[0]?.position ?? 0;
  // Positions count on when old entries are gone.
  const start = query.after === null ? firstSince(all, sinceMs, end) : Math.max(query.after.position, offset);
  if (faults.has("empty-log-page")) return { entries: [], next: { position: start, sinceMs } };
  const isDoubled = faults.has("doubled-log-page");
  const limit = isDoubled ? Math.ceil(query.limit / 2) : query.limit;
  const entries: LogEntry[] = [];
  let position = start;
  for (; position < end && entries.length < limit; position += 1) {
    const entry = all[position - offset];
    if (entry === undefined || entry.persistedMs < sinceMs || !query.matches(entry.event)) continue;
    entries.push(entry);
  }
  const shown = isDoubled ? entries.flatMap((entry) => [entry, entry]).slice(0, query.limit) : entries;
  const next = faults.has("repeated-cursor") ? start : position;
  return { entries: shown, next: { position: next, sinceMs } };
}

function firstSince(all: readonly LogEntry[], sinceMs: number, end: number): number {
  return all.find(({ persistedMs }) => persistedMs >= sinceMs)?.position ?? end;
}

function parseQuery(query: URLSearchParams, reading: LogReading): LogQuery | { readonly refusal: PracticeResponse } {
  const { nowMs, faults } = reading;
  const limitText = query.get("limit") ?? String(defaultLimit);
  const limit = /^[0-9]{1,6}$/.test(limitText) ? Number(limitText) : Number.NaN;
  if (!(limit <= maxLimit)) return { refusal: invalid("limit", `The limit must be from 0 to ${maxLimit}`) };
  const sinceText = query.get("since");
  const afterText = query.get("after");
  if (sinceText !== null && afterText !== null)
    return badQuery("The since and after parameters cannot be used together.");
  const asked = sinceText === null ? nowMs - defaultSinceMs : parseTime(sinceText);
  if (Number.isNaN(asked)) return badQuery("The since and until parameters must be ISO 8601 timestamps.");
  if (asked < nowMs - oldestSinceMs) {
    return badQuery("The since parameter can be at most 180 days from the present.");
  }
  if (query.has("until") || query.has("q") || (query.get("sortOrder") ?? "ASCENDING") !== "ASCENDING") {
    return badQuery("The practice org answers polling requests only: no until, no q, sortOrder ASCENDING.");
  }
  const after = afterText === null ? null : unseal(afterText, reading.cursorSecret);
  if (afterText !== null && (after === null || faults.has("log-cursor-lost"))) {
    return { refusal: providerError("E0000029", { causes: ["Invalid cursor."] }) };
  }
  const filter = query.get("filter");
  if (filter !== null && filter.length > maxFilterLength) {
    return { refusal: providerError("E0000031", { causes: ["The filter is too long."] }) };
  }
  const matches = filter === null ? () => true : parseFilter(filter);
  if (matches === null) return { refusal: providerError("E0000031", { causes: [`Invalid filter '${filter}'.`] }) };
  const sinceMs = Math.max(after?.sinceMs ?? asked, nowMs - keptMs);
  return { limit, sinceMs, matches, after };
}

/**
 * Filters in the form of the follower: alternatives joined by `or`, each of them `eventType sw "…"`, and in parentheses more
 * of these and of `eventType ne "…"`, joined by `and`. Null for any other.
 */
function parseFilter(filter: string): LogQuery["matches"] | null {
  const alternatives = filter.split(" or ").map((part) =>
    part
      .replace(/^\((.*)\)$/, "$1")
      .split(" and ")
      .map((clause) => /^eventType (sw|ne) "([^"]*)"$/.exec(clause)),
  );
  if (alternatives.flat().includes(null)) return null;
  const isMet = (type: string, [, operator, wanted = ""]: readonly string[]) =>
    operator === "sw" ? type.startsWith(wanted) : type !== wanted;
  return ({ eventType }) => alternatives.some((all) => all.every((clause) => isMet(eventType, clause ?? [])));
}

/** NaN where it is not a timestamp; a date alone is one. */
function parseTime(text: string): number {
  return /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:?\d{2})?)?$/.test(text)
    ? Date.parse(text)
    : Number.NaN;
}

function badQuery(detail: string): { readonly refusal: PracticeResponse } {
  return { refusal: providerError("E0000053", { summary: `Invalid LogEvents query: ${detail}` }) };
}

/** The parameters of the request, without `since`, which the cursor carries. */
function linkTo({ path, query }: PracticeRequest, origin: string, after: string | null): string {
  const kept = [...query].filter(([name]) => name !== "after" && (name !== "since" || after === null));
  return pageAddress(`${origin}${path}`, [...kept, ...(after === null ? [] : [["after", after] as const])]);
}

function unseal(cursor: string, secret: Uint8Array): Cursor | null {
  const [sinceMs, position] = openCursor(cursor, cursorPurpose, secret) ?? [];
  return sinceMs === undefined || position === undefined ? null : { position, sinceMs };
}
