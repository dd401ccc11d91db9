import {
  deliverySchema,
  webhookSchema,
  webhookWithSecretSchema,
  type Delivery,
  type DeliveryStatus,
  type NewWebhook,
  type Webhook,
  type WebhookUpdate,
  type WebhookWithSecret,
} from "../../shared/schemas/webhook.ts";
import type { Api, PageRequest } from "./model/api.ts";
import { parse, type Page } from "./scan_wire.ts";
import { listPage } from "./team_wire.ts";

/** Webhooks and their deliveries as the settings use them. Each rejects as `Api` does. */

const webhooksPath = "api/v1/webhooks";

export function listWebhooks(api: Api, request: PageRequest): Promise<Page<Webhook>> {
  return listPage(api, webhooksPath, request, (item) => parse(webhookSchema, item, "a webhook"));
}

export async function createWebhook(api: Api, webhook: NewWebhook, signal: AbortSignal): Promise<WebhookWithSecret> {
  return parse(
    webhookWithSecretSchema,
    await api.request("POST", webhooksPath, { signal, body: webhook }),
    "a webhook",
  );
}

export async function updateWebhook(
  api: Api,
  { id, ...body }: WebhookUpdate & { readonly id: string },
  signal: AbortSignal,
): Promise<void> {
  await api.request("PATCH", `${webhooksPath}/${id}`, { signal, body });
}

export async function deleteWebhook(api: Api, id: string, signal: AbortSignal): Promise<void> {
  await api.request("DELETE", `${webhooksPath}/${id}`, { signal });
}

export async function rotateSecret(api: Api, id: string, signal: AbortSignal): Promise<WebhookWithSecret> {
  const rotated = await api.request("POST", `${webhooksPath}/${id}/rotate-secret`, { signal });
  return parse(webhookWithSecretSchema, rotated, "a webhook");
}

export async function testWebhook(api: Api, id: string, signal: AbortSignal): Promise<void> {
  await api.request("POST", `${webhooksPath}/${id}/test`, { signal });
}

export function listDeliveries(
  api: Api,
  { id, status }: { readonly id: string; readonly status: DeliveryStatus | "" },
  request: PageRequest,
): Promise<Page<Delivery>> {
  const path = `${webhooksPath}/${id}/deliveries${status === "" ? "" : `?status=${status}`}`;
  return listPage(api, path, request, (item) => parse(deliverySchema, item, "a delivery"));
}

export async function replayDelivery(api: Api, { webhook_id, id }: Delivery, signal: AbortSignal): Promise<void> {
  await api.request("POST", `${webhooksPath}/${webhook_id}/deliveries/${id}/replay`, { signal });
}
