import { openCursor, pageAddress, sealCursor } from "../http/cursors.ts";
import {
  invalid,
  json,
  providerError,
  type Header,
  type PracticeRequest,
  type PracticeResponse,
} from "../http/messages.ts";
import type { RequestFaults } from "./faults.ts";

/** How an endpoint pages. Null limits: it returns everything unless the request sets a limit. */
export interface Paging {
  readonly defaultLimit: number | null;
  readonly maxLimit: number;
}

export interface PagedList {
  readonly items: readonly unknown[];
  readonly matches?: (item: never) => boolean;
  /** Null: the endpoint ignores `limit` and `after`, and sends no links. */
  readonly paging: Paging | null;
  /** Links carry `limit` and `after` alone, so that a next page is of all entries. Default: the whole query. */
  readonly dropsQuery?: true;
  /** Set where the answer is an object: the field that holds the list, with the next page's link next to it. */
  readonly envelope?: string;
}

/** Faults of a chain of pages; every list then has at least two. */
const pageFaults = ["second-page-fails", "repeated-cursor", "next-link-elsewhere"] as const;

export interface PageContext {
  readonly url: string;
  readonly cursorSecret: Uint8Array;
  readonly faults: RequestFaults;
}

export function answerPage(list: PagedList, request: PracticeRequest, context: PageContext): PracticeResponse {
  const { faults } = context;
  const isFaulty = pageFaults.some((name) => faults.has(name));
  const limit = limitOf(list, request.query, isFaulty);
  if (typeof limit !== "number") return limit.refusal;
  const after = list.paging === null && !isFaulty ? null : request.query.get("after");
  const start = after === null ? 0 : openCursor(after, request.path, context.cursorSecret)?.[0];
  if (start === undefined) return providerError("E0000029", { causes: ["Invalid cursor."] });
  if (after !== null && faults.has("second-page-fails")) return providerError("E0000009");

  const { page, nextOffset } = pageFrom(list, start, limit);
  // A faulty chain has a second page even where the list has none.
  const offset = nextOffset ?? (isFaulty && after === null ? start + page.length : null);
  const fresh = offset === null ? null : sealCursor([offset], request.path, context.cursorSecret);
  const next = faults.has("repeated-cursor") && after !== null ? after : fresh;
  const shown = list.paging?.defaultLimit === null && !request.query.has("limit") ? null : limit;
  const query = list.dropsQuery === true ? new URLSearchParams() : request.query;
  const linked = { ...request, query };
  const nextUrl = next === null ? null : pageUrl(faults.linkOrigin(context.url), linked, next, shown);
  if (list.envelope !== undefined) {
    const links = nextUrl === null ? {} : { _links: { next: { href: nextUrl } } };
    return json(200, { [list.envelope]: page, ...links });
  }
  const headers: Header[] = [];
  if (list.paging !== null) {
    headers.push(["link", `<${pageUrl(context.url, linked, after, shown)}>; rel="self"`]);
  }
  if (nextUrl !== null) headers.push(["link", `<${nextUrl}>; rel="next"`]);
  return json(200, page, headers);
}

function limitOf(
  { items, paging }: PagedList,
  query: URLSearchParams,
  isFaulty: boolean,
): number | { readonly refusal: PracticeResponse } {
  if (isFaulty) return Math.max(1, Math.ceil(items.length / 2));
  const requested = query.get("limit");
  if (paging === null || requested === null || requested === "-1")
    return paging?.defaultLimit ?? Math.max(1, items.length);
  const limit = /^[0-9]+$/.test(requested) ? Number(requested) : 0;
  if (limit >= 1 && limit <= paging.maxLimit) return limit;
  return { refusal: invalid("limit", `The limit must be from 1 to ${paging.maxLimit}`) };
}

/** Finds one match more than the page holds: there is a next page only when it has a first item. */
function pageFrom({ items, matches }: PagedList, start: number, limit: number) {
  const page: unknown[] = [];
  for (const [index, item] of items.slice(start).entries()) {
    if (matches !== undefined && !matches(item as never)) continue;
    if (page.length === limit) return { page, nextOffset: start + index };
    page.push(item);
  }
  return { page, nextOffset: null };
}

function pageUrl(origin: string, request: PracticeRequest, after: string | null, limit: number | null): string {
  return pageAddress(`${origin}${request.path}`, [
    ...(after === null ? [] : [["after", after] as const]),
    ...(limit === null ? [] : [["limit", String(limit)] as const]),
    ...[...request.query].filter(([name]) => name !== "after" && name !== "limit"),
  ]);
}
