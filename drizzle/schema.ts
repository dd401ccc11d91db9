import { sql } from "drizzle-orm";
import {
  boolean,
  check,
  foreignKey,
  index,
  integer,
  pgTable,
  primaryKey,
  text,
  timestamp,
  unique,
  uniqueIndex,
  uuid,
} from "drizzle-orm/pg-core";
import type { Coverage, ManualReason, Severity, Status } from "../shared/report.ts";
import type { ScanStatus } from "../shared/schemas/scan.ts";
import { currentTenantId, policies, tenantPolicies } from "./policies.ts";

/** Milliseconds, as exact as a JavaScript `Date`, so that a cursor made of one finds its place again. */
const instant = (name: string) => timestamp(name, { withTimezone: true, precision: 3, mode: "date" });

export const tenants = pgTable(
  "tenants",
  {
    id: uuid("id").primaryKey().defaultRandom(),
    name: text("name").notNull(),
    createdAt: instant("created_at").notNull().defaultNow(),
  },
  (table) => [
    check("tenants_name_length", sql`length(${table.name}) between 1 and 200`),
    ...tenantPolicies("tenants", table.id),
  ],
);

/** A person or program that signs in with a JWT. One subject may be a member of several tenants. */
export const users = pgTable(
  "users",
  {
    /** The JWT's `sub`. */
    sub: text("sub").primaryKey(),
    createdAt: instant("created_at").notNull().defaultNow(),
  },
  (table) => [
    check("users_sub_length", sql`length(${table.sub}) between 1 and 255`),
    // Members only; memberships has a policy of its own, so the sub-select sees this tenant's rows alone.
    ...policies(
      "users",
      sql`exists (select 1 from memberships where memberships.user_id = users.sub and memberships.tenant_id = ${currentTenantId})`,
    ),
  ],
);

export const memberships = pgTable(
  "memberships",
  {
    tenantId: uuid("tenant_id")
      .notNull()
      .references(() => tenants.id, { onDelete: "cascade" }),
    /** The JWT's `sub`. */
    userId: text("user_id")
      .notNull()
      .references(() => users.sub, { onDelete: "cascade" }),
    createdAt: instant("created_at").notNull().defaultNow(),
  },
  (table) => [
    primaryKey({ name: "memberships_pkey", columns: [table.tenantId, table.userId] }),
    index("memberships_user_id").on(table.userId),
    ...tenantPolicies("memberships", table.tenantId),
  ],
);

export const apiKeys = pgTable(
  "api_keys",
  {
    id: uuid("id").primaryKey().defaultRandom(),
    tenantId: uuid("tenant_id")
      .notNull()
      .references(() => tenants.id, { onDelete: "cascade" }),
    name: text("name").notNull(),
    /** The key's first characters, shown in lists so that people can tell keys apart. */
    prefix: text("prefix").notNull(),
    /** SHA-256 of the key in lower-case hex. The key is 256 random bits, so a fast hash without salt is enough. */
    hash: text("hash").notNull(),
    createdAt: instant("created_at").notNull().defaultNow(),
    revokedAt: instant("revoked_at"),
    /** Kept to about a minute. */
    lastUsedAt: instant("last_used_at"),
  },
  (table) => [
    uniqueIndex("api_keys_hash").on(table.hash),
    index("api_keys_of_tenant").on(table.tenantId, table.createdAt, table.id),
    check("api_keys_hash_is_sha256_hex", sql`${table.hash} ~ '^[0-9a-f]{64}$'`),
    check("api_keys_name_length", sql`length(${table.name}) between 1 and 200`),
    ...tenantPolicies("api_keys", table.tenantId),
  ],
);

export const scans = pgTable(
  "scans",
  {
    id: uuid("id").primaryKey().defaultRandom(),
    tenantId: uuid("tenant_id")
      .notNull()
      .references(() => tenants.id, { onDelete: "cascade" }),
    orgUrl: text("org_url"),
    clientId: text("client_id"),
    status: text("status").$type<ScanStatus>().notNull().default("pending"),
    checksTotal: integer("checks_total").notNull().default(0),
    checksDone: integer("checks_done").notNull().default(0),
    /** Counts of checks. */
    pass: integer("pass").notNull().default(0),
    fail: integer("fail").notNull().default(0),
    manual: integer("manual").notNull().default(0),
    cancelRequested: boolean("cancel_requested").notNull().default(false),
    /** Who registered it: the JWT's `sub`, or the API key's id. */
    createdBy: text("created_by"),
    /** The body it was registered with, so that the same request again is the same scan; null for scans of before. */
    registration: text("registration"),
    createdAt: instant("created_at").notNull().defaultNow(),
    /** The producer's last heartbeat; a scan without one for too long is expired. */
    updatedAt: instant("updated_at").notNull().defaultNow(),
    startedAt: instant("started_at"),
    /** Set with an end status and only then. */
    endedAt: instant("ended_at"),
  },
  (table) => [
    // What findings refer to, so that a finding cannot belong to another tenant's scan.
    unique("scans_tenant_id_id").on(table.tenantId, table.id),
    index("scans_of_tenant").on(table.tenantId, table.createdAt, table.id),
    index("scans_unfinished")
      .on(table.updatedAt)
      .where(sql`${table.status} in ('pending', 'running')`),
    check(
      "scans_status",
      sql`${table.status} in ('pending', 'running', 'completed', 'cancelled', 'failed', 'expired')`,
    ),
    check("scans_ended_at", sql`(${table.endedAt} is not null) = (${table.status} not in ('pending', 'running'))`),
    check(
      "scans_counts",
      sql`least(${table.checksTotal}, ${table.checksDone}, ${table.pass}, ${table.fail}, ${table.manual}) >= 0`,
    ),
    ...tenantPolicies("scans", table.tenantId),
  ],
);

export const findings = pgTable(
  "findings",
  {
    tenantId: uuid("tenant_id").notNull(),
    scanId: uuid("scan_id").notNull(),
    /** Stable over runs: the same check, resource and org give the same value. */
    fingerprint: text("fingerprint").notNull(),
    check: text("check").notNull(),
    status: text("status").$type<Status>().notNull(),
    reason: text("reason").$type<ManualReason>(),
    severity: text("severity").$type<Severity>().notNull(),
    resourceType: text("resource_type").notNull(),
    resourceId: text("resource_id").notNull(),
    resourceName: text("resource_name").notNull(),
    expected: text("expected").notNull(),
    actual: text("actual").notNull(),
    detail: text("detail").notNull(),
    /** `partial`: a PASS that is narrower than its rule. */
    coverage: text("coverage").$type<Coverage>().notNull().default("full"),
    /** What of the rule a partial PASS leaves to a person. */
    coverageReason: text("coverage_reason"),
    /** Does not count for the check's status. */
    advisory: boolean("advisory").notNull().default(false),
    createdAt: instant("created_at").notNull().defaultNow(),
  },
  (table) => [
    // Led by the tenant, so that an insert cannot learn from a conflict what another tenant stored.
    primaryKey({ name: "findings_pkey", columns: [table.tenantId, table.scanId, table.fingerprint] }),
    foreignKey({
      name: "findings_scan",
      columns: [table.tenantId, table.scanId],
      foreignColumns: [scans.tenantId, scans.id],
    }).onDelete("cascade"),
    index("findings_of_scan").on(table.tenantId, table.scanId, table.createdAt, table.fingerprint),
    check("findings_status", sql`${table.status} in ('PASS', 'FAIL', 'MANUAL')`),
    check("findings_coverage", sql`${table.coverage} in ('full', 'partial')`),
    check("findings_severity", sql`${table.severity} in ('high', 'medium', 'low')`),
    ...tenantPolicies("findings", table.tenantId),
  ],
);
