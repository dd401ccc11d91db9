/** Exports of `scanstream/events`, for producers and clients that speak to a gateway in TypeScript. */

export {
  createGatewayPublisher,
  type GatewayBrokerOptions,
  type GatewayPublisher,
} from "./brokers/gateway_publisher.ts";
export { makeChannelName, parseChannelName, tenantIdFromChannel, type ChannelName } from "./channel_name.ts";
export {
  EventError,
  isEventType,
  isTerminalEventType,
  maxPayloadBytes,
  type EventPayload,
  type EventType,
  type PayloadValue,
  type Verb,
  verbs,
} from "./event.ts";
export { scanChannel, scanEvents, scanPrefix } from "./scan_events.ts";
export type * from "./schemas/monitor.ts";
export type * from "./schemas/scan.ts";
export type * from "./schemas/tenant_events.ts";
export type { Publisher, SendEvent } from "./send_event.ts";
