import { sql } from "drizzle-orm";
import {
  boolean,
  check,
  foreignKey,
  index,
  integer,
  jsonb,
  pgTable,
  text,
  unique,
  uniqueIndex,
  uuid,
} from "drizzle-orm/pg-core";
import type { Delivery, DeliveryStatus, Webhook, WebhookEvent, WebhookFormat } from "../../shared/schemas/webhook.ts";
import { tenantPolicies } from "../policies.ts";
import { instant } from "./columns.ts";
import { ofTenant } from "./people.ts";

/** Receivers of a tenant's events, https://www.standardwebhooks.com */
export const webhooks = pgTable(
  "webhooks",
  {
    id: uuid("id").primaryKey().defaultRandom(),
    tenantId: ofTenant(),
    url: text("url").notNull(),
    /** `host:port` of the URL: one has a bounded number of requests at the same time. */
    host: text("host").notNull(),
    events: text("events").array().$type<WebhookEvent[]>().notNull(),
    format: text("format").$type<WebhookFormat>().notNull().default("json"),
    enabled: boolean("enabled").notNull().default(true),
    disabledReason: text("disabled_reason").$type<Webhook["disabled_reason"]>(),
    /** The newest first, then the one before it. The application role cannot read them: it gets them with a delivery. */
    secret: text("secret").array().notNull(),
    secretRotatedAt: instant("secret_rotated_at"),
    /** The API key that made it or changed it last, which it does not outlive; null: a person or an operator did. Written by a trigger. */
    madeBy: uuid("made_by"),
    createdAt: instant("created_at").notNull().defaultNow(),
    updatedAt: instant("updated_at").notNull().defaultNow(),
  },
  (table) => [
    // What deliveries refer to, so that a delivery cannot belong to another tenant's webhook.
    unique("webhooks_tenant_id_id").on(table.tenantId, table.id),
    index("webhooks_made_by")
      .on(table.madeBy)
      .where(sql`${table.madeBy} is not null and ${table.enabled}`),
    index("webhooks_of_tenant").on(table.tenantId, table.createdAt, table.id),
    check(
      "webhooks_events",
      sql`${table.events} <@ array['scan.end', 'finding.created', 'finding.updated', 'monitor.error'] and cardinality(${table.events}) between 1 and 4`,
    ),
    check("webhooks_format", sql`${table.format} in ('json', 'slack')`),
    check(
      "webhooks_disabled_reason",
      sql`${table.disabledReason} is null or (${table.disabledReason} in ('gone', 'key_ended') and not ${table.enabled})`,
    ),
    check("webhooks_url_length", sql`length(${table.url}) between 1 and 2048`),
    check("webhooks_secret", sql`cardinality(${table.secret}) between 1 and 2`),
    ...tenantPolicies("webhooks", table.tenantId),
  ],
);

/** What is sent to a webhook: written by triggers in the transaction of what it tells. */
export const webhookDeliveries = pgTable(
  "webhook_deliveries",
  {
    /** The header `webhook-id`. */
    id: uuid("id").primaryKey().defaultRandom(),
    tenantId: uuid("tenant_id").notNull(),
    webhookId: uuid("webhook_id").notNull(),
    type: text("type").$type<Delivery["type"]>().notNull(),
    data: jsonb("data").$type<Readonly<Record<string, unknown>>>().notNull(),
    status: text("status").$type<DeliveryStatus>().notNull().default("pending"),
    /** Rises with every claim: the result of an attempt is stored only while it is the last one. */
    attempts: integer("attempts").notNull().default(0),
    /** Failed attempts since it was queued or replayed. */
    failures: integer("failures").notNull().default(0),
    /** While an attempt is under way the end of its lease. */
    nextAttemptAt: instant("next_attempt_at").notNull().defaultNow(),
    lastAttemptAt: instant("last_attempt_at"),
    lastStatus: integer("last_status"),
    lastError: text("last_error"),
    deliveredAt: instant("delivered_at"),
    createdAt: instant("created_at").notNull().defaultNow(),
  },
  (table) => [
    foreignKey({
      name: "webhook_deliveries_webhook",
      columns: [table.tenantId, table.webhookId],
      foreignColumns: [webhooks.tenantId, webhooks.id],
    }).onDelete("cascade"),
    index("webhook_deliveries_of_webhook").on(table.tenantId, table.webhookId, table.createdAt, table.id),
    index("webhook_deliveries_by_status").on(table.tenantId, table.webhookId, table.status, table.createdAt, table.id),
    // What a claim takes from each webhook in turn.
    index("webhook_deliveries_waiting")
      .on(table.tenantId, table.webhookId, table.nextAttemptAt)
      .where(sql`${table.status} = 'pending'`),
    uniqueIndex("webhook_deliveries_one_test")
      .on(table.tenantId, table.webhookId)
      .where(sql`${table.status} = 'pending' and ${table.type} = 'webhook.test'`),
    index("webhook_deliveries_old").on(table.createdAt),
    check("webhook_deliveries_status", sql`${table.status} in ('pending', 'delivered', 'dead')`),
    check("webhook_deliveries_delivered_at", sql`(${table.deliveredAt} is not null) = (${table.status} = 'delivered')`),
    ...tenantPolicies("webhook_deliveries", table.tenantId),
  ],
);
