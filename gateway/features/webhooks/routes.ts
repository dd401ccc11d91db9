import { Hono } from "hono";
import {
  deliverySchema,
  deliveryStatuses,
  newWebhookSchema,
  webhookSchema,
  webhookUpdateSchema,
  webhookWithSecretSchema,
} from "../../../shared/schemas/webhook.ts";
import { NotFound } from "../../../shared/app_error.ts";
import { isUuid } from "../../../shared/channel_name.ts";
import { component, json, problem } from "../../description/operation.ts";
import type { Allowed } from "../../http/allow.ts";
import type { FeatureDependencies } from "../../http/dependencies.ts";
import { listByTime } from "../../http/paging.ts";
import { InvalidBody } from "../../http/problem.ts";
import { choiceParameter } from "../../http/query_parameter.ts";
import { defineResource } from "../../http/resource.ts";
import { afterResponse } from "../after_response.ts";
import { targetProblem } from "./address.ts";
import { insertTest, replayDelivery, selectDeliveries, toDelivery } from "./delivery_store.ts";
import { createSecret } from "./signature.ts";
import {
  deleteWebhook,
  insertWebhook,
  rotateSecret,
  selectWebhook,
  selectWebhooks,
  toWebhook,
  updateWebhook,
} from "./webhook_store.ts";

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
const Delivery = component("Delivery", deliverySchema);
const isDisabled = { 409: problem("The webhook is disabled, has a test pending, or has 1,000 deliveries pending") };

/** Webhooks and their deliveries, as the gateway mounts them. Nothing is published on a channel of theirs. */
export const webhooks = {
  prefix: "webhook",
  tags: [{ name: "webhooks", description: "Signed messages to other systems, with retries" }],
  routes: webhookRoutes,
  eventStreams: {},
};

function webhookRoutes(dependencies: FeatureDependencies): Hono<Allowed> {
  const { webhooks: sender } = dependencies;
  const routes = new Hono<Allowed>();
  const resource = defineResource(routes, dependencies, { tag: "webhooks", what: "webhook" });

  resource.on(
    "POST /webhooks",
    {
      allow: "disclose",
      operationId: "createWebhook",
      summary: "Create a webhook",
      description:
        "Messages are signed as https://www.standardwebhooks.com has it, with the secret that is shown this once. Private, " +
        "loopback and reserved addresses and http are refused unless the gateway was started with WEBHOOK_ALLOW_PRIVATE=1.",
      body: { schema: newWebhookSchema, example: newWebhookExample },
      answers: {
        201: json(WebhookWithSecret, "Created", { headers: ["Location"], example: withSecretExample }),
        409: problem("The tenant's limit of 20 webhooks is reached"),
      },
    },
    async ({ c, principal, body: webhook, query }) => {
      requireTarget(webhook.url);
      const secret = createSecret();
      const row = await query((db) => insertWebhook(db, principal.tenantId, { webhook, secret }));
      return c.json({ ...toWebhook(row), secret }, 201, { location: `/api/v1/webhooks/${row.id}` });
    },
  );

  resource.list(
    "GET /webhooks",
    {
      allow: "disclose",
      operationId: "listWebhooks",
      summary: "List webhooks, newest first",
      list: listByTime("webhooks", toWebhook),
      of: [Webhook, "WebhookPage"],
      example: webhookExample,
    },
    ({ page, query }) => query((db) => selectWebhooks(db, page)),
  );

  resource.on(
    "GET /webhooks/:id",
    {
      allow: "disclose",
      operationId: "getWebhook",
      summary: "Read a webhook",
      answers: { 200: json(Webhook, "The webhook now", { example: webhookExample }) },
    },
    async ({ c, id, query }) => c.json(toWebhook(await query((db) => selectWebhook(db, id)))),
  );

  resource.on(
    "PATCH /webhooks/:id",
    {
      allow: "disclose",
      operationId: "updateWebhook",
      summary: "Change the URL or the events of a webhook, or enable or disable it",
      description: "Members that are left out stay unchanged. Pending deliveries go to the new URL.",
      body: { schema: webhookUpdateSchema, example: { enabled: false } },
      answers: { 200: json(Webhook, "The webhook now", { example: { ...webhookExample, enabled: false } }) },
    },
    async ({ c, id, body: update, query }) => {
      if (update.url !== undefined) requireTarget(update.url);
      const row = await query((db) => updateWebhook(db, id, update));
      // What waited while it was disabled.
      if (update.enabled === true) afterResponse(c, sender.sendDue());
      return c.json(toWebhook(row));
    },
  );

  resource.on(
    "DELETE /webhooks/:id",
    {
      allow: "disclose",
      operationId: "deleteWebhook",
      summary: "Delete a webhook and its deliveries",
      answers: { 204: { description: "Deleted" } },
    },
    async ({ c, id, query }) => {
      await query((db) => deleteWebhook(db, id));
      return c.body(null, 204);
    },
  );

  resource.on(
    "POST /webhooks/:id/rotate-secret",
    {
      allow: "disclose",
      operationId: "rotateWebhookSecret",
      summary: "Replace the secret",
      description:
        "For 24 h messages have two signatures, one of the secret before it, so that the receiver can be changed in between. " +
        "A second rotation within that time ends the oldest at once.",
      answers: {
        200: json(WebhookWithSecret, "With the new secret", {
          example: { ...withSecretExample, secret_rotated_at: "2026-11-22T14:03:12.000Z" },
        }),
      },
    },
    async ({ c, id, query }) => {
      const secret = createSecret();
      const row = await query((db) => rotateSecret(db, id, secret));
      return c.json({ ...toWebhook(row), secret });
    },
  );

  resource.on(
    "POST /webhooks/:id/test",
    {
      allow: "disclose",
      operationId: "testWebhook",
      summary: "Send a `webhook.test`",
      answers: {
        202: json(Delivery, "Queued", { example: { ...deliveryExample, type: "webhook.test" } }),
        ...isDisabled,
      },
    },
    async ({ c, id, query }) => {
      const row = await query((db) => insertTest(db, id));
      afterResponse(c, sender.sendDue());
      return c.json(toDelivery(row), 202);
    },
  );

  resource.list(
    "GET /webhooks/:id/deliveries",
    {
      allow: "disclose",
      operationId: "listDeliveries",
      summary: "List a webhook's deliveries, newest first",
      description: "Deliveries of the last 30 days. `status=dead` lists the failed ones that are no longer retried.",
      query: { status: choiceParameter(deliveryStatuses) },
      list: listByTime("webhook_deliveries", toDelivery),
      of: [Delivery, "DeliveryPage"],
      example: deliveryExample,
    },
    ({ id, page, parameters: { status }, query }) => query((db) => selectDeliveries(db, id, { page, status })),
  );

  resource.on(
    "POST /webhooks/:id/deliveries/:delivery_id/replay",
    {
      allow: "disclose",
      operationId: "replayDelivery",
      summary: "Send a delivery again",
      description: "Sends any delivery again now, even a successful one, with the same `webhook-id` and all retries.",
      answers: {
        202: json(Delivery, "Queued", { example: deliveryExample }),
        404: problem("No such webhook or delivery in this tenant"),
        ...isDisabled,
      },
    },
    async ({ c, id: webhookId, query }) => {
      const deliveryId = c.req.param("delivery_id");
      if (!isUuid(deliveryId)) throw new NotFound("No such delivery");
      const row = await query((db) => replayDelivery(db, { webhookId, deliveryId }));
      afterResponse(c, sender.sendDue());
      return c.json(toDelivery(row), 202);
    },
  );

  return routes;

  function requireTarget(url: string): void {
    const detail = targetProblem(url, sender.rules);
    if (detail !== null) throw new InvalidBody([{ pointer: "/url", detail }]);
  }
}
