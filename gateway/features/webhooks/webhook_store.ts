import { desc, eq, getTableColumns, sql } from "drizzle-orm";
import { webhooks } from "../../../drizzle/schema.ts";
import type { TenantDatabase } from "../../../drizzle/with_tenant.ts";
import { AppError, NotFound } from "../../../shared/app_error.ts";
import type { NewWebhook, Webhook, WebhookUpdate } from "../../../shared/schemas/webhook.ts";
import { afterCursor, type PageRequest } from "../../http/paging.ts";
import { receiverOf } from "./address.ts";

/** Without its secrets, which the application role cannot read. */
export type WebhookRow = Omit<typeof webhooks.$inferSelect, "secret">;

const { secret: _secret, ...columns } = getTableColumns(webhooks);

const maxWebhooks = 20;

export function toWebhook(row: WebhookRow): Webhook {
  return {
    id: row.id,
    tenant_id: row.tenantId,
    url: row.url,
    events: row.events,
    format: row.format,
    enabled: row.enabled,
    disabled_reason: row.disabledReason,
    secret_rotated_at: row.secretRotatedAt?.toISOString() ?? null,
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
  };
}

/** Rejects with `AppError("conflict")` where the tenant has as many as it may have. */
export async function insertWebhook(
  db: TenantDatabase,
  tenantId: string,
  { webhook, secret }: { readonly webhook: NewWebhook; readonly secret: string },
): Promise<WebhookRow> {
  if ((await countWebhooks(db)) >= maxWebhooks) throw tooManyWebhooks();
  const { url, events, format = "json" } = webhook;
  const [row] = await db
    .insert(webhooks)
    .values({ tenantId, url, host: receiverOf(url), events: [...events], format, secret: [secret] })
    .returning(columns);
  if (row === undefined) throw new Error("Cannot create a webhook: the insert returned no row");
  // Others that were made at once have counted before this one was stored.
  if ((await countWebhooks(db)) > maxWebhooks) {
    await deleteWebhook(db, row.id);
    throw tooManyWebhooks();
  }
  return row;
}

/** Rejects with `NotFound` for another tenant's webhook as for one that never was. */
export async function selectWebhook(db: TenantDatabase, webhookId: string): Promise<WebhookRow> {
  return found(await db.select(columns).from(webhooks).where(eq(webhooks.id, webhookId)));
}

/** Newest first, one row beyond the limit. */
export async function selectWebhooks(db: TenantDatabase, page: PageRequest): Promise<readonly WebhookRow[]> {
  return db
    .select(columns)
    .from(webhooks)
    .where(afterCursor(page, webhooks.createdAt, webhooks.id))
    .orderBy(desc(webhooks.createdAt), desc(webhooks.id))
    .limit(page.limit + 1);
}

/** What is left out stays. Rejects with `NotFound`. */
export async function updateWebhook(
  db: TenantDatabase,
  webhookId: string,
  { url, events, format, enabled }: WebhookUpdate,
): Promise<WebhookRow> {
  const rows = await db
    .update(webhooks)
    .set({
      updatedAt: sql`now()`,
      ...(url === undefined ? {} : { url, host: receiverOf(url) }),
      ...(events === undefined ? {} : { events: [...events] }),
      ...(format === undefined ? {} : { format }),
      // Why the gateway disabled it is settled by whoever enables or disables it.
      ...(enabled === undefined ? {} : { enabled, disabledReason: null }),
    })
    .where(eq(webhooks.id, webhookId))
    .returning(columns);
  return found(rows);
}

/** Its deliveries go with it. Rejects with `NotFound`. */
export async function deleteWebhook(db: TenantDatabase, webhookId: string): Promise<void> {
  const rows = await db.delete(webhooks).where(eq(webhooks.id, webhookId)).returning({ id: webhooks.id });
  if (rows.length === 0) throw noSuchWebhook();
}

/** Signs with the new secret from now on, and for a day with the one before it as well. Rejects with `NotFound`. */
export async function rotateSecret(db: TenantDatabase, webhookId: string, secret: string): Promise<WebhookRow> {
  await db.execute(sql`select scanstream.rotate_webhook_secret(${webhookId}::uuid, ${secret})`);
  return selectWebhook(db, webhookId);
}

function found(rows: readonly WebhookRow[]): WebhookRow {
  const [row] = rows;
  if (row === undefined) throw noSuchWebhook();
  return row;
}

/** Up to one more than a tenant may have. */
async function countWebhooks(db: TenantDatabase): Promise<number> {
  return (
    await db
      .select({ id: webhooks.id })
      .from(webhooks)
      .limit(maxWebhooks + 1)
  ).length;
}

function tooManyWebhooks(): AppError {
  return new AppError("conflict", `Limit of ${maxWebhooks} webhooks reached: delete one first`);
}

function noSuchWebhook(): NotFound {
  return new NotFound("No such webhook");
}
