import { Hono, type MiddlewareHandler } from "hono";
import type { Database } from "../../drizzle/database.ts";
import { makeChannelName } from "../../shared/channel_name.ts";
import { declareAccess } from "../auth/access.ts";
import type { Authenticator } from "../auth/authenticate.ts";
import {
  describeHandler,
  pathParameter,
  problem,
  refusals,
  streamSecurity,
  tenantParameter,
} from "../description/operation.ts";
import type { Operation, Parameter } from "../description/operation.ts";
import { uuid } from "../../shared/schemas/primitives.ts";
import type { DefaultPath, EventStreamDefinition } from "./event_stream_definition.ts";
import {
  findChannels,
  isSnapshotRequested,
  readSnapshot,
  toStreamTarget,
  type RequestedStream,
} from "./requested_stream.ts";
import type { StreamOpener } from "./stream_opener.ts";

export { ended, type ChannelsRequest, type ChannelsResult, type Snapshot } from "./event_stream_definition.ts";

const defaultPath: DefaultPath = "/:id/event-stream";

/** What the route finds in the context as `dependencies`. */
export interface EventStreamDependencies {
  readonly authenticator: Pick<Authenticator, "authenticateStream">;
  readonly database: Database;
  readonly streams: StreamOpener;
  readonly holderOf: (request: Request, env: unknown) => string;
}

interface EventStreamEnvironment {
  Variables: { readonly dependencies: EventStreamDependencies };
}

/** A route that answers `GET` with server-sent events, to be mounted as one of a feature's `eventStreams`. */
export type EventStreamRoute = Hono<EventStreamEnvironment> & {
  readonly definition: EventStreamDefinition<string> & { readonly path: string };
};

/** Makes the route of a feature's event stream. Throws `TypeError` for a prefix that no channel name can have. */
export function defineEventStream<const Path extends string = DefaultPath>(
  given: EventStreamDefinition<Path>,
): EventStreamRoute {
  makeChannelName(given.prefix, "00000000-0000-0000-0000-000000000000", "-");
  // The parameters are the ones that the path names, as the given type requires.
  const definition = { ...given, path: given.path ?? defaultPath } as unknown as EventStreamRoute["definition"];
  const route = Object.assign(new Hono<EventStreamEnvironment>(), { definition });
  const handler: MiddlewareHandler<EventStreamEnvironment> = async (c, next) => {
    const target = toStreamTarget(new URL(c.req.url));
    // Hono answers HEAD by running GET and dropping the body: a stream that no client would ever read or close.
    if (c.req.method !== "GET" || definition.isFor?.(target.query) === false) {
      await next();
      return undefined;
    }
    const stream = { definition, params: c.req.param(), target };
    const { openings } = c.var.dependencies.streams;
    const holder = c.var.dependencies.holderOf(c.req.raw, c.env);
    openings?.take(holder);
    try {
      const response = await openEventStream(stream, c.var.dependencies, { request: c.req.raw, platform: c.env });
      return response ?? c.body(null, 204, { "cache-control": "no-store" });
    } finally {
      openings?.give(holder);
    }
  };
  const declared = declareAccess("read", handler);
  const operation = toOperation(definition);
  route.get(definition.path, operation === null ? declared : describeHandler(declared, operation));
  return route;
}

const snapshotParameter: Parameter = {
  name: "snapshot",
  in: "query",
  description:
    "1: begins with the state of what is followed, as `*.snapshot` events after `: open`, and the comment `: snapshot complete`",
  schema: { type: "string", enum: ["1"] },
};

function toOperation({ path, text, getSnapshot }: EventStreamRoute["definition"]): Operation | null {
  if (text === undefined) return null;
  const { what, ended, notFound, parameters = [], ...texts } = text;
  const names = [...path.matchAll(/:(\w+)/g)].map(([, name = ""]) => name);
  return {
    ...texts,
    tags: ["streams"],
    security: streamSecurity,
    parameters: [
      ...names.map((name) => pathParameter(name, `The ${what}'s id`, uuid())),
      ...parameters,
      ...(getSnapshot === undefined ? [] : [snapshotParameter]),
      tenantParameter,
    ],
    responses: {
      200: { description: "The stream", contentType: "text/event-stream", headers: ["Cache-Control"] },
      204: { description: ended },
      ...refusals(400, 401, 403, 429, 503),
      404: problem(notFound),
    },
  };
}

interface OpenRequest {
  readonly request: Request;
  readonly platform: unknown;
}

/**
 * From a request to an open stream; null when the resource has ended. Every refusal is thrown, before any byte of a
 * stream: `not_authenticated`, `malformed`, `not_found`, `permission_denied`, `too_many`, `unavailable`.
 */
async function openEventStream(
  stream: RequestedStream,
  { authenticator, database, streams }: EventStreamDependencies,
  { request, platform }: OpenRequest,
): Promise<Response | null> {
  const principal = await authenticator.authenticateStream(request);
  const lookUp = <Result>(work: () => Promise<Result>) => streams.lookups?.run(principal.tenantId, work) ?? work();
  const { channels, hasEnded } = await lookUp(() => findChannels(stream, principal, database));
  const hasSnapshot = isSnapshotRequested(new URL(request.url)) && stream.definition.getSnapshot !== undefined;
  if (hasEnded) return null;
  const snapshot = {
    streamName: stream.target.name,
    read: () => lookUp(() => readSnapshot(stream, principal, database)),
  };
  return streams.open({
    request,
    principal,
    channels,
    ...(hasSnapshot ? { snapshot } : {}),
    platform,
  });
}
