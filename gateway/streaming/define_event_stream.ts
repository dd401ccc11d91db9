import { Hono } from "hono";
import type { ParamKeys } from "hono/types";
import type { Database } from "../../drizzle/database.ts";
import type { TenantTransaction } from "../../drizzle/with_tenant.ts";
import { NotFound } from "../../shared/app_error.ts";
import { isUuid, makeChannelName } from "../../shared/channel_name.ts";
import type { Authenticator } from "../auth/authenticate.ts";
import { withPrincipal } from "../auth/membership.ts";
import type { Principal } from "../auth/principal.ts";
import { requireReadable } from "./channel_manager.ts";
import type { StreamOpener } from "./stream_opener.ts";

const defaultPath = "/:id/event-stream";

/** A feature's event stream; the platform does the rest. */
export interface EventStreamDefinition<Path extends string = typeof defaultPath> {
  /** The first segment of the feature's channels, and of no other feature's. */
  readonly prefix: string;
  /**
   * The channels of the requested resource. Runs in the tenant's transaction under row-level security, and only
   * for a principal whose membership or key is valid. Throws `NotFound` for what is not there or not visible,
   * `PermissionDenied` for what is visible but not to be followed; returns `ended(channel)` for what has ended.
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

/** For a resource that has ended: the response is `204 No Content`, and the client stops reconnecting. */
export function ended(...channels: readonly string[]): EndedChannels {
  return { ended: channels };
}

/** What the route finds in the context as `dependencies`. */
export interface EventStreamDependencies {
  readonly authenticator: Pick<Authenticator, "authenticateStream">;
  readonly database: Database;
  readonly streams: StreamOpener;
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
    // Hono answers HEAD by running GET and dropping the body: a stream that no client would ever read or close.
    if (c.req.method !== "GET") {
      await next();
      return undefined;
    }
    const response = await openEventStream(definition, c.var.dependencies, {
      request: c.req.raw,
      // Hono fills in the parameters that the path names, as the type requires.
      params: c.req.param() as ChannelsRequest<Path>["params"],
      platform: c.env,
    });
    return response ?? c.body(null, 204, { "cache-control": "no-store" });
  });
  return route;
}

interface EventStreamRequest<Path extends string> {
  readonly request: Request;
  readonly params: ChannelsRequest<Path>["params"];
  readonly platform: unknown;
}

/**
 * From a request to an open stream; null when the resource has ended. Every refusal is thrown, before any byte of a
 * stream: `not_authenticated`, `not_found`, `permission_denied`, `too_many`, `unavailable`.
 */
async function openEventStream<Path extends string>(
  definition: EventStreamDefinition<Path>,
  { authenticator, database, streams }: EventStreamDependencies,
  { request, params, platform }: EventStreamRequest<Path>,
): Promise<Response | null> {
  const principal = await authenticator.authenticateStream(request);
  const isResourceId: (value: string) => boolean = definition.isResourceId ?? isUuid;
  if (!Object.values<string>(params).every((value) => isResourceId(value))) throw new NotFound("No such resource");

  const url = new URL(request.url);
  url.searchParams.delete("access_token");
  const query = Object.fromEntries([...url.searchParams].toReversed());
  const lookup = () =>
    withPrincipal(database, principal, async (tx) => definition.getChannels({ principal, params, tx, query }));
  const found = await (streams.lookups?.share(lookupKey(principal, url), lookup) ?? lookup());

  const hasEnded = "ended" in found;
  const channels = requireReadable(principal, definition.prefix, hasEnded ? found.ended : found);
  if (hasEnded) return null;
  return streams.open({
    request,
    principal,
    channels,
    endsAfterTerminalEvent: definition.closesAfterEnd ?? false,
    platform,
  });
}

/** Everything that the result can depend on: all tokens of a principal share a lookup, a stream token has its own. */
function lookupKey({ kind, tenantId, id, onlyChannel }: Principal, { pathname, search }: URL): string {
  return JSON.stringify([kind, tenantId, id, onlyChannel, pathname, search]);
}
