import type { Evidence } from "../evidence/artifacts.ts";
import type { JsonObject } from "../../shared/json.ts";

/** A path under the org, and the scope that reading it needs (without its prefix). */
export interface IdpRequest {
  /** Path and query, `/api/v1/policies?type=PASSWORD`. */
  readonly path: string;
  /** `policies.read`: without a grant of it nothing is sent. */
  readonly scope: string;
  /** Reduces each entry of a list, as its page arrives: a whole list of large entries need not fit in memory. */
  readonly keep?: (entry: JsonObject) => JsonObject;
  /** Called with each kept entry of a list, before the next page is asked for. */
  readonly onEntry?: ((kept: JsonObject) => void) | undefined;
}

/** The HTTP status and the provider's error code of a refusal, for collectors that branch on them (404 of a page). */
export interface Refusal {
  readonly httpStatus: number | null;
  readonly errorCode: string | null;
}

export type Reading<Value> = Evidence<Value> & { readonly refusal?: Refusal };

/** Reads from the provider: GET only. Never throws for what the provider does; rejects only when `signal` aborts. */
export interface IdpClient {
  getObject(request: IdpRequest): Promise<Reading<JsonObject>>;
  /** Follows every page; on a failing page the ones before it are `partial`, and so are the objects of a list that holds something else. */
  getList(request: IdpRequest): Promise<Reading<readonly JsonObject[]>>;
}

/** One page of a list that goes on: the System Log has a next page even where this one is empty. */
export interface ListPage {
  readonly entries: readonly JsonObject[];
  /** Path and query of the page after this one; null where the provider names none on the organization's origin. */
  readonly next: string | null;
}

/** Reads page by page what has no end. Never throws for what the provider does. */
export interface PageReader {
  getPage(request: IdpRequest): Promise<Reading<ListPage>>;
}
