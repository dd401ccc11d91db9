import type { Clock } from "../okta/clock.ts";
import type { ListPage, PageReader, Reading } from "../okta/idp_client.ts";
import type { MonitorUpdate } from "../../shared/schemas/monitor.ts";
import type { FollowState } from "./follow_state.ts";
import { toLogEvent, type LogEvent } from "./log_event.ts";
import { logFilters } from "./touched.ts";

/** Entries of one poll of the log: pages until one is not full. */
export interface LogEvents {
  /** New ones, in the log's order. */
  readonly events: readonly LogEvent[];
  readonly cursor: string;
  /** True if the log has more entries now: one poll reads a bounded number of pages. */
  readonly isMore: boolean;
}

interface Refusal {
  /** `lost`: the provider does not know the cursor any more. */
  readonly refused: "lost" | "forbidden" | "failed";
  readonly detail: string;
}

export interface SystemLogOptions {
  /** `nowMs` is the provider's time. */
  readonly pages: PageReader & Pick<Clock, "nowMs">;
  readonly clock: Clock;
  /** A message for a person. */
  readonly say: (text: string) => void;
  readonly reconcileMs: number;
  readonly saved: Pick<FollowState, "cursor" | "lastLookAt" | "seen"> | null;
}

/** The event as the gateway's clients see it. */
type LogState = Pick<MonitorUpdate, "log_status" | "error_code" | "error_detail" | "gap_from" | "gap_to">;

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
export class SystemLog {
  readonly #options: SystemLogOptions;
  readonly #seen: Set<string>;
  #cursor: string | null;
  #polledMs: number | null;
  #status: LogState = { log_status: "unknown", ...noError };

  constructor(options: SystemLogOptions) {
    const { saved } = options;
    this.#options = options;
    this.#seen = new Set(saved?.seen);
    this.#cursor = saved?.cursor ?? null;
    this.#polledMs = typeof saved?.lastLookAt === "string" ? Date.parse(saved.lastLookAt) : null;
  }

  get hasCursor(): boolean {
    return this.#cursor !== null;
  }

  /** When the log was last read to its end. */
  get polledMs(): number | null {
    return this.#polledMs;
  }

  /** Takes a cursor at the log's present end, past everything before; false where it cannot be read. A provider may refuse a long filter. */
  async begin(): Promise<boolean> {
    this.#cursor = null;
    for (const filter of logFilters) {
      const end = await this.#readToEnd(firstPath(this.#options.pages.nowMs() - startMarginMs, filter));
      if (!("refused" in end)) {
        this.#noteRead(end);
        this.#cursor = end.cursor;
        return true;
      }
      if (end.refused === "lost" && filter !== null) continue;
      this.#noteRefusal(end);
      break;
    }
    return false;
  }

  /** Reads the entries since the cursor, which stays until `advance`. `lost`: what happened since the last poll cannot be read. */
  async read(): Promise<LogEvents | "lost" | "unreadable"> {
    const ageMs = this.#options.clock.nowMs() - (this.#polledMs ?? Number.POSITIVE_INFINITY);
    if (this.#cursor === null || ageMs > maxCursorAgeMs) return "lost";
    const found = await this.#readPages(this.#cursor);
    if (!("refused" in found)) {
      this.#noteRead(found);
      return found;
    }
    if (found.refused === "lost") return "lost";
    this.#noteRefusal(found);
    return "unreadable";
  }

  advance(cursor: string): void {
    this.#cursor = cursor;
  }

  /** Says that the log between the two times cannot be read any more. */
  reportGap(fromMs: number, toMs: number): void {
    const [gap_from, gap_to] = [new Date(fromMs).toISOString(), new Date(toMs).toISOString()];
    const detail = `The System Log could not be read from where it was left: what happened from ${gap_from} to ${gap_to} is known by a full scan only, not by whom`;
    this.#status = { ...this.#status, error_code: "log_gap", error_detail: detail, gap_from, gap_to };
    this.#options.say(detail);
  }

  clearGap(): void {
    const { gap_from: _from, gap_to: _to, ...status } = this.#status;
    this.#status = { ...status, ...noError };
  }

  status(): LogState {
    return this.#status;
  }

  toSave(): Pick<FollowState, "cursor" | "lastLookAt" | "seen"> {
    const lastLookAt = this.#polledMs === null ? null : new Date(this.#polledMs).toISOString();
    return { cursor: this.#cursor, lastLookAt, seen: [...this.#seen] };
  }

  /** A page at a time, so that however long the log is, little of it is in memory. */
  async #readToEnd(path: string): Promise<LogEvents | Refusal> {
    for (let cursor = path; ;) {
      const found = await this.#readPages(cursor);
      if ("refused" in found || !found.isMore || found.cursor === cursor) return found;
      ({ cursor } = found);
    }
  }

  async #readPages(from: string): Promise<LogEvents | Refusal> {
    const events: LogEvent[] = [];
    let cursor = from;
    for (let count = 1; ; count++) {
      const page = await this.#options.pages.getPage({ path: cursor, scope: "logs.read" });
      // The pages before are kept, and the next poll says what is wrong: their cursor is good, but not the log's end.
      if (page.state === "missing") return cursor === from ? refusalOf(page) : { events, cursor, isMore: true };
      const { entries, next } = page.value;
      for (const entry of entries) {
        const event = toLogEvent(entry);
        if (event !== null && this.#isNew(event)) events.push(event);
      }
      if (entries.length >= pageSize && next === null && events.length === 0)
        return { refused: "failed", detail: "The log's page is full, and names no next page that can be read" };
      // Without a next link the same page is asked for again; its entries are known then.
      const isEnd = entries.length < pageSize || next === null || next === cursor;
      cursor = next ?? cursor;
      if (isEnd || count === maxPages) return { events, cursor, isMore: !isEnd };
    }
  }

  #isNew({ uuid }: LogEvent): boolean {
    if (uuid === null) return true;
    if (this.#seen.has(uuid)) return false;
    this.#seen.add(uuid);
    // A set gives its values in the order in which they were added.
    for (const oldest of this.#seen) {
      if (this.#seen.size <= maxSeen) break;
      this.#seen.delete(oldest);
    }
    return true;
  }

  #noteRead({ isMore }: LogEvents): void {
    if (this.#status.log_status === "unreadable") this.#options.say("The System Log can be read again");
    this.#status = { log_status: "reading", ...noError };
    if (!isMore) this.#polledMs = this.#options.clock.nowMs();
  }

  #noteRefusal({ refused, detail: why }: Refusal): void {
    const { say, reconcileMs } = this.#options;
    const code = refused === "forbidden" ? "log_forbidden" : "log_unreadable";
    const detail = `The System Log cannot be read, so changes are found by a full scan every ${reconcileMs / 3_600_000} h only: ${why}`;
    if (this.#status.error_code !== code) say(detail);
    this.#status = { log_status: "unreadable", error_code: code, error_detail: detail };
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
