import { listingOf } from "../objects/org_contents.ts";
import { notFound } from "./provider_errors.ts";
import { json } from "../http/body.ts";
import type { App, OrgContents, Resource } from "../objects/org_contents.ts";
import type { PagedList, Paging } from "./paging.ts";
import type { PracticeResponse } from "../http/body.ts";

/** What the administrator role of the service application allows it to see. */
export type Role = "none" | "read-only" | "super";

export interface Call {
  readonly url: string;
  readonly contents: OrgContents;
  readonly role: Role;
  readonly clientId: string;
  readonly serviceApp: App;
  readonly query: URLSearchParams;
  /** The variable segments of the path, in order. */
  readonly segments: readonly string[];
}

export type Answer = PagedList | PracticeResponse;

/** Most lists: twenty to a page unless asked otherwise. */
export const twenty: Paging = { defaultLimit: 20, maxLimit: 200 };

export function byId(items: readonly Resource[], id: string | undefined, kind: string): Answer {
  const found = items.find((item) => item.id === id);
  return found === undefined ? notFound(id ?? "", kind) : json(200, found);
}

/** An endpoint that returns all there is. */
export function whole(items: readonly unknown[]): PagedList {
  return { listing: listingOf(items), paging: null };
}

export function paged(items: readonly unknown[], paging: Paging = twenty): PagedList {
  return { listing: listingOf(items), paging };
}
