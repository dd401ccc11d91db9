import type { ParamKeys } from "hono/types";
import type { TenantDatabase } from "../../drizzle/database.ts";
import * as v from "valibot";
import { makeChannelName } from "../../shared/channel_name.ts";
import { isEventType, terminalTypeOf, type EventPayload } from "../../shared/event.ts";
import { checkOptions, optionalFunction, somePath, someText } from "../check_options.ts";
import type { Principal } from "../auth/principal.ts";

export type DefaultPath = "/:id/event-stream";

/** A feature's event stream; the platform does the rest. */
export interface EventStreamDefinition<Path extends string = DefaultPath> {
  /**
   * The first segment of the feature's channels, and of no other feature's. It names the terminal event: after `scan.end` the
   * channel `scan:…` is over, and a stream closes after the end of its last channel.
   */
  readonly prefix: string;
  /**
   * The channels of the requested resource. Runs in the tenant's transaction under row-level security, and only
   * for a principal whose membership or key is valid. Throws `NotFound` for what is not there or not visible,
   * `PermissionDenied` for what is visible but not to be followed; returns `ended(channel)` for what has ended.
   */
  readonly getChannels: (request: ChannelsRequest<Path>) => ChannelsResult | Promise<ChannelsResult>;
  /**
   * The state of what is followed, for `?snapshot=1`: read once the broker has confirmed the subscription, and sent before
   * any event. Runs as `getChannels` does. Without it `snapshot` has no effect.
   */
  readonly getSnapshot?: (request: ChannelsRequest<Path>) => Promise<Snapshot>;
  /** Relative to where the route is mounted; each parameter is a UUID. Default `/:id/event-stream`. */
  readonly path?: Path;
  /**
   * The query's parameters that it reads, in `isFor` too. Others are ignored: streams that differ in nothing else are one, which a
   * stream token opens and the recheck repeats once. Default: all but `access_token` and `snapshot`.
   */
  readonly parameters?: readonly StreamParameter[];
  /** True if the query asks for this one of several streams on the same path. Default: always. */
  readonly isFor?: (query: URLSearchParams) => boolean;
  /** Words of the OpenAPI document. Default: another stream on the same path says it. */
  readonly text?: StreamText;
}

export interface StreamText {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  /** Noun that `:id` of the path names, as in `The scan's id`. */
  readonly what: string;
  /** Meanings of 204 and of 404. */
  readonly ended: string;
  readonly notFound: string;
}

/** A parameter of the query, as OpenAPI describes it; `schema` is JSON Schema. */
export interface StreamParameter {
  readonly name: string;
  readonly in: "query";
  readonly description?: string;
  readonly schema: object;
}

export interface ChannelsRequest<Path extends string = DefaultPath> {
  readonly principal: Principal;
  /** The path's parameters: `params.id` of `/:id/event-stream`. */
  readonly params: { readonly [Name in ParamKeys<Path>]: string };
  readonly db: TenantDatabase;
  /** The `parameters` of the stream that the query has; of a repeated one the first value. */
  readonly query: Readonly<Record<string, string>>;
  /** Every value of a parameter that may be repeated. */
  readonly queryAll: (name: string) => readonly string[];
}

/** At most 100 names, or `ended(…)`. */
export type ChannelsResult = readonly string[] | EndedChannels;

/** Channels on which nothing will ever be published again. */
export interface EndedChannels {
  readonly ended: readonly string[];
}

/** Marks a resource that has ended: the response is `204 No Content`, and the client stops reconnecting. */
export function ended(...channels: readonly string[]): EndedChannels {
  return { ended: channels };
}

/** Beginning of a stream: `*.snapshot` events. */
export interface Snapshot {
  readonly events: readonly SnapshotEvent[];
  /** Everything that is followed has ended since `getChannels`: the terminal event may have been published before the subscription. */
  readonly hasEnded?: boolean;
}

export interface SnapshotEvent {
  readonly type: `${string}.snapshot`;
  readonly data: EventPayload;
}

/** A mistake of a feature: for the log, never for the response. */
export class FeatureError extends Error {
  override readonly name = "FeatureError";
}

/** Maps the list that a feature's function returned. Throws `FeatureError` that names the function, and what it was expected to return. */
export function mapResult<Item, Result>(
  of: string,
  expected: string,
  list: readonly Item[],
  toResult: (item: Item) => Result,
): readonly Result[] {
  if (!Array.isArray(list)) throw unexpectedResult(of, list, expected);
  try {
    return list.map((item) => toResult(item));
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    throw new FeatureError(`${of} returned what cannot be used: ${error.message}: expected ${expected}`);
  }
}

const maxShownLength = 200;

export function unexpectedResult(of: string, result: unknown, expected: string): FeatureError {
  // A driver's result may hold a whole table.
  const shown = JSON.stringify(result)?.slice(0, maxShownLength) ?? "nothing";
  return new FeatureError(`${of} returned ${shown}: expected ${expected}`);
}

/** One of a feature's `eventStreams`. */
export interface EventStream extends EventStreamDefinition<string> {
  readonly path: string;
}

const streamEntries = {
  prefix: v.string(),
  getChannels: v.function(),
  getSnapshot: optionalFunction,
  path: v.optional(somePath),
  parameters: v.optional(v.array(v.looseObject({ name: someText }))),
  isFor: optionalFunction,
  text: v.optional(v.looseObject({})),
};

/**
 * Defines a feature's event stream. Throws `UsageError` for options that it does not have, and `TypeError` for a prefix that no channel
 * name or no terminal event can have.
 */
export function defineEventStream<const Path extends string = DefaultPath>(
  definition: EventStreamDefinition<Path>,
): EventStream {
  checkOptions("defineEventStream", streamEntries, definition);
  requirePrefix(definition.prefix);
  return { path: "/:id/event-stream", ...definition };
}

export function requirePrefix(prefix: string): void {
  makeChannelName(prefix, "00000000-0000-0000-0000-000000000000", "-");
  if (isEventType(terminalTypeOf(prefix))) return;
  throw new TypeError(`prefix ${JSON.stringify(prefix)} is not valid: its terminal event has to begin with a letter`);
}
