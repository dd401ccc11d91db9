import { Hono, type MiddlewareHandler } from "hono";
import { describeRoute } from "hono-openapi";
import * as v from "valibot";
import { AppError } from "../../shared/app_error.ts";
import { lowerCaseUuids } from "../../shared/channel_name.ts";
import { uuid } from "../../shared/schemas/primitives.ts";
import { declareAccess } from "../http/allow.ts";
import type { Authenticator } from "../auth/authenticate.ts";
import type { Principal } from "../auth/principal.ts";
import { answer, parameter, problem, refusals, streamSecurity, tenantParameter } from "../description/operation.ts";
import type { EventStreams } from "../features/features.ts";
import { methodRefused } from "../http/problem.ts";
import { accountOf } from "../limits.ts";
import type { EventStream, StreamParameter, StreamText } from "./event_stream_definition.ts";

/** Parts that the route finds in the context as `dependencies`. */
export interface EventStreamDependencies {
  readonly authenticator: Pick<Authenticator, "authenticateStream">;
  readonly streams: StreamOpener;
}

interface EventStreamEnvironment {
  Variables: { readonly dependencies: EventStreamDependencies; readonly principal: Principal };
}

/** Makes the route below `/api/v1` that answers `GET` with the event stream. */
export function eventStreamRoute(mount: string, definition: EventStream): Hono<EventStreamEnvironment> {
  const route = new Hono<EventStreamEnvironment>();
  const handler: MiddlewareHandler<EventStreamEnvironment> = async (c, next) => {
    // Hono answers HEAD by running GET and dropping the body: a stream that no client would ever read or close.
    if (c.req.method !== "GET") throw methodRefused(c.req.method, ["GET"]);
    const url = new URL(c.req.url);
    // Decoded, as the router has matched it: by its name the stream is found again.
    url.pathname = c.req.path;
    const stream = findEventStream([[mount, definition]], url);
    // The query asks for another stream of this path.
    if (stream === null) return next();
    const { authenticator, streams } = c.var.dependencies;
    // Every refusal comes before any byte of a stream.
    const principal = await authenticator.authenticateStream(c.req.raw);
    c.set("principal", principal);
    const account = accountOf(c.req.raw);
    account.isNew(principal);
    const hasSnapshot = isSnapshotRequested(url, definition);
    const response = await streams.open({ stream, principal, hasSnapshot, request: c.req.raw, platform: c.env });
    account.close();
    return response;
  };
  const { text } = definition;
  const path = pathOf(mount, definition);
  const first: MiddlewareHandler = text === undefined ? (_c, next) => next() : describeStream(path, definition, text);
  // Another stream of this path may follow one that is for some queries only.
  const last = definition.isFor === undefined ? handler : declareAccess("read", handler);
  route.get(path, declareAccess("read", first), last);
  return route;
}

const snapshotParameter: StreamParameter = {
  name: "snapshot",
  in: "query",
  description:
    "1: begins with the state of what is followed, as `*.snapshot` events after `: open`, and the comment `: snapshot complete`",
  schema: { type: "string", enum: ["1"] },
};

function describeStream(
  path: string,
  { parameters = [], getSnapshot }: EventStream,
  text: StreamText,
): MiddlewareHandler {
  const { what, ended, notFound, ...texts } = text;
  const ids = [...path.matchAll(/:(\w+)/g)].map(([, name = ""]) =>
    parameter("path", name, v.pipe(uuid(), v.description(`The ${name === "id" ? what : name}'s id`))),
  );
  return describeRoute({
    ...texts,
    tags: ["streams"],
    security: streamSecurity,
    parameters: [...ids, ...parameters, ...(getSnapshot === undefined ? [] : [snapshotParameter]), tenantParameter],
    responses: {
      200: answer("text/event-stream", v.string(), "The stream", ["Cache-Control"]),
      204: { description: ended },
      ...refusals(400, 401, 403, 429, 503),
      404: problem(notFound),
    },
  });
}

/** The event stream that a path and a query name. */
export interface RequestedStream {
  readonly definition: EventStream;
  readonly params: Readonly<Record<string, string>>;
  /**
   * Path, and the query's parameters that the stream reads. The same for every order of these, and of one parameter's values; what a
   * stream token opens.
   */
  readonly name: string;
  /** In the name's order: all that have the name get the same stream. */
  readonly query: URLSearchParams;
}

/** The stream that a URL would open; null when it opens none. */
export function findEventStream(streams: EventStreams, url: URL): RequestedStream | null {
  const pathname = lowerCaseUuids(url.pathname);
  for (const [mount, definition] of streams) {
    const pattern = `/api/v1${pathOf(mount, definition)}`.replaceAll(/:(\w+)/g, "(?<$1>[^/]+)");
    const match = new RegExp(`^${pattern}$`).exec(pathname);
    const query = queryOf(url, definition);
    if (match === null || definition.isFor?.(query) === false) continue;
    const name = query.size === 0 ? pathname : `${pathname}?${query}`;
    return { definition, params: { ...match.groups }, name, query };
  }
  return null;
}

/** Path of an event stream below `/api/v1`. */
function pathOf(mount: string, { path }: EventStream): string {
  return [mount, path].filter((part) => part !== "/").join("");
}

/** The parameters that the stream reads, the same for every order of them. */
function queryOf(url: URL, { parameters }: EventStream): URLSearchParams {
  const names = new Set(parameters?.map(({ name }) => name) ?? url.searchParams.keys());
  for (const name of ["access_token", "snapshot"]) names.delete(name);
  const read = [...url.searchParams].filter(([name]) => names.has(name));
  const query = new URLSearchParams(read.toSorted(([, one], [, other]) => (one < other ? -1 : Number(one > other))));
  // Sorts by name, which keeps the order of the values.
  query.sort();
  return query;
}

/** Returns true when a snapshot is asked for. Throws `AppError("malformed")` for any value but `1`, and when the stream has no snapshot. */
export function isSnapshotRequested({ searchParams }: URL, { getSnapshot }: EventStream): boolean {
  const values = searchParams.getAll("snapshot");
  if (values.length === 0) return false;
  const expected = getSnapshot === undefined ? "absent: this event stream has no snapshot" : "1 or absent";
  if (getSnapshot !== undefined && values.every((value) => value === "1")) return true;
  throw new AppError("malformed", `Query parameter "snapshot" must be ${expected}`);
}

/** A caller who was authenticated, and the stream that it asks for. */
export interface RequestedOpening {
  readonly stream: RequestedStream;
  readonly principal: Principal;
  readonly hasSnapshot: boolean;
  readonly request: Request;
  /** The runtime's bindings (Hono's `c.env`): on Node, the HTTP response that a sink may write to itself. */
  readonly platform?: unknown;
}

/**
 * Authorizes and opens streams: in this process on Node and Deno (`ChannelManager`), in the tenant's Durable Object on
 * Workers (`streams_object.ts`).
 *
 * Resolves with the `200` only after the broker has confirmed every channel (S1), and with `204` for what has ended. Rejects with
 * `AppError` `not_authenticated`, `not_found`, `permission_denied`, `too_many` (a tenant's bound), or `unavailable` (the process's
 * bound, an unreachable database or broker, draining).
 */
export interface StreamOpener {
  open(opening: RequestedOpening): Promise<Response>;
}
