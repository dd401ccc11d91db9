import type { Hono } from "hono";
import type { Tag } from "../description/operation.ts";
import type { Allowed } from "../http/allow.ts";
import type { FeatureDependencies } from "../http/dependencies.ts";
import type { EventStreamRoute, EventStreams } from "../streaming/event_stream.ts";
import type { OnPublish } from "../streaming/published.ts";

/** The routes that the gateway mounts of a feature, and the OpenAPI document's words about them. */
export interface Feature {
  /** The first segment of its channels, and of no other feature's. */
  readonly prefix: string;
  /** What its operations are about. */
  readonly tags?: readonly Tag[];
  /** No producer publishes on its channels, no matter what its key may. */
  readonly isPublishedByGatewayAlone?: true;
  /** The gateway alone publishes its terminal event, for example `scan.end`. */
  readonly isEndedByGatewayAlone?: true;
  /** Given: what is published on its channels is stored. A producer numbers its events, and each is stored once. */
  readonly onPublish?: OnPublish;
  /** Below `/api/v1`. */
  readonly routes?: (dependencies: FeatureDependencies) => Hono<Allowed>;
  /** By where each is mounted below `/api/v1`. */
  readonly eventStreams: Readonly<Record<string, EventStreamRoute>>;
  readonly tasks?: readonly Task[];
}

/** Work that nobody asks for, such as deleting what is old. Every process does it at its own times; on Workers each cron trigger does. */
export interface Task {
  readonly firstAfterMs: number;
  /** From the end of one run to the start of the next. */
  readonly everyMs: number;
  /** Never rejects: nothing awaits it. */
  readonly run: (dependencies: FeatureDependencies) => Promise<unknown>;
}

/** Does each task once. */
export async function runTasks(features: readonly Feature[], dependencies: FeatureDependencies): Promise<void> {
  await Promise.all(features.flatMap(({ tasks = [] }) => tasks.map((task) => task.run(dependencies))));
}

/** In the order in which they are asked for: the first that a request fits is the one. */
export function eventStreamsOf(mounted: readonly Feature[]): EventStreams {
  return mounted.flatMap(({ eventStreams }) => Object.entries(eventStreams));
}
