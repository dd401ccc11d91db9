import { Hono } from "hono";
import type { TenantDatabase } from "../../../drizzle/with_tenant.ts";
import { isUuid } from "../../../shared/channel_name.ts";
import { deliveryStatuses, newWebhookSchema, webhookUpdateSchema } from "../../../shared/schemas/webhook.ts";
import { withPrincipal } from "../../auth/membership.ts";
import type { AllowedPrincipal } from "../../auth/principal.ts";
import { createAllow, type Allowed } from "../../http/allow.ts";
import { parseBody, readJson } from "../../http/body.ts";
import type { Dependencies } from "../../http/dependencies.ts";
import { parsePageRequest, toPage, type List } from "../../http/paging.ts";
import { pathId } from "../../http/path_id.ts";
import { InvalidBody } from "../../http/problem.ts";
import { choiceParameter } from "../../http/query_parameter.ts";
import { afterResponse } from "../after_response.ts";
import { targetProblem } from "./address.ts";
import { insertTest, replayDelivery, selectDeliveries, toDelivery, type DeliveryRow } from "./delivery_store.ts";
import { createSecret } from "./signature.ts";
import {
  deleteWebhook,
  insertWebhook,
  rotateSecret,
  selectWebhook,
  selectWebhooks,
  toWebhook,
  updateWebhook,
  type WebhookRow,
} from "./webhook_store.ts";

const maxBodyBytes = 65_536;

const webhookList: List<WebhookRow, unknown> = {
  name: "webhooks",
  isKey: isUuid,
  position: (row) => ({ createdAt: row.createdAt, key: row.id }),
  item: toWebhook,
};

const deliveryList: List<DeliveryRow, unknown> = {
  name: "webhook_deliveries",
  isKey: isUuid,
  position: (row) => ({ createdAt: row.createdAt, key: row.id }),
  item: toDelivery,
};

/** Webhooks and their deliveries, as the gateway mounts them. Nothing is published on a channel of theirs. */
export const webhooks = { prefix: "webhook", routes: webhookRoutes, eventStreams: {} };

/** The REST resources of webhooks. The client is authenticated before any of the request's body is read. */
function webhookRoutes(dependencies: Dependencies): Hono<Allowed> {
  const { database, webhooks: sender } = dependencies;
  const allow = createAllow(dependencies);
  const routes = new Hono<Allowed>();

  routes.post("/webhooks", allow("disclose"), async (c) => {
    const principal = c.get("principal");
    const webhook = parseBody(newWebhookSchema, await readJson(c.req.raw, { maxBytes: maxBodyBytes }));
    requireTarget(webhook.url);
    const secret = createSecret();
    const row = await query(principal, (db) => insertWebhook(db, principal.tenantId, { webhook, secret }));
    return c.json({ ...toWebhook(row), secret }, 201, { location: `/api/v1/webhooks/${row.id}` });
  });

  routes.get("/webhooks", allow("disclose"), async (c) => {
    const principal = c.get("principal");
    const page = parsePageRequest(c.req.url, webhookList);
    const rows = await query(principal, (db) => selectWebhooks(db, page));
    return c.json(toPage(rows, page.limit, webhookList));
  });

  routes.get("/webhooks/:id", allow("disclose"), async (c) => {
    const principal = c.get("principal");
    const webhookId = pathId(c, "webhook");
    return c.json(toWebhook(await query(principal, (db) => selectWebhook(db, webhookId))));
  });

  routes.patch("/webhooks/:id", allow("disclose"), async (c) => {
    const principal = c.get("principal");
    const webhookId = pathId(c, "webhook");
    const update = parseBody(webhookUpdateSchema, await readJson(c.req.raw, { maxBytes: maxBodyBytes }));
    if (update.url !== undefined) requireTarget(update.url);
    const row = await query(principal, (db) => updateWebhook(db, webhookId, update));
    // What waited while it was disabled.
    if (update.enabled === true) afterResponse(c, sender.sendDue());
    return c.json(toWebhook(row));
  });

  routes.delete("/webhooks/:id", allow("disclose"), async (c) => {
    const principal = c.get("principal");
    const webhookId = pathId(c, "webhook");
    await query(principal, (db) => deleteWebhook(db, webhookId));
    return c.body(null, 204);
  });

  routes.post("/webhooks/:id/rotate-secret", allow("disclose"), async (c) => {
    const principal = c.get("principal");
    const webhookId = pathId(c, "webhook");
    const secret = createSecret();
    const row = await query(principal, (db) => rotateSecret(db, webhookId, secret));
    return c.json({ ...toWebhook(row), secret });
  });

  routes.post("/webhooks/:id/test", allow("disclose"), async (c) => {
    const principal = c.get("principal");
    const webhookId = pathId(c, "webhook");
    const row = await query(principal, (db) => insertTest(db, webhookId));
    afterResponse(c, sender.sendDue());
    return c.json(toDelivery(row), 202);
  });

  routes.get("/webhooks/:id/deliveries", allow("disclose"), async (c) => {
    const principal = c.get("principal");
    const webhookId = pathId(c, "webhook");
    const page = parsePageRequest(c.req.url, deliveryList);
    const status = choiceParameter(c, "status", deliveryStatuses);
    const rows = await query(principal, (db) => selectDeliveries(db, webhookId, { page, status }));
    return c.json(toPage(rows, page.limit, deliveryList));
  });

  routes.post("/webhooks/:id/deliveries/:delivery_id/replay", allow("disclose"), async (c) => {
    const principal = c.get("principal");
    const webhookId = pathId(c, "webhook");
    const deliveryId = pathId(c, "delivery", "delivery_id");
    const row = await query(principal, (db) => replayDelivery(db, { webhookId, deliveryId }));
    afterResponse(c, sender.sendDue());
    return c.json(toDelivery(row), 202);
  });

  return routes;

  function requireTarget(url: string): void {
    const problem = targetProblem(url, sender.rules);
    if (problem !== null) throw new InvalidBody([{ pointer: "/url", detail: problem }]);
  }

  function query<Result>(principal: AllowedPrincipal, work: (db: TenantDatabase) => Promise<Result>): Promise<Result> {
    return withPrincipal(database, principal, work);
  }
}
