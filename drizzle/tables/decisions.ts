import { isNull, sql } from "drizzle-orm";
import { check, index, pgTable, text, uniqueIndex, uuid } from "drizzle-orm/pg-core";
import type { AttestedStatus, DecisionKind } from "../../shared/schemas/decision.ts";
import type { ActorKind } from "../../shared/schemas/team.ts";
import { tenantPolicies } from "../policies.ts";
import { instant } from "./columns.ts";
import { ofTenant } from "./people.ts";

/** Decisions of people about findings. A row is never removed: it ends, and stays as the record of what was decided. */
export const decisions = pgTable(
  "decisions",
  {
    id: uuid("id").primaryKey().defaultRandom(),
    tenantId: ofTenant(),
    kind: text("kind").$type<DecisionKind>().notNull(),
    check: text("check").notNull(),
    /** A waiver's exact id or name, or pattern of names; null: every finding of the check. */
    resource: text("resource"),
    status: text("status").$type<AttestedStatus>(),
    reason: text("reason").notNull(),
    authorKind: text("author_kind").$type<ActorKind>().notNull(),
    /** The JWT's `sub`, or the API key's id. */
    authorId: text("author_id").notNull(),
    authorName: text("author_name").notNull(),
    /** Null: every organization of the tenant. */
    orgUrl: text("org_url"),
    /** The day or the time as it was given; null: until it is withdrawn. */
    expires: text("expires"),
    /** The last moment at which it holds. */
    expiresAt: instant("expires_at"),
    createdAt: instant("created_at").notNull().defaultNow(),
    endedAt: instant("ended_at"),
    /** `expired` is written only when another one takes its place. */
    endedReason: text("ended_reason").$type<"withdrawn" | "contradicted" | "expired">(),
    /** The name of who withdrew it. */
    endedBy: text("ended_by"),
    /** The scan that contradicted it, which may be deleted since. */
    endedScanId: uuid("ended_scan_id"),
  },
  (table) => [
    // Hashed: together they may be longer than an index takes.
    uniqueIndex("decisions_not_ended")
      .on(
        table.tenantId,
        table.kind,
        table.check,
        sql`md5(coalesce(${table.resource}, ''))`,
        sql`md5(coalesce(${table.orgUrl}, ''))`,
      )
      .where(isNull(table.endedAt)),
    index("decisions_of_tenant").on(table.tenantId, table.createdAt, table.id),
    index("decisions_of_kind").on(table.tenantId, table.kind, table.createdAt, table.id),
    index("decisions_of_check").on(table.tenantId, table.check, table.createdAt, table.id),
    index("decisions_not_ended_by_time").on(table.tenantId, table.createdAt, table.id).where(isNull(table.endedAt)),
    check("decisions_ended_at", sql`(${table.endedAt} is null) = (${table.endedReason} is null)`),
    ...tenantPolicies("decisions", table.tenantId),
  ],
);
