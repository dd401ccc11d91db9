import { and, desc, eq, getTableColumns, sql } from "drizzle-orm";
import { webhookDeliveries, webhooks } from "../../../drizzle/schema.ts";
import type { Database } from "../../../drizzle/database.ts";
import { constraintViolation } from "../../../drizzle/database_error.ts";
import type { ClaimedDelivery } from "../../../drizzle/across_tenants.ts";
import { withTenant, type TenantDatabase } from "../../../drizzle/with_tenant.ts";
import { AppError, NotFound } from "../../../shared/app_error.ts";
import type { Delivery, DeliveryStatus } from "../../../shared/schemas/webhook.ts";
import { afterCursor, type PageRequest } from "../../http/paging.ts";
import { retryDelaySeconds, type AttemptResult } from "./attempt.ts";
import { selectWebhook } from "./webhook_store.ts";

/** Without its payload, which a page of deliveries would be too large with. */
export type DeliveryRow = Omit<typeof webhookDeliveries.$inferSelect, "data">;

const { data: _data, ...columns } = getTableColumns(webhookDeliveries);

export function toDelivery(row: DeliveryRow): Delivery {
  return {
    id: row.id,
    webhook_id: row.webhookId,
    type: row.type,
    status: row.status,
    attempts: row.attempts,
    last_attempt_at: row.lastAttemptAt?.toISOString() ?? null,
    last_status: row.lastStatus,
    last_error: row.lastError,
    next_attempt_at: row.status === "pending" ? row.nextAttemptAt.toISOString() : null,
    delivered_at: row.deliveredAt?.toISOString() ?? null,
    created_at: row.createdAt.toISOString(),
  };
}

/** Newest first, one row beyond the limit. Rejects with `NotFound`. */
export async function selectDeliveries(
  db: TenantDatabase,
  webhookId: string,
  { page, status }: { readonly page: PageRequest; readonly status: DeliveryStatus | null },
): Promise<readonly DeliveryRow[]> {
  const { createdAt, id } = webhookDeliveries;
  const rows = await db
    .select(columns)
    .from(webhookDeliveries)
    .where(
      and(
        eq(webhookDeliveries.webhookId, webhookId),
        status === null ? undefined : eq(webhookDeliveries.status, status),
        afterCursor(page, createdAt, id),
      ),
    )
    .orderBy(desc(createdAt), desc(id))
    .limit(page.limit + 1);
  // No delivery is an answer only when there is such a webhook.
  if (rows.length === 0) await selectWebhook(db, webhookId);
  return rows;
}

/**
 * Queues a delivery that tells nothing but that the webhook works, one at a time. Rejects with `NotFound`, and with
 * `AppError("conflict")` for a webhook that is disabled, has a test pending, or has too much pending.
 */
export async function insertTest(db: TenantDatabase, webhookId: string): Promise<DeliveryRow> {
  const { tenantId, enabled } = await selectWebhook(db, webhookId);
  if (!enabled) throw disabled();
  await requireRoom(db, webhookId);
  const [row] = await db
    .insert(webhookDeliveries)
    .values({ tenantId, webhookId, type: "webhook.test", data: { webhook_id: webhookId } })
    .onConflictDoNothing()
    .returning(columns);
  if (row === undefined) throw testPending();
  return row;
}

/**
 * Sends a delivery again, also a successful one, with all its attempts ahead of it. Rejects with `NotFound`, and with
 * `AppError("conflict")` as `insertTest` does.
 */
export async function replayDelivery(
  db: TenantDatabase,
  { webhookId, deliveryId }: { readonly webhookId: string; readonly deliveryId: string },
): Promise<DeliveryRow> {
  const { enabled } = await selectWebhook(db, webhookId);
  if (!enabled) throw disabled();
  await requireRoom(db, webhookId);
  const [row] = await db
    .update(webhookDeliveries)
    .set({ status: "pending", failures: 0, nextAttemptAt: sql`now()`, deliveredAt: null })
    .where(and(eq(webhookDeliveries.webhookId, webhookId), eq(webhookDeliveries.id, deliveryId)))
    .returning(columns)
    .catch((error: unknown) => {
      throw constraintViolation(error)?.constraint === "webhook_deliveries_one_test" ? testPending() : error;
    });
  if (row === undefined) throw new NotFound("No such delivery");
  return row;
}

/** What `queue_webhooks` keeps as well: of a webhook no more are pending. */
const maxPending = 1000;

async function requireRoom(db: TenantDatabase, webhookId: string): Promise<void> {
  const { webhookId: ofWebhook, status } = webhookDeliveries;
  const pending = await db
    .select({ id: webhookDeliveries.id })
    .from(webhookDeliveries)
    .where(and(eq(ofWebhook, webhookId), eq(status, "pending")))
    .limit(maxPending);
  if (pending.length < maxPending) return;
  throw new AppError(
    "conflict",
    `Limit of ${maxPending} pending deliveries of this webhook reached. Wait until the receiver has accepted some.`,
  );
}

function testPending(): AppError {
  return new AppError("conflict", "A test of this webhook is pending. Wait until it is sent.");
}

function disabled(): AppError {
  return new AppError("conflict", "The webhook is disabled. Enable it first");
}

/** `gone`: given up, and the webhook disabled. */
export type AttemptOutcome = "delivered" | "failed" | "dead" | "gone" | "interrupted";

/** Stores what became of an attempt, unless a later one has begun: the lease of this one had ended. */
export async function recordAttempt(
  database: Database,
  delivery: ClaimedDelivery,
  { result, random }: { readonly result: AttemptResult; readonly random: () => number },
): Promise<AttemptOutcome> {
  const isOurs = and(
    eq(webhookDeliveries.id, delivery.id),
    eq(webhookDeliveries.attempts, delivery.attempts),
    eq(webhookDeliveries.status, "pending"),
  );
  return withTenant(database, delivery.tenantId, async (db) => {
    const store = async (set: Parameters<ReturnType<typeof update>["set"]>[0]) => {
      await update(db).set(set).where(isOurs);
    };
    if (result.kind === "interrupted") {
      await store({ nextAttemptAt: sql`now()` });
      return "interrupted";
    }
    const { status: lastStatus, error: lastError } = result;
    if (result.kind === "delivered") {
      await store({ status: "delivered", deliveredAt: sql`now()`, lastStatus, lastError });
      return "delivered";
    }
    if (result.kind === "gone") {
      await disableWebhook(db, delivery);
      await store({ status: "dead", lastStatus, lastError: "HTTP 410: the webhook was disabled" });
      return "gone";
    }
    const failures = delivery.failures + 1;
    const delaySeconds = retryDelaySeconds(failures, random);
    if (delaySeconds === null) {
      await store({ status: "dead", failures, lastStatus, lastError });
      return "dead";
    }
    const nextAttemptAt = sql`now() + make_interval(secs => ${delaySeconds})`;
    await store({ failures, nextAttemptAt, lastStatus, lastError });
    return "failed";
  });
}

function update(db: TenantDatabase) {
  return db.update(webhookDeliveries);
}

/** Unless it leads elsewhere by now. */
async function disableWebhook(db: TenantDatabase, { webhookId, url }: ClaimedDelivery): Promise<void> {
  await db
    .update(webhooks)
    .set({ enabled: false, disabledReason: "gone", updatedAt: sql`now()` })
    .where(and(eq(webhooks.id, webhookId), eq(webhooks.url, url), eq(webhooks.enabled, true)));
}
