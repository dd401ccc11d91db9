import type { Hono } from "hono";
import type { Tag } from "../description/operation.ts";
import type { Allowed } from "../http/allow.ts";
import type { FeatureDependencies } from "../http/dependencies.ts";
import type { EventStreamRoute, EventStreams } from "../streaming/event_stream.ts";
import { decisions } from "./decisions/routes.ts";
import { monitors } from "./monitors/routes.ts";
import { organizations } from "./organizations/routes.ts";
import { scans } from "./scans/routes.ts";
import { team } from "./team/routes.ts";
import { tenant } from "./tenant/routes.ts";

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
  /** Below `/api/v1`. */
  readonly routes?: (dependencies: FeatureDependencies) => Hono<Allowed>;
  /** By where each is mounted below `/api/v1`. */
  readonly eventStreams: Readonly<Record<string, EventStreamRoute>>;
}

export const features: readonly Feature[] = [scans, monitors, organizations, decisions, team, tenant];

/** In the order in which they are asked for: the first that a request fits is the one. */
export function eventStreamsOf(mounted: readonly Feature[]): EventStreams {
  return mounted.flatMap(({ eventStreams }) => Object.entries(eventStreams));
}
