import { withTimeout } from "../../shared/with_timeout.ts";
import { isJsonObject } from "../../shared/json.ts";
import { Hono } from "hono";
import * as v from "valibot";
import { AppError, PermissionDenied } from "../../shared/app_error.ts";
import {
  canReadChannel,
  channelNamePattern,
  channelNameProblem,
  parseChannelName,
  type ChannelName,
} from "../../shared/channel_name.ts";
import {
  encodeChannelEvent,
  requireDeliveryId,
  terminalTypeOf,
  toMessage,
  type EncodedEvent,
} from "../../shared/event.ts";
import { batchSizeMessage, maxBatchEvents, newEventSchema, publishedSchema } from "../../shared/schemas/event.ts";
import { component, json } from "../description/operation.ts";
import type { Allowed } from "./allow.ts";
import { readJson } from "./body.ts";
import type { Dependencies } from "./dependencies.ts";
import { InvalidBody } from "./problem.ts";
import type { QueryParameters } from "./query_parameter.ts";
import { defineResource, type RouteOptions } from "./resource.ts";

/** Limit of one event or a batch. */
const maxBodyBytes = 1_048_576;

/** With this, and the time that the database may take for the key, the answer comes within the 20 s that were promised. */
const publishTimeoutMs = 10_000;

const NewEvent = component("NewEvent", newEventSchema);
const NewEvents = component(
  "NewEvents",
  v.pipe(
    v.object({
      events: v.pipe(
        v.array(NewEvent),
        v.minLength(1, batchSizeMessage),
        v.maxLength(maxBatchEvents, batchSizeMessage),
      ),
    }),
    v.description("The gateway publishes all events in order, or none"),
  ),
);

const exampleScanId = "7c9e6679-7425-40de-944b-e07fc1f90ae7";

const publishing: RouteOptions<v.GenericSchema, QueryParameters> = {
  allow: "publish",
  operationId: "publishEvents",
  summary: "Publish an event, or a batch of them",
  description:
    "To a channel of the key's own tenant. 202 means that the broker has accepted all of them. A batch is at most 500 " +
    "events, and a body at most 1 MiB.",
  body: {
    schema: v.union([NewEvent, NewEvents]),
    example: {
      events: [
        { type: "scan.start", data: { scan_id: exampleScanId, checks_total: 29 }, delivery_id: "ci-4711.1" },
        {
          type: "scan.error",
          data: { scan_id: exampleScanId, code: "rate_limit", detail: "" },
          delivery_id: "ci-4711.2",
        },
      ],
    },
    // A channel of another tenant is refused before the body is read.
    isReadByHandler: true,
  },
  answers: {
    202: json(component("PublishedEvents", publishedSchema), "Handed over", {
      example: { channel: `scan:0b0e7a52-6f0c-4f65-9a52-0d3c1c0a9b11:${exampleScanId}`, count: 2 },
    }),
  },
};

/** The events of a feature that the gateway alone publishes. */
interface Reserved {
  readonly prefix: string;
  readonly isPublishedByGatewayAlone?: true;
  readonly isEndedByGatewayAlone?: true;
}

/** Publishing over HTTP, for producers that have a key and no broker. */
export function publishRoute(dependencies: Dependencies, features: readonly Reserved[]): Hono<Allowed> {
  const closedPrefixes = new Set(
    features.filter((feature) => feature.isPublishedByGatewayAlone).map(({ prefix }) => prefix),
  );
  const closedTypes = new Set<unknown>(
    features.filter((feature) => feature.isEndedByGatewayAlone).map(({ prefix }) => terminalTypeOf(prefix)),
  );
  const { broker, metrics } = dependencies;
  const routes = new Hono<Allowed>();
  const resource = defineResource(routes, dependencies, {
    tag: "publishing",
    what: null,
    id: {
      name: "channel",
      description: "<prefix>:<tenant_id>:<resource_id>",
      schema: v.pipe(v.string(), v.metadata({ pattern: channelNamePattern })),
    },
  });

  resource.on("POST /channels/:channel/events", publishing, async ({ c, principal, id: channel }) => {
    const name = parseChannelName(channel);
    if (name === null) throw new PermissionDenied(`Not the name of a channel: ${channelNameProblem(channel)}`);
    if (!canReadChannel(principal, channel)) {
      throw new PermissionDenied("The channel does not belong to this key's tenant");
    }
    if (closedPrefixes.has(name.prefix)) {
      throw new PermissionDenied(`Only the gateway publishes on channels that begin with ${name.prefix}:`);
    }
    const body = parseEventBody(await readJson(c.req.raw, { maxBytes: maxBodyBytes, maxValues: 50_000 }));
    // All are checked before the first is published: a batch is taken as a whole or not at all.
    const closed = body.events.find(({ type }) => closedTypes.has(type));
    if (closed !== undefined) throw new PermissionDenied(`Only the gateway publishes ${String(closed.type)}`);
    const messages = body.events.map((event) => toMessage(encodeBodyEvent(name, event)));
    await handOver(() => publishAll(channel, messages), messages.length);
    return c.json(body.isBatch ? { channel, count: messages.length } : { channel, type: body.events[0]?.type }, 202);
  });

  /** Begun in order; every adapter keeps the order of one publisher. */
  async function publishAll(channel: string, messages: readonly string[]): Promise<void> {
    await Promise.all(messages.map((message) => broker.publish(channel, message)));
  }

  async function handOver(publish: () => Promise<void>, count: number): Promise<void> {
    try {
      await withTimeout(publish(), publishTimeoutMs, notTaken);
      metrics.eventsPublished("taken", count);
    } catch (error) {
      metrics.eventsPublished("unavailable", count);
      throw error;
    }
  }

  return routes;
}

interface BodyEvent {
  readonly type: unknown;
  readonly data: unknown;
  readonly deliveryId: unknown;
}

/** One event, or `{"events": […]}`. */
function parseEventBody(body: unknown): { readonly isBatch: boolean; readonly events: readonly BodyEvent[] } {
  if (!isJsonObject(body)) {
    throw new InvalidBody([{ pointer: "", detail: "expected a JSON object with type and data, or with events" }]);
  }
  const { events } = body;
  if (events === undefined) return { isBatch: false, events: [toBodyEvent(body)] };
  const other = ["type", "data", "delivery_id"].find((name) => name in body);
  if (other !== undefined) {
    throw new InvalidBody([{ pointer: `/${other}`, detail: "expected an event, or events, and not both" }]);
  }
  if (!Array.isArray(events) || events.length === 0 || events.length > maxBatchEvents) {
    throw new InvalidBody([{ pointer: "/events", detail: batchSizeMessage }]);
  }
  const wrong = events.findIndex((event) => !isJsonObject(event));
  if (wrong === -1) return { isBatch: true, events: events.filter(isJsonObject).map(toBodyEvent) };
  throw new InvalidBody([{ pointer: `/events/${wrong}`, detail: "expected a JSON object with type and data" }]);
}

function toBodyEvent(body: Readonly<Record<string, unknown>>): BodyEvent {
  return { type: body["type"], data: body["data"], deliveryId: body["delivery_id"] };
}

function encodeBodyEvent(channel: ChannelName, { type, data, deliveryId }: BodyEvent): EncodedEvent {
  const event = encodeChannelEvent(channel, type, data);
  return deliveryId === undefined ? event : { ...event, deliveryId: requireDeliveryId(deliveryId) };
}

/** The broker may still take the event after this: at most once is promised for a 503, not never. */
function notTaken(): AppError {
  return new AppError("unavailable", "The broker did not accept the event in time", { retryAfterSeconds: 2 });
}
