import { pgTable, text, timestamp, uuid } from "drizzle-orm/pg-core";
import { tenantPolicies } from "../drizzle/policies.ts";

/** The tables that a platform already has when it adds these streams. They stand for it here: no migration makes them. */

/** A channel is made from the resource itself, so it has the resource's own tenant and not the caller's. */
export interface Owned {
  readonly id: string;
  readonly tenantId: string;
}

export const jobs = pgTable(
  "jobs",
  {
    id: uuid("id").primaryKey().defaultRandom(),
    tenantId: uuid("tenant_id").notNull(),
    endedAt: timestamp("ended_at", { withTimezone: true }),
  },
  (table) => tenantPolicies("jobs", table.tenantId),
);

export const completions = pgTable(
  "completions",
  {
    id: uuid("id").primaryKey().defaultRandom(),
    tenantId: uuid("tenant_id").notNull(),
    /** The principal's id: completions are personal. */
    createdBy: text("created_by").notNull(),
    endedAt: timestamp("ended_at", { withTimezone: true }),
  },
  (table) => tenantPolicies("completions", table.tenantId),
);

export const workspaces = pgTable(
  "workspaces",
  { id: uuid("id").primaryKey().defaultRandom(), tenantId: uuid("tenant_id").notNull() },
  (table) => tenantPolicies("workspaces", table.tenantId),
);
