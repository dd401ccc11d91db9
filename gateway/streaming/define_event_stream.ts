import { Hono } from "hono";
import type { ParamKeys } from "hono/types";
import type { Database } from "../../drizzle/database.ts";
import type { TenantTransaction } from "../../drizzle/with_tenant.ts";
import { makeChannelName } from "../../shared/channel_name.ts";
import type { Authenticator } from "../auth/authenticate.ts";
import { openEventStream } from "./event_stream_route.ts";
import type { Principal } from "../auth/principal.ts";
import type { Streams } from "./streams.ts";

const defaultPath = "/:id/event-stream";

/** What a feature says about its event stream; the platform does the rest. */
export interface EventStreamDefinition<Path extends string = typeof defaultPath> {
  /** The first segment of the feature's channels, and of no other feature's. */
  readonly prefix: string;
  /**
   * The channels of the resource that is asked for. Runs in the tenant's transaction under row-level security, and only
   * for a principal whose membership or key holds. Throws `NotFound` for what is not there or not visible,
   * `PermissionDenied` for what is visible but not to be followed; returns `ended(channel)` for what is over.
   */
  readonly getChannels: (request: ChannelsRequest<Path>) => ChannelsResult | Promise<ChannelsResult>;
  /** The stream closes after its terminal event (`*.end`); a stream of several channels after the last one's. Default false. */
  readonly closesAfterEnd?: boolean;
  /** Relative to where the route is mounted. Default `/:id/event-stream`. */
  readonly path?: Path;
  /** Whether a path parameter can name a resource; anything else is `NotFound` and never reaches the database. Default: a UUID. */
  readonly isResourceId?: (value: string) => boolean;
}

export interface ChannelsRequest<Path extends string = typeof defaultPath> {
  readonly principal: Principal;
  /** The path's parameters: `params.id` of `/:id/event-stream`. */
  readonly params: { readonly [Name in ParamKeys<Path>]: string };
  readonly tx: TenantTransaction;
  /** The query's parameters, without `access_token`; of a repeated one the first. */
  readonly query: Readonly<Record<string, string>>;
}

export type ChannelsResult = readonly string[] | EndedChannels;

/** Channels on which nothing will ever be published again. */
export interface EndedChannels {
  readonly ended: readonly string[];
}

/** For a resource that is over: the client is told by `204 No Content`, and stops reconnecting. */
export function ended(...channels: readonly string[]): EndedChannels {
  return { ended: channels };
}

/** What the route finds in the context as `dependencies`. */
export interface EventStreamDependencies {
  readonly authenticator: Pick<Authenticator, "authenticateStream">;
  readonly database: Database;
  readonly streams: Streams;
}

/** A route that answers `GET` with server-sent events, to be mounted with `app.route("/api/v1/<resources>", …)`. */
export type EventStreamRoute = Hono<{ Variables: { readonly dependencies: EventStreamDependencies } }>;

/** Makes the route of a feature's event stream. Throws `TypeError` for a prefix that no channel name can have. */
export function defineEventStream<const Path extends string = typeof defaultPath>(
  definition: EventStreamDefinition<Path>,
): EventStreamRoute {
  makeChannelName(definition.prefix, "00000000-0000-0000-0000-000000000000", "-");
  const route: EventStreamRoute = new Hono();
  const path: string = definition.path ?? defaultPath;
  route.get(path, async (c, next) => {
    // Hono answers HEAD by running GET and dropping the body: a stream that nobody would ever read or close.
    if (c.req.method !== "GET") {
      await next();
      return undefined;
    }
    const answer = await openEventStream(definition, c.var.dependencies, {
      request: c.req.raw,
      // Hono fills in what the path names, which is what the type says.
      params: c.req.param() as ChannelsRequest<Path>["params"],
      platform: c.env,
    });
    return answer ?? c.body(null, 204, { "cache-control": "no-store" });
  });
  return route;
}
