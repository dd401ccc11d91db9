import { bigint, check, pgTable, primaryKey, text } from "drizzle-orm/pg-core";
import { sql } from "drizzle-orm";
import { tenantPolicies } from "../policies.ts";
import { instant } from "./columns.ts";
import { ofTenant } from "./people.ts";

/** The last stored event of each producer on a channel. Its row is locked while a batch is stored, so that batches keep their order. */
export const published = pgTable(
  "published",
  {
    tenantId: ofTenant(),
    channel: text("channel").notNull(),
    /** The part of a `delivery_id` before its number; `gateway` for events of the gateway itself. */
    producer: text("producer").notNull(),
    /** The number of the last event that was stored. */
    lastN: bigint("last_n", { mode: "number" }).notNull().default(0),
    publishedAt: instant("published_at").notNull().defaultNow(),
    /** The last time that the broker did not take what was stored: streams that were open then have missed it. */
    lostAt: instant("lost_at"),
  },
  (table) => [
    primaryKey({ name: "published_pkey", columns: [table.tenantId, table.channel, table.producer] }),
    check("published_last_n", sql`${table.lastN} >= 0`),
    ...tenantPolicies("published", table.tenantId),
  ],
);
