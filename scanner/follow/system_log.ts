import type { Clock } from "../okta/clock.ts";
import type { ListPage, PageReader, Reading } from "../okta/idp_client.ts";
import type { MonitorUpdate } from "../../shared/schemas/monitor.ts";
import type { FollowState } from "./follow_state.ts";
import { toLogEvent, type LogEvent } from "./log_event.ts";
import { logFilters } from "./touched.ts";

/** Entries of one poll of the log: pages until one is not full. */
interface LogEvents {
  /** New ones, in the log's order. */
  readonly events: readonly LogEvent[];
  /** True if the log has more entries now: one poll reads a bounded number of pages. */
  readonly isMore: boolean;
}

interface Refusal {
  /** `lost`: the provider does not know the cursor any more. */
  readonly refused: "lost" | "forbidden" | "failed";
  readonly detail: string;
}

interface SystemLogOptions {
  /** `nowMs` is the provider's time. */
  readonly pages: PageReader & Pick<Clock, "nowMs">;
  readonly clock: Pick<Clock, "nowMs">;
  /** A message for a person. */
  readonly say: (text: string) => void;
  readonly reconcileMs: number;
  readonly saved: Pick<FollowState, "cursor" | "lastLookAt" | "seen"> | null;
}

/** The log as the gateway's clients see it. */
type LogStatus = Pick<MonitorUpdate, "log_status" | "error_code" | "error_detail" | "gap_from" | "gap_to">;

const noError = { error_code: null, error_detail: null };
const pageSize = 1000;
/** Pages of one poll: an import of a hundred thousand users passes in bounded memory. */
const maxPages = 10;
/** Identities that are kept, because entries may come twice. */
const maxSeen = 2000;
/** The log is read from so long before the start: this machine's clock may be ahead of the provider's. */
const startMarginMs = 300_000;
/** The provider keeps its log for 90 days. */
const maxCursorAgeMs = 89 * 86_400_000;

/**
 * Reads the System Log by polling from where it was left (https://developer.okta.com/docs/reference/system-log-query/): without
 * `until`, in the order in which entries were stored. There is always a next link, so a page that is not full is the end. That the log
 * cannot be read, and that it can again, is said once.
 */
export function openSystemLog({ pages, clock, say, reconcileMs, saved }: SystemLogOptions) {
  let seen = new Set(saved?.seen);
  let cursor = saved?.cursor ?? null;
  /** When the log was last read to its end. */
  let polledMs = typeof saved?.lastLookAt === "string" ? Date.parse(saved.lastLookAt) : null;
  let status: LogStatus = { log_status: "unknown", ...noError };
  return {
    begin,
    read,
    reportGap,
    hasCursor: () => cursor !== null,
    polledMs: () => polledMs,
    status: () => status,
    toSave: () => ({
      cursor,
      lastLookAt: polledMs === null ? null : new Date(polledMs).toISOString(),
      seen: [...seen],
    }),
  };

  /** Takes a cursor at the log's present end, past everything before; false where it cannot be read. A provider may refuse a long filter. */
  async function begin(): Promise<boolean> {
    for (const filter of logFilters) {
      const end = await readToEnd(firstPath(pages.nowMs() - startMarginMs, filter));
      if (!("refused" in end)) {
        noteRead(end);
        return true;
      }
      cursor = null;
      if (end.refused === "lost" && filter !== null) continue;
      noteRefusal(end);
      break;
    }
    return false;
  }

  /** Reads the entries since the cursor, and moves it past them. `lost`: what happened since the last poll cannot be read. */
  async function read(): Promise<LogEvents | "lost" | "unreadable"> {
    if (cursor === null || (polledMs !== null && clock.nowMs() - polledMs > maxCursorAgeMs)) return "lost";
    const found = await readPages(cursor);
    if (!("refused" in found)) {
      noteRead(found);
      return found;
    }
    if (found.refused === "lost") return "lost";
    noteRefusal(found);
    return "unreadable";
  }

  /** Says that the log between the two times cannot be read any more, until it is read again. */
  function reportGap(fromMs: number, toMs: number): void {
    const [gap_from, gap_to] = [new Date(fromMs).toISOString(), new Date(toMs).toISOString()];
    const detail = `The System Log could not be read from where it was left: what happened from ${gap_from} to ${gap_to} is known by a full scan only, not by whom`;
    status = { ...status, error_code: "log_gap", error_detail: detail, gap_from, gap_to };
    say(detail);
  }

  /** A poll at a time, so that however long the log is, little of it is in memory. */
  async function readToEnd(path: string): Promise<LogEvents | Refusal> {
    for (let from = path; ;) {
      const found = await readPages(from);
      if ("refused" in found || !found.isMore || cursor === null || cursor === from) return found;
      from = cursor;
    }
  }

  /** The cursor moves page by page: where a later one cannot be read, the pages before are kept. */
  async function readPages(from: string): Promise<LogEvents | Refusal> {
    const events: LogEvent[] = [];
    let path = from;
    for (let count = 1; ; count += 1) {
      const page = await pages.getPage({ path, scope: "logs.read" });
      // The next poll says what is wrong: the cursor is good, but not the log's end.
      if (page.state === "missing") return path === from ? refusalOf(page) : { events, isMore: true };
      const { entries, next } = page.value;
      for (const event of newEvents(entries)) events.push(event);
      if (entries.length >= pageSize && next === null && events.length === 0)
        return { refused: "failed", detail: "The log's page is full, and names no next page that can be read" };
      // Without a next link the same page is asked for again; its entries are known then.
      const isEnd = entries.length < pageSize || next === null || next === path;
      cursor = path = next ?? path;
      if (isEnd || count === maxPages || events.length >= maxPages * pageSize) return { events, isMore: !isEnd };
    }
  }

  function newEvents(entries: ListPage["entries"]): readonly LogEvent[] {
    const events = entries.flatMap((entry) => {
      const event = toLogEvent(entry);
      if (event === null || (event.uuid !== null && seen.has(event.uuid))) return [];
      if (event.uuid !== null) seen.add(event.uuid);
      return [event];
    });
    // A set gives its values in the order in which they were added.
    seen = new Set([...seen].slice(-maxSeen));
    return events;
  }

  function noteRead({ isMore }: LogEvents): void {
    if (status.log_status === "unreadable") say("The System Log can be read again");
    status = { log_status: "reading", ...noError };
    if (!isMore) polledMs = clock.nowMs();
  }

  function noteRefusal({ refused, detail: why }: Refusal): void {
    const code = refused === "forbidden" ? "log_forbidden" : "log_unreadable";
    const detail = `The System Log cannot be read, so changes are found by a full scan every ${reconcileMs / 3_600_000} h only: ${why}`;
    if (status.error_code !== code) say(detail);
    status = { log_status: "unreadable", error_code: code, error_detail: detail };
  }
}

function firstPath(sinceMs: number, filter: string | null): string {
  const since = new Date(sinceMs).toISOString();
  const query = new URLSearchParams({ since, sortOrder: "ASCENDING", limit: String(pageSize) });
  if (filter !== null) query.set("filter", filter);
  return `/api/v1/logs?${query}`;
}

function refusalOf(page: Extract<Reading<ListPage>, { readonly state: "missing" }>): Refusal {
  const { reason, refusal } = page;
  // The filter is longer than all that a person wants to read.
  const detail = page.detail.replace(/(\/api\/v1\/logs)\?\S*/, "$1");
  const status = refusal?.httpStatus ?? null;
  if (reason === "missing_scope" || reason === "missing_role" || status === 403)
    return { refused: "forbidden", detail };
  // 400 E0000053 and E0000031: a cursor or a time that is too old or not known, or a filter that is too long.
  const isLost = status === 400 || status === 404 || status === 410 || status === 414;
  return { refused: isLost ? "lost" : "failed", detail };
}
