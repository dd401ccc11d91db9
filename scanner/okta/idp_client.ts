import type { Evidence } from "../evidence/artifacts.ts";
import { isJsonObject, type JsonObject } from "../../shared/json.ts";
import { isUsableId } from "../checks/parsing/names.ts";

/** A path under the org, and the scope that reading it needs (without its prefix). */
export interface IdpRequest {
  /** Path and query, `/api/v1/policies?type=PASSWORD`. */
  readonly path: string;
  /** `policies.read`: without a grant of it nothing is sent. */
  readonly scope: string;
  /** Fields of an object: an answer that has none of them is another object, such as a proxy's error. */
  readonly fields?: readonly string[];
  /** Reduces each entry of a list, as its page arrives: a whole list of large entries need not fit in memory. */
  readonly keep?: (entry: JsonObject) => JsonObject;
  /** Called with each kept entry of a list, before the next page is asked for. */
  readonly onEntry?: ((kept: JsonObject) => void) | undefined;
}

/** The HTTP status (403 for a page of a proxy) and the provider's error code of a refusal, for collectors that branch on them. */
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

/** An id as one segment of a request's path; null for what is not an id, and for dots that would lead to another path. Never throws. */
export function pathSegment(id: unknown): string | null {
  if (!isUsableId(id) || id === "." || id === "..") return null;
  return encodeURIComponent(id);
}

/**
 * Keeps the named fields of each entry of a list, `settings.host` for a part of one. The fields that nothing reads are most of the memory of a large org, and some (links, client secrets) must not be saved. A check that reads a field
 * which is not kept fails `test/scanner/evidence/kept_fields.test.ts`.
 */
export function keeping(paths: readonly string[]): (entry: JsonObject) => JsonObject {
  const fields = [...Map.groupBy(paths, (path) => path.split(".", 1)[0] ?? "")].map(([field, own]) => {
    const deeper = own.filter((path) => path !== field).map((path) => path.slice(field.length + 1));
    return { field, keep: deeper.length === 0 ? null : keeping(deeper) };
  });
  return (entry) => {
    const kept: Record<string, unknown> = {};
    for (const { field, keep } of fields) {
      if (!Object.hasOwn(entry, field)) continue;
      const value = entry[field];
      // A value of another shape than expected is kept: whether it is readable is for a check to decide.
      kept[field] = keep !== null && isJsonObject(value) ? keep(value) : value;
    }
    return kept;
  };
}
