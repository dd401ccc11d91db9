import { AppError } from "../../shared/app_error.ts";
import { lowerCaseUuids } from "../../shared/channel_name.ts";
import type { EventStreamDefinition } from "./event_stream_definition.ts";

/** The event stream that a path and a query name. */
export interface RequestedStream {
  readonly definition: EventStreamDefinition<string>;
  readonly params: Readonly<Record<string, string>>;
  readonly target: StreamTarget;
}

/** Path and query without what is no part of the stream: `access_token` and `snapshot`. */
export interface StreamTarget {
  /** The same for every order of the query's parameters, and of one parameter's values; what a stream token opens. */
  readonly name: string;
  /** In the name's order: all that have the name get the same stream. */
  readonly query: URLSearchParams;
}

export function toStreamTarget(url: URL): StreamTarget {
  const pathname = lowerCaseUuids(url.pathname);
  const byValue = [...url.searchParams].toSorted(([, one], [, other]) => (one < other ? -1 : Number(one > other)));
  const query = new URLSearchParams(byValue);
  query.delete("access_token");
  query.delete("snapshot");
  // By name, which keeps the order of the values.
  query.sort();
  return { name: query.size === 0 ? pathname : `${pathname}?${query}`, query };
}

/** Whether the stream is to begin with a snapshot. Throws `AppError("malformed")` for any value but `1`. */
export function isSnapshotRequested({ searchParams }: URL): boolean {
  const values = searchParams.getAll("snapshot");
  if (values.length === 0) return false;
  if (values.every((value) => value === "1")) return true;
  throw new AppError("malformed", 'Query parameter "snapshot" must be 1 or absent');
}
