import { is } from "drizzle-orm";
import { PgTable } from "drizzle-orm/pg-core";
import type { Hono } from "hono";
import * as v from "valibot";
import { findDueTenant } from "../../drizzle/across_tenants.ts";
import type { Database } from "../../drizzle/database.ts";
import type { Due, FeatureTables } from "../../drizzle/feature_tables.ts";
import { pause } from "../../shared/abortable.ts";
import type { Publisher } from "../../shared/send_event.ts";
import { UsageError } from "../../shared/usage_error.ts";
import { withTimeout } from "../../shared/with_timeout.ts";
import { checkOptions, optionalFunction, somePath, someText } from "../check_options.ts";
import type { Allowed } from "../http/allow.ts";
import type { Log } from "../observability/log.ts";
import { requirePrefix, type EventStream } from "../streaming/event_stream_definition.ts";
import type { OnPublish } from "../streaming/published.ts";

/** A feature of the gateway: its tables, routes and event streams. scanstream's own features have this shape and no other. */
export interface Feature extends FeatureTables {
  /** The first segment of its channels, and of no other feature's. */
  readonly prefix: string;
  /** Subjects of its operations, for the OpenAPI document. */
  readonly tags?: readonly { readonly name: string; readonly description: string }[];
  /** No producer publishes on its channels, no matter what its key may. */
  readonly isPublishedByGatewayAlone?: true;
  /** The gateway alone publishes its terminal event, for example `scan.end`. */
  readonly isEndedByGatewayAlone?: true;
  /** Given: what is published on its channels is stored. A producer numbers its events, and each is stored once. */
  readonly onPublish?: OnPublish;
  /** Below `/api/v1`; the first handler of each is `allow("…")`, or `anyone` for a public route. */
  readonly routes?: (dependencies: FeatureDependencies) => Hono<Allowed>;
  /** Streams by the path below `/api/v1` that each is mounted at. */
  readonly eventStreams: Readonly<Record<string, EventStream>>;
  readonly tasks?: readonly Task[];
}

/** Dependencies of the routes and tasks of features. */
export interface FeatureDependencies extends Publisher {
  readonly database: Database;
  readonly log: Log;
}

/**
 * Work that comes with time for tenants that do not ask for it, such as deleting what is old. Every process looks for it at its own
 * times; on Workers each cron trigger does.
 */
export interface Task {
  /** Names an index of a table of the feature: `index("jobs_due").on(table.expiresAt).where(…)`. */
  readonly due: Due;
  /** How long a row has to be due. Default 0. */
  readonly afterSeconds?: number;
  readonly firstAfterMs: number;
  /** From the end of one run to the start of the next. */
  readonly everyMs: number;
  /** Does a bounded part of the work for the tenant that waits longest. False: this process has nothing left to do. */
  readonly run: (tenantId: string, dependencies: FeatureDependencies) => Promise<boolean>;
}

export interface FeatureDefinition<Events> extends Omit<Feature, "eventStreams" | "routes"> {
  readonly eventStreams?: Feature["eventStreams"];
  /** Makes the feature's publish functions; its routes get them as `events`. */
  readonly events?: (publisher: Publisher) => Events;
  readonly routes?: (dependencies: FeatureDependencies & { readonly events: Events }) => Hono<Allowed>;
}

const optionalList = v.optional(v.array(v.unknown()));
const featureEntries = {
  prefix: someText,
  tables: v.optional(v.array(v.custom<PgTable>((given) => is(given, PgTable), "expected a pgTable"))),
  migrations: optionalFunction,
  tags: optionalList,
  isPublishedByGatewayAlone: v.optional(v.literal(true)),
  isEndedByGatewayAlone: v.optional(v.literal(true)),
  onPublish: optionalFunction,
  events: optionalFunction,
  routes: optionalFunction,
  eventStreams: v.optional(v.record(somePath, v.looseObject({ prefix: v.string(), path: v.string() }))),
  tasks: v.optional(
    v.array(
      v.strictObject({
        due: v.pipe(v.string(), v.endsWith("_due", "expected the name of an index that ends in _due")),
        afterSeconds: v.optional(v.number()),
        firstAfterMs: v.number(),
        everyMs: v.number(),
        run: v.function(),
      }),
    ),
  ),
};

/**
 * Defines a feature. Throws `UsageError` for options that it does not have, and `TypeError` for a prefix that no channel name or no
 * terminal event can have, and for an event stream of another prefix.
 */
export function defineFeature<Events = undefined>(definition: FeatureDefinition<Events>): Feature {
  checkOptions("defineFeature", featureEntries, definition);
  if (definition.migrations !== undefined && definition.tables === undefined) {
    const problem = "tables: required with migrations: list every pgTable that they create, for the gateway to use it";
    throw new UsageError([problem], { heading: "Cannot call defineFeature" });
  }
  requirePrefix(definition.prefix);
  const { events, routes, eventStreams = {}, ...feature } = definition;
  for (const [mount, stream] of Object.entries(eventStreams)) {
    if (stream.prefix === feature.prefix) continue;
    throw new TypeError(
      `Cannot define the feature "${feature.prefix}": the event stream at "${mount}" has the prefix "${stream.prefix}"`,
    );
  }
  if (routes === undefined) return { ...feature, eventStreams };
  return {
    ...feature,
    eventStreams,
    // A feature without publish functions has no use for them.
    routes(dependencies) {
      const mounted: unknown = routes({ ...dependencies, events: events?.(dependencies) as Events });
      if (mounted instanceof Object && "routes" in mounted) return mounted as Hono<Allowed>;
      throw new TypeError(`Cannot mount the feature "${feature.prefix}": its routes did not return a Hono`);
    },
  };
}

/** A follower of one feature would otherwise read the events of another. */
export function requireOwnPrefixes(features: readonly Pick<Feature, "prefix">[]): void {
  const prefixes = features.map(({ prefix }) => prefix);
  const shared = prefixes.find((prefix, index) => prefixes.indexOf(prefix) !== index);
  if (shared === undefined) return;
  throw new TypeError(`Cannot mount the features: two of them have the channel prefix ${JSON.stringify(shared)}`);
}

/** Event streams by where they are mounted, below `/api/v1`; the first that a request fits is the one. */
export type EventStreams = readonly (readonly [mount: string, EventStream])[];

export function eventStreamsOf(mounted: readonly Feature[]): EventStreams {
  return mounted.flatMap(({ eventStreams }) => Object.entries(eventStreams));
}

type Working = Pick<Feature, "tasks">;

/** The most steps of one run; the next run continues. All tasks together stay below the subrequests of one Worker invocation. */
const maxSteps = 50;

/** Does what is due, until it is stopped. Never rejects. */
async function runTask(
  { due, afterSeconds = 0, run }: Task,
  dependencies: FeatureDependencies,
  stopping?: AbortSignal,
): Promise<void> {
  try {
    for (let step = 0; step < maxSteps; step += 1) {
      if (stopping?.aborted === true) return;
      const tenantId = await findDueTenant(dependencies.database, due, afterSeconds);
      if (tenantId === null || !(await run(tenantId, dependencies))) return;
    }
  } catch (error) {
    dependencies.log.warn({ error, due }, "what is due could not be done");
  }
}

/** Does each task once. */
export async function runTasks(features: readonly Working[], dependencies: FeatureDependencies): Promise<void> {
  await Promise.all(tasksOf(features).map((task) => runTask(task, dependencies)));
}

/** As long as a transaction may take. */
const lastStepMs = 5000;

/** Does each task again and again, never two runs of it at once; returns how to stop, after the step in which each is. */
export function repeatTasks(features: readonly Working[], dependencies: FeatureDependencies): () => Promise<unknown> {
  const stopping = new AbortController();
  const repeated = Promise.all(tasksOf(features).map(repeat));
  return () => {
    stopping.abort();
    return withTimeout(repeated, lastStepMs).catch(() => undefined);
  };

  async function repeat(task: Task): Promise<void> {
    await pause(task.firstAfterMs, [stopping.signal]);
    while (!stopping.signal.aborted) {
      await runTask(task, dependencies, stopping.signal);
      await pause(task.everyMs, [stopping.signal]);
    }
  }
}

function tasksOf(features: readonly Working[]): readonly Task[] {
  return features.flatMap(({ tasks = [] }) => tasks);
}
