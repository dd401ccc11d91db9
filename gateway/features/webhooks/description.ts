import * as v from "valibot";
import { pageOf } from "../../../shared/schemas/page.ts";
import { uuid } from "../../../shared/schemas/primitives.ts";
import {
  deliverySchema,
  deliveryStatuses,
  newWebhookSchema,
  webhookSchema,
  webhookUpdateSchema,
  webhookWithSecretSchema,
} from "../../../shared/schemas/webhook.ts";
import {
  bodyRefusals,
  component,
  emptyResponse,
  json,
  jsonBody,
  listAnswer,
  pageParameters,
  pathParameter,
  problem,
  refusals,
  toInlineSchema,
  type FeatureDescription,
} from "../../http/docs/feature_description.ts";

const webhookId = "5f0c2a9e-7f3c-4d0b-9a41-2c8f6b1d0e73";
const createdAt = "2026-11-22T09:30:00.000Z";

const newWebhookExample = { url: "https://hooks.example/scanstream", events: ["scan.end", "finding.created"] };
const webhookExample = {
  ...newWebhookExample,
  id: webhookId,
  tenant_id: "0b0e7a52-6f0c-4f65-9a52-0d3c1c0a9b11",
  format: "json",
  enabled: true,
  disabled_reason: null,
  secret_rotated_at: null,
  created_at: createdAt,
  updated_at: createdAt,
};
const withSecretExample = { ...webhookExample, secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=" };
const deliveryExample = {
  id: "9d6f1a52-4f5b-4c0b-8a0c-1d2e3f405162",
  webhook_id: webhookId,
  type: "scan.end",
  status: "pending",
  attempts: 2,
  last_attempt_at: "2026-11-22T09:30:05.412Z",
  last_status: 503,
  last_error: "HTTP 503: the receiver is being updated",
  next_attempt_at: "2026-11-22T09:30:36.120Z",
  delivered_at: null,
  created_at: createdAt,
};

const Webhook = component("Webhook", webhookSchema);
const WebhookWithSecret = component("WebhookWithSecret", webhookWithSecretSchema);
const WebhookPage = component("WebhookPage", pageOf(Webhook));
const Delivery = component("Delivery", deliverySchema);
const DeliveryPage = component("DeliveryPage", pageOf(Delivery));

const parameters = [pathParameter("id", "The webhook's id", uuid())];
const noSuchWebhook = { 404: problem("No such webhook in this tenant") };
const isDisabled = { 409: problem("The webhook is disabled, has a test pending, or has 1,000 deliveries pending") };

export const webhooksDescription: FeatureDescription = {
  tags: [
    { name: "webhooks", description: "Telling other systems what happens, signed and sent again until it arrives" },
  ],
  operations: {
    "POST /api/v1/webhooks": {
      operationId: "createWebhook",
      tags: ["webhooks"],
      summary: "Create a webhook",
      description:
        "Messages are signed as https://www.standardwebhooks.com has it, with the secret that is shown this once. Private, " +
        "loopback and reserved addresses and http are refused unless the gateway was started with WEBHOOK_ALLOW_PRIVATE=1.",
      requestBody: jsonBody(newWebhookSchema, newWebhookExample),
      responses: {
        201: json(WebhookWithSecret, "Created", { headers: ["Location"], example: withSecretExample }),
        ...bodyRefusals,
        409: problem("The tenant has 20 webhooks already"),
      },
    },
    "GET /api/v1/webhooks": {
      operationId: "listWebhooks",
      tags: ["webhooks"],
      summary: "List webhooks, newest first",
      parameters: pageParameters,
      responses: listAnswer(WebhookPage, webhookExample),
    },
    "GET /api/v1/webhooks/:id": {
      operationId: "getWebhook",
      tags: ["webhooks"],
      summary: "Read a webhook",
      parameters,
      responses: {
        200: json(Webhook, "The webhook now", { example: webhookExample }),
        ...refusals(401, 403, 503),
        ...noSuchWebhook,
      },
    },
    "PATCH /api/v1/webhooks/:id": {
      operationId: "updateWebhook",
      tags: ["webhooks"],
      summary: "Change where a webhook leads, what it is told, or whether it is enabled",
      description: "What is left out stays. Deliveries that are pending go to the new URL.",
      parameters,
      requestBody: jsonBody(webhookUpdateSchema, { enabled: false }),
      responses: {
        200: json(Webhook, "The webhook now", { example: { ...webhookExample, enabled: false } }),
        ...bodyRefusals,
        ...noSuchWebhook,
      },
    },
    "DELETE /api/v1/webhooks/:id": {
      operationId: "deleteWebhook",
      tags: ["webhooks"],
      summary: "Delete a webhook and its deliveries",
      parameters,
      responses: { 204: emptyResponse("Deleted"), ...refusals(401, 403, 503), ...noSuchWebhook },
    },
    "POST /api/v1/webhooks/:id/rotate-secret": {
      operationId: "rotateWebhookSecret",
      tags: ["webhooks"],
      summary: "Replace the secret",
      description:
        "For 24 h messages have two signatures, one of the secret before it, so that the receiver can be changed in between. " +
        "A second rotation within that time ends the oldest at once.",
      parameters,
      responses: {
        200: json(WebhookWithSecret, "With the new secret", {
          example: { ...withSecretExample, secret_rotated_at: "2026-11-22T14:03:12.000Z" },
        }),
        ...refusals(401, 403, 503),
        ...noSuchWebhook,
      },
    },
    "POST /api/v1/webhooks/:id/test": {
      operationId: "testWebhook",
      tags: ["webhooks"],
      summary: "Send a `webhook.test`",
      parameters,
      responses: {
        202: json(Delivery, "Queued", { example: { ...deliveryExample, type: "webhook.test" } }),
        ...refusals(401, 403, 503),
        ...noSuchWebhook,
        ...isDisabled,
      },
    },
    "GET /api/v1/webhooks/:id/deliveries": {
      operationId: "listDeliveries",
      tags: ["webhooks"],
      summary: "List a webhook's deliveries, newest first",
      description: "Those of the last 30 days. The ones that were given up: `status=dead`.",
      parameters: [
        ...parameters,
        ...pageParameters,
        { name: "status", in: "query", schema: toInlineSchema(v.picklist(deliveryStatuses)) },
      ],
      responses: {
        ...listAnswer(DeliveryPage, deliveryExample),
        ...noSuchWebhook,
      },
    },
    "POST /api/v1/webhooks/:id/deliveries/:delivery_id/replay": {
      operationId: "replayDelivery",
      tags: ["webhooks"],
      summary: "Send a delivery again",
      description: "Now, no matter what became of it, under the same `webhook-id`, and with every retry ahead of it.",
      parameters: [...parameters, pathParameter("delivery_id", "The delivery's id", uuid())],
      responses: {
        202: json(Delivery, "Queued", { example: deliveryExample }),
        ...refusals(401, 403, 503),
        404: problem("No such webhook or delivery in this tenant"),
        ...isDisabled,
      },
    },
  },
  channels: [],
};
