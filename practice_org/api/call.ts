import type { ServiceAppState, Role } from "../auth/service_app.ts";
import type { App, OrgContents, Resource } from "../contents/org_contents.ts";
import { json, notFound, providerError, type PracticeRequest, type PracticeResponse } from "../http/messages.ts";
import type { LogReading } from "../log/log_endpoint.ts";
import type { JsonObject } from "../../shared/json.ts";
import type { PagedList, Paging } from "./paging.ts";

/** An authorized call of an endpoint. */
export interface Call {
  readonly url: string;
  readonly contents: OrgContents;
  readonly role: Role;
  readonly clientId: string;
  readonly serviceApp: App;
  /** As the Admin Console has it. */
  readonly app: Pick<ServiceAppState, "hasPublicClientAdmins">;
  readonly query: URLSearchParams;
  readonly request: PracticeRequest;
  readonly log: LogReading;
  /** The variable segments of the path, in order. */
  readonly segments: readonly string[];
}

export type Answer = PagedList | PracticeResponse;
export type Endpoint = (call: Call) => Answer;

export interface ListOptions {
  /** Default: 20 entries a page, and 200 at most. Null: the list has no pages. */
  readonly paging?: Paging | null;
  /** Attributes that `filter` may name. Default: the endpoint ignores `filter`. */
  readonly filters?: readonly string[];
  readonly envelope?: string;
}

const twentyPerPage: Paging = { defaultLimit: 20, maxLimit: 200 };

/** An endpoint that answers a list of the org. */
export function list(
  itemsOf: (call: Call) => readonly JsonObject[],
  { paging = twentyPerPage, filters, ...more }: ListOptions = {},
): Endpoint {
  return (call) => {
    const items = itemsOf(call);
    if (filters === undefined) return { ...more, items, paging };
    const filter = parseFilter(call.query.get("filter"), filters);
    return "refusal" in filter ? filter.refusal : { ...more, items, paging, ...filter };
  };
}

/** Endpoints below one object that the path names; 404 in the provider's words where there is no such object. */
export function named<Item>(
  itemsOf: (contents: OrgContents) => readonly Item[],
  idOf: (item: Item) => string,
  kind: string,
) {
  return <Request extends Pick<Call, "contents" | "segments">, Result>(
    answer: (found: Item, call: Request) => Result,
    otherKind = kind,
  ) =>
    (call: Request): Result | PracticeResponse => {
      const [id = ""] = call.segments;
      const found = itemsOf(call.contents).find((item) => idOf(item) === id);
      return found === undefined ? notFound(id, otherKind) : answer(found, call);
    };
}

/** The object with the id among these; 404 where there is none. */
export function byId(items: readonly Resource[], id = "", kind: string): PracticeResponse {
  const found = items.find((item) => item.id === id);
  return found === undefined ? notFound(id, kind) : json(200, found);
}

/** A list without pages. */
export function unpaged(items: readonly JsonObject[]): PagedList {
  return { items, paging: null };
}

/**
 * `filter` as the list endpoints know it: `attribute eq "value"`, several joined by `and`. Attributes that the endpoint
 * does not filter by are refused in the provider's way.
 */
function parseFilter(
  text: string | null,
  attributes: readonly string[],
): { readonly matches: (item: JsonObject) => boolean } | { readonly refusal: PracticeResponse } {
  if (text === null) return { matches: () => true };
  const clauses = text.split(/(?<!\s)\s+and\s+/i).map((clause) => /^\s*([\w.]+)\s+eq\s+"([^"]*)"\s*$/i.exec(clause));
  if (clauses.some((clause) => !attributes.includes(clause?.[1] ?? ""))) {
    return { refusal: providerError("E0000031", { causes: [`Invalid filter '${text}'.`] }) };
  }
  return { matches: (item) => clauses.every((clause) => item[clause?.[1] ?? ""] === clause?.[2]) };
}
