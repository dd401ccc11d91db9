import type { IdpRequest, ListPage, PageReader, Reading } from "../okta/idp_client.ts";
import { logFilters } from "./touched.ts";
import { toLogEvent, type LogEvent } from "./log_event.ts";

/** Result of one look at the System Log. */
export type LogReading =
  | {
      readonly kind: "events";
      /** New ones, in the log's order. */
      readonly events: readonly LogEvent[];
      readonly cursor: string;
      /** Entries that could not be used, or only in part: a line each. The cursor is past them. */
      readonly problems: readonly string[];
      /** The log goes on at once: this many pages are read in one poll at the most. */
      readonly isMore: boolean;
    }
  /** The provider does not know the cursor any more: what happened since the last look cannot be read. */
  | { readonly kind: "lost"; readonly detail: string }
  /** No scope or no role: asking again soon would be refused again. */
  | { readonly kind: "forbidden"; readonly detail: string }
  | { readonly kind: "failed"; readonly detail: string };

export interface LogReader {
  /** Begins at a time: reads to the end of the log, and gives the cursor of what comes after. The events are left out. */
  begin(sinceMs: number): Promise<LogReading>;
  /** Reads the entries since the cursor was given: pages until one is not full. */
  read(cursor: string): Promise<LogReading>;
  /** The newest identities, for the state: entries may come twice. */
  seen(): readonly string[];
}

export interface LogReaderOptions {
  readonly pages: PageReader;
  /** Identities that an earlier process has read. */
  readonly seen?: readonly string[];
}

const pageSize = 1000;
/** Pages of one poll: an import of a hundred thousand users passes in bounded memory. */
const maxPages = 10;
const maxSeen = 2000;

/**
 * Reads the System Log by polling (https://developer.okta.com/docs/reference/system-log-query/): without `until`, in the
 * order in which entries were stored. There is always a next link, so a page that is not full is the end.
 */
export function createLogReader({ pages, seen: known = [] }: LogReaderOptions): LogReader {
  const seen = new Set(known);

  return { begin, read, seen: () => [...seen] };

  async function begin(sinceMs: number): Promise<LogReading> {
    let refused: LogReading | null = null;
    for (const filter of logFilters) {
      const reading = await readToEnd(firstPath(sinceMs, filter));
      if (reading.kind !== "lost") return reading;
      refused = reading;
    }
    return { kind: "failed", detail: refused?.kind === "lost" ? refused.detail : "" };
  }

  /** A page at a time, so that however long the log is, one page is in memory. */
  async function readToEnd(path: string): Promise<LogReading> {
    let cursor = path;
    for (;;) {
      const reading = await read(cursor);
      if (reading.kind !== "events") return reading;
      if (!reading.isMore || reading.cursor === cursor) return { ...reading, events: [], problems: [], isMore: false };
      cursor = reading.cursor;
    }
  }

  async function read(from: string): Promise<LogReading> {
    const events: LogEvent[] = [];
    const problems: string[] = [];
    let cursor = from;
    for (let count = 1; ; count++) {
      const request: IdpRequest = { path: cursor, scope: "logs.read" };
      const page = await pages.getPage(request);
      if (page.state === "missing") {
        // The pages before are kept: their cursor is good.
        return cursor === from ? refusalOf(page) : { kind: "events", events, problems, cursor, isMore: false };
      }
      const { entries, size, next } = page.value;
      problems.push(...page.value.problems);
      for (const entry of entries) {
        const event = toLogEvent(entry);
        if (event === null) problems.push("an entry has no eventType");
        else if (isNew(event)) events.push(event);
      }
      if (size >= pageSize && next === null && events.length === 0)
        return { kind: "failed", detail: "The log's page is full, and names no next page that can be read" };
      // Without a next link the same page is asked for again; its entries are known then.
      const isEnd = size < pageSize || next === null || next === cursor;
      cursor = next ?? cursor;
      if (isEnd || count === maxPages) return { kind: "events", events, problems, cursor, isMore: !isEnd };
    }
  }

  function isNew({ uuid }: LogEvent): boolean {
    if (uuid === null) return true;
    if (seen.has(uuid)) return false;
    seen.add(uuid);
    // A set gives its values in the order in which they were added.
    for (const oldest of seen) {
      if (seen.size <= maxSeen) break;
      seen.delete(oldest);
    }
    return true;
  }
}

function firstPath(sinceMs: number, filter: string | null): string {
  const query = new URLSearchParams({
    since: new Date(sinceMs).toISOString(),
    sortOrder: "ASCENDING",
    limit: String(pageSize),
  });
  if (filter !== null) query.set("filter", filter);
  return `/api/v1/logs?${query}`;
}

function refusalOf(page: Extract<Reading<ListPage>, { readonly state: "missing" }>): LogReading {
  const { reason, refusal } = page;
  // The filter is longer than all that a person wants to read.
  const detail = page.detail.replace(/(\/api\/v1\/logs)\?\S*/, "$1");
  const status = refusal?.httpStatus ?? null;
  if (reason === "missing_scope" || reason === "missing_role" || status === 403) return { kind: "forbidden", detail };
  // 400 E0000053 and E0000031: a cursor or a time that is too old or not known, or a filter that is too long.
  if (status === 400 || status === 404 || status === 410 || status === 414) return { kind: "lost", detail };
  return { kind: "failed", detail };
}
