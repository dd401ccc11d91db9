import { readJson as readBoundedJson } from "../http/body.ts";

/** Exports of `scanstream/gateway` on every runtime. */

export { NotFound, PermissionDenied, AppError } from "../../shared/app_error.ts";
export { makeChannelName, parseChannelName, type ChannelName } from "../../shared/channel_name.ts";
export type { EventPayload, EventType, PayloadValue } from "../../shared/event.ts";
export { createPublisher, type Publisher, type SendEvent } from "../../shared/send_event.ts";
export { tenantPolicies as tenantPolicy } from "../../drizzle/policies.ts";
export { noTenant, read, readOne, write, type Caller, type TenantDatabase } from "../../drizzle/transactions.ts";
export type { Principal } from "../auth/principal.ts";
export {
  defineFeature,
  type Feature,
  type FeatureDefinition,
  type FeatureDependencies,
  type Task,
} from "../features/features.ts";
export type {
  BrokerAdapter,
  DatabaseAdapter,
  Gateway,
  GatewayOptions,
  WorkerBrokerAdapter,
  WorkerDatabaseAdapter,
} from "../gateway_options.ts";
export type { IssuerOptions } from "../config.ts";
/**
 * Reads a JSON body, and counts it for its tenant. Rejects with `AppError`: 413 over `maxBytes`, 400 for what is not JSON, 415 for another
 * content type. `c.req.json()` has no bound, and answers broken JSON with 500.
 */
export const readJson: (request: Request, options: { readonly maxBytes: number }) => Promise<unknown> = readBoundedJson;
export { allow, anyone, type Allow, type Allowed } from "../http/allow.ts";
export type { Log } from "../observability/log.ts";
export {
  defineEventStream,
  ended,
  type ChannelsRequest,
  type ChannelsResult,
  type EventStream,
  type EventStreamDefinition,
  type Snapshot,
} from "../streaming/event_stream_definition.ts";
export type { ChannelEvent, OnPublish, PublishedEvent } from "../streaming/published.ts";
