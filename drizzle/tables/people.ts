import { sql } from "drizzle-orm";
import { bigint, index, jsonb, pgTable, primaryKey, text, uniqueIndex, uuid } from "drizzle-orm/pg-core";
import type { ActorKind, Role, Scope } from "../../shared/schemas/team.ts";
import { tenantPolicies } from "../policies.ts";
import { instant } from "./columns.ts";

export const tenants = pgTable(
  "tenants",
  {
    id: uuid("id").primaryKey().defaultRandom(),
    name: text("name").notNull(),
    createdAt: instant("created_at").notNull().defaultNow(),
  },
  (table) => [...tenantPolicies("tenants", table.id)],
);

/** The tenant of a row, which goes with it. */
export function ofTenant() {
  return uuid("tenant_id")
    .notNull()
    .references(() => tenants.id, { onDelete: "cascade" });
}

/** One subject may be a member of several tenants. */
export const memberships = pgTable(
  "memberships",
  {
    tenantId: ofTenant(),
    /** The JWT's `sub`. */
    userId: text("user_id").notNull(),
    role: text("role").$type<Role>().notNull().default("operator"),
    createdAt: instant("created_at").notNull().defaultNow(),
    /** When the member last left the page: what is newer is shown as new. Null: not yet. */
    seenAt: instant("seen_at"),
  },
  (table) => [
    primaryKey({ name: "memberships_pkey", columns: [table.tenantId, table.userId] }),
    index("memberships_by_time").on(table.tenantId, table.createdAt, table.userId),
    index("memberships_admins")
      .on(table.tenantId, table.userId)
      .where(sql`${table.role} = 'admin'`),
    ...tenantPolicies("memberships", table.tenantId),
  ],
);

export const apiKeys = pgTable(
  "api_keys",
  {
    id: uuid("id").primaryKey().defaultRandom(),
    tenantId: ofTenant(),
    name: text("name").notNull(),
    /** The key's first characters, shown in lists so that people can tell keys apart. */
    prefix: text("prefix").notNull(),
    /** SHA-256 of the key in lower-case hex. The key is 256 random bits, so a fast hash without salt is enough. */
    hash: text("hash").notNull(),
    scopes: text("scopes").array().$type<Scope[]>().notNull().default(["read", "publish"]),
    createdAt: instant("created_at").notNull().defaultNow(),
    /** Null: valid until it is revoked. */
    expiresAt: instant("expires_at"),
    revokedAt: instant("revoked_at"),
    /** Kept to about a minute. */
    lastUsedAt: instant("last_used_at"),
  },
  (table) => [
    uniqueIndex("api_keys_hash").on(table.hash),
    index("api_keys_of_tenant").on(table.tenantId, table.createdAt, table.id),
    ...tenantPolicies("api_keys", table.tenantId),
  ],
);

/** The audit trail. `audit` writes it, and nothing changes or deletes it. */
export const auditEvents = pgTable(
  "audit_events",
  {
    /** Rises in the order of writing. */
    number: bigint("number", { mode: "number" }).primaryKey().generatedByDefaultAsIdentity(),
    tenantId: ofTenant(),
    actorKind: text("actor_kind").$type<ActorKind>().notNull(),
    /** The JWT's `sub` or the API key's id; empty for an operator's command and for the gateway itself. */
    actorId: text("actor_id").notNull(),
    /** Such as `member.created`. */
    action: text("action").notNull(),
    targetType: text("target_type").notNull(),
    targetId: text("target_id").notNull(),
    /** Values that the row was made with, or of each changed column the value before and after. Never a secret. */
    detail: jsonb("detail").$type<Readonly<Record<string, unknown>>>().notNull(),
    createdAt: instant("created_at").notNull().defaultNow(),
  },
  (table) => [
    index("audit_events_by_time").on(table.tenantId, table.createdAt, table.number),
    index("audit_events_by_action").on(table.tenantId, table.action, table.createdAt, table.number),
    index("audit_events_by_actor").on(table.tenantId, table.actorId, table.createdAt, table.number),
    index("audit_events_by_target").on(table.tenantId, table.targetId, table.createdAt, table.number),
    ...tenantPolicies("audit_events", table.tenantId),
  ],
);
