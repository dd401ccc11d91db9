import type { Database } from "../../drizzle/database.ts";
import { accessOf, requireAuthority } from "../auth/membership.ts";
import { AppError, NotFound, PermissionDenied } from "../../shared/app_error.ts";
import { isUuid } from "../../shared/channel_name.ts";
import { encodeEvent } from "../../shared/event.ts";
import { encodeComment, encodeEventFrame } from "../../shared/event_stream_encoding.ts";
import type { Principal } from "../auth/principal.ts";
import { streamDigest } from "../auth/stream_tokens.ts";
import { requireReadable } from "./require_readable.ts";
import { encodeChunk } from "./encoded_chunk.ts";
import type { ChannelsRequest, EventStreamDefinition } from "./event_stream_definition.ts";
import type { StreamSnapshot } from "./stream_request.ts";

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

export function toStreamTarget({ pathname, search }: URL): StreamTarget {
  const byValue = [...new URLSearchParams(search)].toSorted(([, one], [, other]) =>
    one < other ? -1 : Number(one > other),
  );
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

/**
 * Both gates before a stream, and whether it has ended. One round trip to the database. Rejects with `AppError`
 * `not_found`, `permission_denied`, or `unavailable`.
 */
export async function findChannels(
  stream: RequestedStream,
  principal: Principal,
  database: Database,
): Promise<{ readonly channels: readonly string[]; readonly hasEnded: boolean }> {
  const { definition, params, target } = stream;
  if (principal.onlyStream !== null && principal.onlyStream !== (await streamDigest(target.name))) {
    throw new PermissionDenied("This stream token is for another event stream");
  }
  if (!Object.values(params).every((value) => isUuid(value))) {
    // What is no id is looked up nowhere, so the caller's authority is asked for here.
    await requireAuthority(database, { ...principal, permission: "read" });
    throw new NotFound("No such resource");
  }
  const found = await look(stream, principal, database, async (request) => definition.getChannels(request));
  const hasEnded = "ended" in found;
  return { channels: requireReadable(principal, definition.prefix, hasEnded ? found.ended : found), hasEnded };
}

/** Reads and encodes the stream's snapshot. Rejects as `findChannels` does. */
export async function readSnapshot(
  stream: RequestedStream,
  principal: Principal,
  database: Database,
): Promise<StreamSnapshot> {
  return look(stream, principal, database, async (request) => {
    const { events = [], hasEnded = false } = (await stream.definition.getSnapshot?.(request)) ?? {};
    const frames = events.map(({ type, data }) => encodeEventFrame(encodeEvent(type, data)));
    return { chunk: encodeChunk(frames.join("") + encodeComment("snapshot complete")), hasEnded };
  });
}

async function look<Result>(
  { params, target }: RequestedStream,
  principal: Principal,
  database: Database,
  find: (request: ChannelsRequest<string>) => Promise<Result>,
): Promise<Result> {
  const query = Object.fromEntries([...target.query].toReversed());
  const queryAll = (name: string) => target.query.getAll(name);
  return accessOf(database, { ...principal, permission: "read" }).read((db) =>
    find({ principal, params, db, query, queryAll }),
  );
}
