import type { JsonObject } from "../../shared/json.ts";
import type { LogReading } from "../log/log_endpoint.ts";
import type { ListName } from "../changes/places.ts";
import { json, notFound, providerError, type PracticeRequest, type PracticeResponse } from "../http/messages.ts";
import { listingOf, type App, type OrgContents, type Resource } from "../contents/org_contents.ts";
import type { PagedList, Paging } from "./paging.ts";
import type { Role } from "../auth/service_app.ts";

/** An authorized call of an endpoint. */
export interface Call {
  readonly url: string;
  readonly contents: OrgContents;
  readonly role: Role;
  readonly clientId: string;
  readonly serviceApp: App;
  /** As the Admin Console has it. */
  readonly app: { readonly hasPublicClientAdmins: boolean };
  readonly query: URLSearchParams;
  readonly request: PracticeRequest;
  readonly log: LogReading;
  /** The variable segments of the path, in order. */
  readonly segments: readonly string[];
}

export type Answer = PagedList | PracticeResponse;

/** The page size of most lists. */
export const twentyPerPage: Paging = { defaultLimit: 20, maxLimit: 200 };

/** A list without pages. */
export function unpaged(items: readonly unknown[]): PagedList {
  return { listing: listingOf(items), paging: null };
}

export function paged(items: readonly unknown[], paging: Paging = twentyPerPage): PagedList {
  return { listing: listingOf(items), paging };
}

export function byId(items: readonly Resource[], id: string | undefined, kind: string): Answer {
  const found = items.find((item) => item.id === id);
  return found === undefined ? notFound(id ?? "", kind) : json(200, found);
}

/** An entry of one of the org's lists. */
export function oneOf(list: ListName, kind: string): (call: Call) => Answer {
  return ({ contents, segments }) => byId(contents[list], segments[0], kind);
}

/** An endpoint below one object that the path names; 404 in the provider's words where there is no such object. */
export function ofNamed<Item>(
  itemsOf: (call: Call) => readonly Item[],
  idOf: (item: Item) => string,
  kind: string,
  answer: (found: Item, call: Call) => Answer,
): (call: Call) => Answer {
  return (call) => {
    const [id = ""] = call.segments;
    const found = itemsOf(call).find((item) => idOf(item) === id);
    return found === undefined ? notFound(id, kind) : answer(found, call);
  };
}

/**
 * `filter` as the list endpoints know it: `attribute eq "value"`, several joined by `and`. Attributes that the endpoint
 * does not filter by are refused in the provider's way.
 */
export function parseFilter(
  text: string | null,
  attributes: readonly string[],
): { readonly matches: (item: JsonObject) => boolean } | { readonly refusal: PracticeResponse } {
  if (text === null) return { matches: () => true };
  const clauses = text.split(/(?<!\s)\s+and\s+/i).map((clause) => /^\s*([\w.]+)\s+eq\s+"([^"]*)"\s*$/i.exec(clause));
  const wanted: (readonly [string, string])[] = [];
  for (const clause of clauses) {
    const [, attribute, value] = clause ?? [];
    if (attribute === undefined || value === undefined || !attributes.includes(attribute)) {
      return { refusal: providerError("E0000031", { causes: [`Invalid filter '${text}'.`] }) };
    }
    wanted.push([attribute, value]);
  }
  return { matches: (item) => wanted.every(([attribute, value]) => item[attribute] === value) };
}
