import type { Hono } from "hono";
import * as v from "valibot";
import { AppError, PermissionDenied } from "../../shared/app_error.ts";
import { unavailable } from "../../shared/brokers/unavailable.ts";
import {
  canReadChannel,
  channelNamePattern,
  channelNameProblem,
  lowerCaseUuids,
  parseChannelName,
  type ChannelName,
} from "../../shared/channel_name.ts";
import {
  deliveryIdPattern,
  encodeChannelEvent,
  EventError,
  eventTypePattern,
  joinMessages,
  maxBatchEvents,
  maxEventTypeLength,
  requireDeliveryId,
  terminalTypeOf,
  toMessage,
  type Message,
} from "../../shared/event.ts";
import { isJsonObject } from "../../shared/json.ts";
import { count, described } from "../../shared/schemas/primitives.ts";
import { withTimeout } from "../../shared/with_timeout.ts";
import { component, json, problem } from "../description/operation.ts";
import type { Feature } from "../features/features.ts";
import { gatewayProducer, markLost, storeBatch, type Batch, type PublishedEvent } from "../streaming/published.ts";
import type { Allowed } from "./allow.ts";
import { readJson } from "./body.ts";
import type { Dependencies } from "./dependencies.ts";
import { invalidField } from "./problem.ts";
import { defineResource } from "./resource.ts";

/** Limit of one event or a batch. */
const maxBodyBytes = 1_048_576;

/** With this, and the time that the database may take for the key, the answer comes within the 20 s that were promised. */
const publishTimeoutMs = 10_000;
/** Events that are stored are answered soon, also when the broker does not answer. */
const liveTimeoutMs = 2000;

const scalar = v.union([v.string(), v.number(), v.boolean(), v.null()]);

/** An event as the OpenAPI document describes it. `encodeChannelEvent` checks it, and the size of the data with it. */
const NewEvent = component(
  "NewEvent",
  v.pipe(
    v.object({
      type: v.pipe(
        v.string(),
        v.maxLength(maxEventTypeLength),
        v.regex(eventTypePattern),
        v.description("`<resource>.<verb>`"),
      ),
      data: described(
        v.record(v.string(), v.union([scalar, v.array(scalar)])),
        "Flat; at most 64 KiB as JSON in UTF-8",
      ),
      delivery_id: described(
        v.exactOptional(v.pipe(v.string(), v.regex(deliveryIdPattern))),
        "`<producer>.<n>`, with n rising: an event that is sent again under its id is passed on once. Required where events are " +
          "stored; there n begins at 1 and rises by 1",
      ),
    }),
    v.metadata({
      description: "An event whose type ends in `.end` carries the UUID of its resource as `<resource>_id`.",
      not: { required: ["events"] },
    }),
  ),
);

const batchSizeMessage = `expected an array of 1 to ${maxBatchEvents} events`;
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

const PublishedEvents = component(
  "PublishedEvents",
  v.object({
    stored: described(
      count,
      "How many of the events were stored now; 0 where they had been, and on channels of which nothing is stored",
    ),
    live: described(
      v.boolean(),
      "False: not all were sent to the open streams, which are closed within 30 s, so that their clients read what is stored",
    ),
  }),
);

const exampleScanId = "7c9e6679-7425-40de-944b-e07fc1f90ae7";

/** The part of a feature that decides what may be published on its channels. */
type Published = Pick<Feature, "prefix" | "isPublishedByGatewayAlone" | "isEndedByGatewayAlone" | "onPublish">;

/** Publishing over HTTP, for producers that have a key and no broker. */
export function publishRoute(dependencies: Dependencies, features: readonly Published[]): Hono<Allowed> {
  const byPrefix = new Map(features.map((feature) => [feature.prefix, feature]));
  const closedTypes = new Set<unknown>(
    features.filter((feature) => feature.isEndedByGatewayAlone).map(({ prefix }) => terminalTypeOf(prefix)),
  );
  const { broker, metrics } = dependencies;
  const resource = defineResource({
    tag: "publishing",
    what: null,
    id: {
      name: "channel",
      description: "<prefix>:<tenant_id>:<resource_id>",
      schema: v.pipe(v.string(), v.metadata({ pattern: channelNamePattern })),
    },
  });

  resource.on("POST /channels/:channel/events", "publishEvents", {
    allow: "publish",
    summary: "Publish an event, or a batch of them",
    description:
      "To a channel of the key's own tenant. A batch is at most 500 events, and a body at most 1 MiB. On the channels of scans and " +
      "monitors the gateway stores a batch, all of it or nothing, and then sends it to the streams. There each event has a " +
      "`delivery_id`, `<producer>.<n>`: n begins at 1 and rises by 1, and a producer waits for the answer to a batch before it sends " +
      "the next. A batch that is sent again is stored once. On other channels nothing is stored, and 202 means that the broker has " +
      "accepted all events.",
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
      202: json(PublishedEvents, "Stored, or handed over"),
      404: problem("Only where events are stored: no such resource in this tenant"),
      409: problem("Only where events are stored: the resource has ended, or events before these are missing"),
    },
    handle: async ({ c, principal, id, write }) => {
      const channel = lowerCaseUuids(id);
      const name = parseChannelName(channel);
      if (name === null) throw new PermissionDenied(`Not the name of a channel: ${channelNameProblem(channel)}`);
      if (!canReadChannel(principal, channel)) {
        throw new PermissionDenied("The channel does not belong to this key's tenant");
      }
      const { onPublish, isPublishedByGatewayAlone } = byPrefix.get(name.prefix) ?? {};
      if (isPublishedByGatewayAlone) {
        throw new PermissionDenied(`Only the gateway publishes on channels that begin with ${name.prefix}:`);
      }
      const bodies = eventsOf(await readJson(c.req.raw, { maxBytes: maxBodyBytes }));
      const closed = bodies.find(({ type }) => closedTypes.has(type));
      if (closed !== undefined) throw new PermissionDenied(`Only the gateway publishes ${String(closed.type)}`);
      // All are checked before the first is stored or published: a batch is taken as a whole or not at all.
      const messages = bodies.map((body) => ({ channel, message: toMessageOf(name, body) }));
      if (onPublish === undefined) {
        await handOver(messages, publishTimeoutMs);
        return { stored: 0, live: true };
      }
      // Every event with a message was checked.
      const events = bodies.map(
        ({ type, data, pointer }) => ({ type, payload: data, pointer: `${pointer}/data` }) as PublishedEvent,
      );
      const batch = { channel, name, ...requireNumbers(bodies), events };
      const { stored, more } = await write((tx) => storeBatch(tx, onPublish, batch));
      messages.push(...more);
      try {
        await handOver(messages, liveTimeoutMs);
        return { stored, live: true };
      } catch {
        const channels = [...new Set(messages.map((message) => message.channel))];
        // Without it the recheck still finds what nothing followed.
        await write((tx) => markLost(tx, channels)).catch((error: unknown) =>
          dependencies.log.warn({ error, channel }, "streams that missed an event could not be marked"),
        );
        return { stored, live: false };
      }
    },
  });

  /** Begun in order; every adapter keeps the order of one publisher. A broker may still take an event after it was late. */
  async function handOver(messages: readonly Message[], timeoutMs: number): Promise<void> {
    const isLate = () => unavailable("The broker did not accept the event in time");
    const accepted = joinMessages(messages).map(({ channel, message }) => broker.publish(channel, message));
    const outcome = await withTimeout(Promise.all(accepted), timeoutMs, isLate).catch((error: unknown) => ({ error }));
    metrics.count("events_published", "error" in outcome ? "unavailable" : "taken", messages.length);
    if ("error" in outcome) throw outcome.error;
  }

  return resource.routes;
}

/** Not checked yet. */
interface BodyEvent {
  /** Place in the body: empty for one event alone. */
  readonly pointer: string;
  readonly type?: unknown;
  readonly data?: unknown;
  readonly delivery_id?: unknown;
}

/** One event, or `{"events": […]}`. */
function eventsOf(body: unknown): readonly BodyEvent[] {
  if (!isJsonObject(body)) throw invalidField("", "expected a JSON object with type and data, or with events");
  const { events } = body;
  if (events === undefined) return [{ ...body, pointer: "" }];
  const other = ["type", "data", "delivery_id"].find((name) => name in body);
  if (other !== undefined) throw invalidField(`/${other}`, "expected an event, or events, and not both");
  if (!Array.isArray(events) || events.length === 0 || events.length > maxBatchEvents) {
    throw invalidField("/events", batchSizeMessage);
  }
  return events.map((event: unknown, index) => {
    const pointer = `/events/${index}`;
    if (isJsonObject(event)) return { ...event, pointer };
    throw invalidField(pointer, "expected a JSON object with type and data");
  });
}

/** Throws `AppError` that names the event of a batch. An `EventError` of the feature itself is not the producer's mistake. */
function toMessageOf(name: ChannelName, { type, data, delivery_id: deliveryId, pointer }: BodyEvent): string {
  try {
    const event = encodeChannelEvent(name, type, data);
    if (deliveryId === undefined) return toMessage(event);
    const id = requireDeliveryId(deliveryId);
    if (!id.startsWith(`${gatewayProducer}.`)) return toMessage({ ...event, deliveryId: id });
  } catch (error) {
    if (!(error instanceof EventError)) throw error;
    throw new AppError(error.code, pointer === "" ? error.message : `${pointer}: ${error.message}`);
  }
  throw invalidField(`${pointer}/delivery_id`, `expected another producer than ${gatewayProducer}`);
}

/** Throws `InvalidBody` unless the events, whose ids are checked, are numbered one after the other by one producer. */
function requireNumbers(events: readonly BodyEvent[]): Pick<Batch, "producer" | "first"> {
  const ids = events.map(({ delivery_id: id }) => String(id));
  const [, producer = "", digits = ""] = /^(.+)\.(\d+)$/.exec(ids[0] ?? "") ?? [];
  const first = Number(digits);
  const wrong = ids.findIndex((id, index) => id !== `${producer}.${first + index}`);
  if (wrong === -1 && first > 0) return { producer, first };
  const expected = wrong > 0 ? `${producer}.${first + wrong}` : "<producer>.<n> with n from 1 on";
  throw invalidField(
    `${events[Math.max(wrong, 0)]?.pointer}/delivery_id`,
    `expected ${expected}: events of this channel are stored, each once by its delivery_id`,
  );
}
