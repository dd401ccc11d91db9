import { Hono, type MiddlewareHandler } from "hono";
import { makeChannelName } from "../../shared/channel_name.ts";
import type { Principal } from "../auth/principal.ts";
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
import { isSnapshotRequested, toStreamTarget } from "./requested_stream.ts";
import type { StreamOpener } from "./stream_opener.ts";

export { ended, type ChannelsRequest, type ChannelsResult, type Snapshot } from "./event_stream_definition.ts";

const defaultPath: DefaultPath = "/:id/event-stream";

/** What the route finds in the context as `dependencies`. */
export interface EventStreamDependencies {
  readonly authenticator: Pick<Authenticator, "authenticateStream">;
  readonly streams: StreamOpener;
  readonly holderOf: (request: Request, env: unknown) => string;
}

interface EventStreamEnvironment {
  Variables: { readonly dependencies: EventStreamDependencies; readonly principal: Principal };
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
    const { authenticator, streams, holderOf } = c.var.dependencies;
    const holder = holderOf(c.req.raw, c.env);
    streams.openings?.take(holder);
    try {
      // Every refusal comes before any byte of a stream.
      const principal = await authenticator.authenticateStream(c.req.raw);
      c.set("principal", principal);
      const hasSnapshot = isSnapshotRequested(new URL(c.req.url));
      return await streams.open({ stream, principal, hasSnapshot, request: c.req.raw, platform: c.env });
    } finally {
      streams.openings?.give(holder);
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
