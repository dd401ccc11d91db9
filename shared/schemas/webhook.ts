import * as v from "valibot";
import { deliveryStatuses, webhookEvents } from "../webhook_names.ts";
import { fieldMessage, isStorable, time, uuid, type Output } from "./primitives.ts";

export { deliveryStatuses, webhookEvents };

const eventMessage = `expected one of ${webhookEvents.join(", ")}`;
const eventsMessage = `expected a list of one or more of ${webhookEvents.join(", ")}, each once`;
const eventSchema = v.picklist(webhookEvents, eventMessage);
const formatSchema = v.pipe(
  v.picklist(["json", "slack"], "expected json or slack"),
  v.description("`slack`: a message for an incoming webhook of Slack instead of the event's JSON"),
);

const urlMessage = "expected an https:// URL of at most 2048 characters";
/** Where it may lead is checked by the gateway (`address.ts`). */
const urlSchema = v.pipe(
  v.string(urlMessage),
  v.maxLength(2048, urlMessage),
  v.check((value) => isStorable(value) && URL.canParse(value), urlMessage),
  v.metadata({ format: "uri" }),
);
const eventsSchema = v.pipe(
  v.array(eventSchema, eventsMessage),
  v.minLength(1, eventsMessage),
  v.check((events) => new Set(events).size === events.length, eventsMessage),
  v.metadata({ uniqueItems: true }),
);

export const newWebhookSchema = v.strictObject(
  { url: urlSchema, events: eventsSchema, format: v.exactOptional(formatSchema) },
  fieldMessage,
);

export const webhookUpdateSchema = v.strictObject(
  {
    url: v.exactOptional(urlSchema),
    events: v.exactOptional(eventsSchema),
    format: v.exactOptional(formatSchema),
    enabled: v.exactOptional(v.boolean("expected true or false")),
  },
  fieldMessage,
);

const webhookEntries = {
  id: uuid(),
  tenant_id: uuid(),
  url: v.string(),
  events: v.array(eventSchema),
  format: formatSchema,
  enabled: v.pipe(v.boolean(), v.description("false: nothing is queued for it, and what is queued waits")),
  disabled_reason: v.pipe(
    v.nullable(v.picklist(["gone", "key_ended"])),
    v.description(
      "Why the gateway disabled it. `gone`: the receiver answered 410. `key_ended`: the API key that made it or changed it last was revoked or has expired",
    ),
  ),
  secret_rotated_at: v.pipe(
    v.nullable(time),
    v.description("For 24 h after it the previous secret signs as well; null: never"),
  ),
  created_at: time,
  updated_at: time,
};

export const webhookSchema = v.object(webhookEntries);

/** Shown this once. */
export const webhookWithSecretSchema = v.object({
  ...webhookEntries,
  secret: v.pipe(v.string(), v.metadata({ pattern: "^whsec_[A-Za-z0-9+/]+=*$" })),
});

const nullableTime = v.nullable(time);

export const deliverySchema = v.object({
  id: v.pipe(uuid(), v.description("The header `webhook-id`, the same in every attempt")),
  webhook_id: uuid(),
  type: v.picklist([...webhookEvents, "webhook.test"]),
  status: v.pipe(v.picklist(deliveryStatuses), v.description("`dead`: given up; a replay sends it again")),
  attempts: v.pipe(v.number(), v.integer()),
  last_attempt_at: nullableTime,
  last_status: v.pipe(v.nullable(v.number()), v.description("The last answer's HTTP status; null: there was none")),
  last_error: v.nullable(v.string()),
  next_attempt_at: v.pipe(nullableTime, v.description("While it is pending")),
  delivered_at: nullableTime,
  created_at: time,
});

export type WebhookEvent = (typeof webhookEvents)[number];
export type WebhookFormat = Output<typeof formatSchema>;
export type NewWebhook = Output<typeof newWebhookSchema>;
export type WebhookUpdate = Output<typeof webhookUpdateSchema>;
export type Webhook = Output<typeof webhookSchema>;
export type WebhookWithSecret = Output<typeof webhookWithSecretSchema>;
export type DeliveryStatus = (typeof deliveryStatuses)[number];
export type Delivery = Output<typeof deliverySchema>;
