import { sql } from "drizzle-orm";
import {
  bigint,
  boolean,
  check,
  customType,
  foreignKey,
  index,
  doublePrecision,
  integer,
  jsonb,
  pgTable,
  primaryKey,
  text,
  timestamp,
  unique,
  uniqueIndex,
  uuid,
} from "drizzle-orm/pg-core";
import type { Coverage, ManualReason, Severity, Status } from "../shared/report.ts";
import type { ChangeCause, NewChange } from "../shared/schemas/change.ts";
import type { LogStatus, StoredMonitorStatus } from "../shared/schemas/monitor_requests.ts";
import type { ScanStatus } from "../shared/schemas/scan.ts";
import type { AttestedStatus, DecisionKind } from "../shared/schemas/decision.ts";
import type { ActorKind, Role, Scope } from "../shared/schemas/team.ts";
import type { Delivery, DeliveryStatus, WebhookEvent, WebhookFormat } from "../shared/schemas/webhook.ts";
import { currentTenantId, policies, tenantPolicies } from "./policies.ts";

/** Milliseconds, as exact as a JavaScript `Date`, so that a cursor made of one finds its place again. */
const instant = (name: string) => timestamp(name, { withTimezone: true, precision: 3, mode: "date" });

const bytes = customType<{ data: Uint8Array }>({ dataType: () => "bytea" });

export const tenants = pgTable(
  "tenants",
  {
    id: uuid("id").primaryKey().defaultRandom(),
    name: text("name").notNull(),
    /** How many scans were deleted so far: a client that knows it has missed no deletion. Counted by a trigger. */
    deletedScans: bigint("deleted_scans", { mode: "number" }).notNull().default(0),
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
    role: text("role").$type<Role>().notNull().default("operator"),
    createdAt: instant("created_at").notNull().defaultNow(),
  },
  (table) => [
    primaryKey({ name: "memberships_pkey", columns: [table.tenantId, table.userId] }),
    index("memberships_user_id").on(table.userId),
    index("memberships_by_time").on(table.tenantId, table.createdAt, table.userId),
    index("memberships_admins")
      .on(table.tenantId, table.userId)
      .where(sql`${table.role} = 'admin'`),
    check("memberships_role", sql`${table.role} in ('viewer', 'operator', 'admin')`),
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
    check("api_keys_hash_is_sha256_hex", sql`${table.hash} ~ '^[0-9a-f]{64}$'`),
    check(
      "api_keys_scopes",
      sql`${table.scopes} <@ array['read', 'publish', 'admin'] and cardinality(${table.scopes}) between 1 and 3`,
    ),
    check("api_keys_name_length", sql`length(${table.name}) between 1 and 200`),
    ...tenantPolicies("api_keys", table.tenantId),
  ],
);

/** Who did what. Rows are written by triggers (`scanstream.write_audit`), so that no way of writing leaves one out. */
export const auditEvents = pgTable(
  "audit_events",
  {
    /** Rises in the order of writing. */
    number: bigint("number", { mode: "number" }).primaryKey().generatedByDefaultAsIdentity(),
    tenantId: uuid("tenant_id")
      .notNull()
      .references(() => tenants.id, { onDelete: "cascade" }),
    actorKind: text("actor_kind").$type<ActorKind>().notNull(),
    /** The JWT's `sub` or the API key's id; empty for an operator's command and for the gateway itself. */
    actorId: text("actor_id").notNull(),
    /** Such as `member.created`. */
    action: text("action").notNull(),
    targetType: text("target_type").notNull(),
    targetId: text("target_id").notNull(),
    /** What the row was made with, or of each changed column the value before and after. Never a secret. */
    detail: jsonb("detail").$type<Readonly<Record<string, unknown>>>().notNull(),
    createdAt: instant("created_at").notNull().defaultNow(),
  },
  (table) => [
    index("audit_events_by_time").on(table.tenantId, table.createdAt, table.number),
    index("audit_events_by_action").on(table.tenantId, table.action, table.createdAt, table.number),
    index("audit_events_by_actor").on(table.tenantId, table.actorId, table.createdAt, table.number),
    index("audit_events_by_target").on(table.tenantId, table.targetId, table.createdAt, table.number),
    check("audit_events_actor_kind", sql`${table.actorKind} in ('user', 'api_key', 'operator', 'gateway')`),
    ...tenantPolicies("audit_events", table.tenantId),
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
    // The scan before a scan of the same org, for what is new in it.
    index("scans_completed")
      .on(table.tenantId, sql`coalesce(${table.orgUrl}, '')`, table.endedAt)
      .where(sql`${table.status} = 'completed'`),
    index("scans_unfinished")
      .on(table.updatedAt)
      .where(sql`${table.status} in ('pending', 'running')`),
    index("scans_unfinished_of_tenant")
      .on(table.tenantId, table.createdAt, table.id)
      .where(sql`${table.status} in ('pending', 'running')`),
    index("scans_ended_of_tenant")
      .on(table.tenantId, table.createdAt, table.id)
      .where(sql`${table.endedAt} is not null`),
    // In the order in which they are deleted once they are old.
    index("scans_ended")
      .on(table.endedAt)
      .where(sql`${table.endedAt} is not null`),
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

/** The ids of scans that were deleted: they are not used again. Written by a trigger of `scans`. */
export const deletedScans = pgTable(
  "deleted_scans",
  {
    tenantId: uuid("tenant_id")
      .notNull()
      .references(() => tenants.id, { onDelete: "cascade" }),
    id: uuid("id").notNull(),
    deletedAt: instant("deleted_at").notNull().defaultNow(),
  },
  (table) => [
    primaryKey({ name: "deleted_scans_pkey", columns: [table.tenantId, table.id] }),
    index("deleted_scans_by_time").on(table.deletedAt),
    ...tenantPolicies("deleted_scans", table.tenantId),
  ],
);

/** The finished report of a scan. Its row is written after its parts: without it there is no report. */
export const scanReports = pgTable(
  "scan_reports",
  {
    tenantId: uuid("tenant_id").notNull(),
    scanId: uuid("scan_id").notNull(),
    uploadId: uuid("upload_id").notNull(),
    /** Of the report as it was sent; the same bytes have the same digest. */
    digest: text("digest").notNull(),
    /** Of the report as it was sent. */
    sizeBytes: integer("size_bytes").notNull(),
    partCount: integer("part_count").notNull(),
    createdAt: instant("created_at").notNull().defaultNow(),
  },
  (table) => [
    primaryKey({ name: "scan_reports_pkey", columns: [table.tenantId, table.scanId] }),
    foreignKey({
      name: "scan_reports_scan",
      columns: [table.tenantId, table.scanId],
      foreignColumns: [scans.tenantId, scans.id],
    }).onDelete("cascade"),
    check("scan_reports_sizes", sql`${table.sizeBytes} >= 0 and ${table.partCount} > 0`),
    ...tenantPolicies("scan_reports", table.tenantId),
  ],
);

/** A compressed report in pieces that pass through every driver. */
export const scanReportParts = pgTable(
  "scan_report_parts",
  {
    tenantId: uuid("tenant_id").notNull(),
    scanId: uuid("scan_id").notNull(),
    /** Of two that are stored at once each has its own parts. */
    uploadId: uuid("upload_id").notNull(),
    /** From 0. */
    part: integer("part").notNull(),
    /** Gzip. */
    content: bytes("content").notNull(),
    createdAt: instant("created_at").notNull().defaultNow(),
  },
  (table) => [
    primaryKey({
      name: "scan_report_parts_pkey",
      columns: [table.tenantId, table.scanId, table.uploadId, table.part],
    }),
    foreignKey({
      name: "scan_report_parts_scan",
      columns: [table.tenantId, table.scanId],
      foreignColumns: [scans.tenantId, scans.id],
    }).onDelete("cascade"),
    ...tenantPolicies("scan_report_parts", table.tenantId),
  ],
);

export const monitors = pgTable(
  "monitors",
  {
    /** Made by the producer. */
    id: uuid("id").primaryKey(),
    tenantId: uuid("tenant_id")
      .notNull()
      .references(() => tenants.id, { onDelete: "cascade" }),
    orgUrl: text("org_url").notNull(),
    clientId: text("client_id"),
    status: text("status").$type<StoredMonitorStatus>().notNull().default("running"),
    intervalSeconds: integer("interval_seconds").notNull(),
    checksTotal: integer("checks_total").notNull().default(0),
    /** Counts of checks. */
    pass: integer("pass").notNull().default(0),
    fail: integer("fail").notNull().default(0),
    manual: integer("manual").notNull().default(0),
    logStatus: text("log_status").$type<LogStatus>().notNull().default("unknown"),
    errorCode: text("error_code"),
    errorDetail: text("error_detail"),
    /** The last time that was not read of the log. */
    gapFrom: instant("gap_from"),
    gapTo: instant("gap_to"),
    lastLookAt: instant("last_look_at"),
    lagSeconds: doublePrecision("lag_seconds"),
    lastChangeAt: instant("last_change_at"),
    /** How many numbers were given to changes; the next one gets the one after it. */
    lastChangeNumber: bigint("last_change_number", { mode: "number" }).notNull().default(0),
    createdAt: instant("created_at").notNull().defaultNow(),
    /** The producer's last heartbeat; a running monitor without one for too long is stale. */
    updatedAt: instant("updated_at").notNull().defaultNow(),
    startedAt: instant("started_at").notNull().defaultNow(),
    /** From then on a running monitor is stale, unless its next heartbeat comes before: `isStale` of the gateway has it too. */
    staleFrom: instant("stale_from").generatedAlwaysAs(
      sql`(updated_at at time zone 'UTC' + make_interval(secs => greatest(3 * interval_seconds, 60))) at time zone 'UTC'`,
    ),
    /** Set when it was published that it is stale; null again with the next heartbeat. */
    staleAt: instant("stale_at"),
    /** Set with the status `ended` and only then. */
    endedAt: instant("ended_at"),
    /** The row stays, so that its id is not used again; its changes do not. */
    deletedAt: instant("deleted_at"),
    /** SHA-256 of the doorbell's secret in lower-case hex; null: it has no doorbell. */
    doorbellHash: text("doorbell_hash"),
    doorbellRungAt: instant("doorbell_rung_at"),
  },
  (table) => [
    // What changes refer to, so that a change cannot belong to another tenant's monitor.
    unique("monitors_tenant_id_id").on(table.tenantId, table.id),
    index("monitors_present")
      .on(table.tenantId, table.createdAt, table.id)
      .where(sql`${table.deletedAt} is null`),
    index("monitors_due")
      .on(table.staleFrom)
      .where(sql`${table.status} = 'running' and ${table.staleAt} is null`),
    index("monitors_ended")
      .on(table.endedAt)
      .where(sql`${table.endedAt} is not null and ${table.deletedAt} is null`),
    check("monitors_status", sql`${table.status} in ('running', 'stopped', 'ended')`),
    check("monitors_log_status", sql`${table.logStatus} in ('reading', 'unreadable', 'unknown')`),
    check("monitors_ended_at", sql`(${table.endedAt} is not null) = (${table.status} = 'ended')`),
    check("monitors_deleted_at", sql`${table.deletedAt} is null or ${table.endedAt} is not null`),
    check("monitors_counts", sql`least(${table.checksTotal}, ${table.pass}, ${table.fail}, ${table.manual}) >= 0`),
    check("monitors_doorbell_hash_is_sha256_hex", sql`${table.doorbellHash} ~ '^[0-9a-f]{64}$'`),
    ...tenantPolicies("monitors", table.tenantId),
  ],
);

/** Verdicts that moved, in the order they were stored. */
export const changes = pgTable(
  "changes",
  {
    tenantId: uuid("tenant_id").notNull(),
    monitorId: uuid("monitor_id").notNull(),
    /** Made by the producer, so that a change that is sent again is stored once. */
    id: uuid("id").notNull(),
    /** Rises with each change of the monitor: the clock of the producer may go back. */
    number: bigint("number", { mode: "number" }).notNull(),
    check: text("check").notNull(),
    fingerprint: text("fingerprint").notNull(),
    resourceType: text("resource_type").notNull(),
    resourceId: text("resource_id").notNull(),
    resourceName: text("resource_name").notNull(),
    /** Null: the finding is new. */
    fromStatus: text("from_status").$type<Status>(),
    fromReason: text("from_reason").$type<ManualReason>(),
    /** Null: the finding is gone. */
    toStatus: text("to_status").$type<Status>(),
    toReason: text("to_reason").$type<ManualReason>(),
    actual: text("actual").notNull(),
    seenAt: instant("seen_at").notNull(),
    cause: text("cause").$type<ChangeCause>().notNull(),
    explainedBy: jsonb("explained_by").$type<NewChange["explained_by"]>().notNull(),
    createdAt: instant("created_at").notNull().defaultNow(),
  },
  (table) => [
    primaryKey({ name: "changes_pkey", columns: [table.tenantId, table.monitorId, table.id] }),
    foreignKey({
      name: "changes_monitor",
      columns: [table.tenantId, table.monitorId],
      foreignColumns: [monitors.tenantId, monitors.id],
    }).onDelete("cascade"),
    uniqueIndex("changes_of_monitor").on(table.tenantId, table.monitorId, table.number),
    index("changes_of_finding").on(table.tenantId, table.monitorId, table.fingerprint, table.number),
    index("changes_of_check").on(table.tenantId, table.monitorId, table.check, table.number),
    check("changes_from", sql`${table.fromStatus} in ('PASS', 'FAIL', 'MANUAL')`),
    check("changes_to", sql`${table.toStatus} in ('PASS', 'FAIL', 'MANUAL')`),
    check("changes_from_or_to", sql`${table.fromStatus} is not null or ${table.toStatus} is not null`),
    check("changes_cause", sql`${table.cause} in ('log', 'reconciliation', 'start')`),
    ...tenantPolicies("changes", table.tenantId),
  ],
);

/** Receivers of a tenant's events, https://www.standardwebhooks.com */
export const webhooks = pgTable(
  "webhooks",
  {
    id: uuid("id").primaryKey().defaultRandom(),
    tenantId: uuid("tenant_id")
      .notNull()
      .references(() => tenants.id, { onDelete: "cascade" }),
    url: text("url").notNull(),
    /** The name in the URL: so many requests at once go to one. */
    host: text("host").notNull(),
    events: text("events").array().$type<WebhookEvent[]>().notNull(),
    format: text("format").$type<WebhookFormat>().notNull().default("json"),
    enabled: boolean("enabled").notNull().default(true),
    disabledReason: text("disabled_reason").$type<"gone">(),
    /** The newest first, then the one before it. The application role cannot read them: it gets them with a delivery. */
    secret: text("secret").array().notNull(),
    secretRotatedAt: instant("secret_rotated_at"),
    createdAt: instant("created_at").notNull().defaultNow(),
    updatedAt: instant("updated_at").notNull().defaultNow(),
  },
  (table) => [
    // What deliveries refer to, so that a delivery cannot belong to another tenant's webhook.
    unique("webhooks_tenant_id_id").on(table.tenantId, table.id),
    index("webhooks_of_tenant").on(table.tenantId, table.createdAt, table.id),
    check(
      "webhooks_events",
      sql`${table.events} <@ array['scan.end', 'finding.created', 'finding.updated', 'monitor.error'] and cardinality(${table.events}) between 1 and 4`,
    ),
    check("webhooks_format", sql`${table.format} in ('json', 'slack')`),
    check(
      "webhooks_disabled_reason",
      sql`${table.disabledReason} is null or (${table.disabledReason} = 'gone' and not ${table.enabled})`,
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
    index("webhook_deliveries_due")
      .on(table.nextAttemptAt)
      .where(sql`${table.status} = 'pending'`),
    index("webhook_deliveries_old").on(table.createdAt),
    check("webhook_deliveries_status", sql`${table.status} in ('pending', 'delivered', 'dead')`),
    check("webhook_deliveries_delivered_at", sql`(${table.deliveredAt} is not null) = (${table.status} = 'delivered')`),
    ...tenantPolicies("webhook_deliveries", table.tenantId),
  ],
);

/** What people decided about findings. A row is never removed: it ends, and stays as the record of what was decided. */
export const decisions = pgTable(
  "decisions",
  {
    id: uuid("id").primaryKey().defaultRandom(),
    tenantId: uuid("tenant_id")
      .notNull()
      .references(() => tenants.id, { onDelete: "cascade" }),
    kind: text("kind").$type<DecisionKind>().notNull(),
    check: text("check").notNull(),
    /** Of a waiver: an exact id or name, or a pattern of names; null: every finding of the check. */
    resource: text("resource"),
    /** Of an attestation. */
    status: text("status").$type<AttestedStatus>(),
    reason: text("reason").notNull(),
    authorKind: text("author_kind").$type<ActorKind>().notNull(),
    /** The JWT's `sub`, or the API key's id. */
    authorId: text("author_id").notNull(),
    authorName: text("author_name").notNull(),
    /** Null: every organization of the tenant. */
    orgUrl: text("org_url"),
    /** As it was given, a day or a time; null: until it is withdrawn. */
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
      .where(sql`${table.endedAt} is null`),
    index("decisions_of_tenant").on(table.tenantId, table.createdAt, table.id),
    index("decisions_of_kind").on(table.tenantId, table.kind, table.createdAt, table.id),
    index("decisions_of_check").on(table.tenantId, table.check, table.createdAt, table.id),
    index("decisions_not_ended_by_time")
      .on(table.tenantId, table.createdAt, table.id)
      .where(sql`${table.endedAt} is null`),
    check("decisions_kind", sql`${table.kind} in ('waiver', 'attestation')`),
    check("decisions_status", sql`${table.status} in ('PASS', 'FAIL', 'NOT_APPLICABLE')`),
    check(
      "decisions_of_kind",
      sql`(${table.kind} = 'attestation') = (${table.status} is not null) and (${table.kind} = 'waiver' or ${table.resource} is null)`,
    ),
    check("decisions_expires_at", sql`(${table.expires} is null) = (${table.expiresAt} is null)`),
    check("decisions_ended_reason", sql`${table.endedReason} in ('withdrawn', 'contradicted', 'expired')`),
    check("decisions_ended_at", sql`(${table.endedAt} is null) = (${table.endedReason} is null)`),
    ...tenantPolicies("decisions", table.tenantId),
  ],
);
