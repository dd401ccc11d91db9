import { sql } from "drizzle-orm";
import {
  boolean,
  check,
  foreignKey,
  index,
  integer,
  jsonb,
  pgTable,
  primaryKey,
  text,
  unique,
  uuid,
} from "drizzle-orm/pg-core";
import type { ManualReason, Severity, Status } from "../../shared/report.ts";
import type { FindingNotes } from "../../shared/schemas/finding_notes.ts";
import type { ScanStatus } from "../../shared/schemas/scan.ts";
import { tenantPolicies } from "../policies.ts";
import { bytes, instant } from "./columns.ts";
import { ofTenant } from "./people.ts";

export const scans = pgTable(
  "scans",
  {
    /** Chosen by the producer, and unique in the tenant: what another tenant has shows in no answer. */
    id: uuid("id").notNull().defaultRandom(),
    tenantId: ofTenant(),
    orgUrl: text("org_url"),
    clientId: text("client_id"),
    /** The revision of the STIG: `okta-idaas-stig-v1r2`. */
    benchmark: text("benchmark"),
    status: text("status").$type<ScanStatus>().notNull().default("pending"),
    checksTotal: integer("checks_total").notNull().default(0),
    checksDone: integer("checks_done").notNull().default(0),
    /** Counts of rules. */
    pass: integer("pass").notNull().default(0),
    fail: integer("fail").notNull().default(0),
    manual: integer("manual").notNull().default(0),
    /** Rules that do not apply to the organization; they are not in `manual`. */
    notApplicable: integer("not_applicable").notNull().default(0),
    cancelRequested: boolean("cancel_requested").notNull().default(false),
    /** Who registered it: the JWT's `sub`, or the API key's id. */
    createdBy: text("created_by"),
    /** The body it was registered with, so that the same request again is the same scan; null for an imported scan. */
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
    index("scans_completed_of_org")
      .on(table.tenantId, table.orgUrl, table.endedAt)
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
      sql`least(${table.checksTotal}, ${table.checksDone}, ${table.pass}, ${table.fail}, ${table.manual}, ${table.notApplicable}) >= 0`,
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
    /** With reason `partly_automated`: what was automated passed. */
    automated: text("automated").$type<"PASS">(),
    /** The id of the object whose change makes it pass. */
    cause: text("cause"),
    /** Texts that no query compares: a new one needs no column. */
    notes: jsonb("notes").$type<FindingNotes>().notNull().default({}),
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
    check("findings_automated", sql`${table.automated} = 'PASS'`),
    check("findings_severity", sql`${table.severity} in ('high', 'medium', 'low')`),
    ...tenantPolicies("findings", table.tenantId),
  ],
);

/** The finished report of a scan, as it was sent. */
export const scanReports = pgTable(
  "scan_reports",
  {
    tenantId: uuid("tenant_id").notNull(),
    scanId: uuid("scan_id").notNull(),
    /** Gzip. */
    body: bytes("body").notNull(),
    /** Digest of `body`, in hexadecimal digits. */
    sha256: text("sha256").notNull(),
    /** Length of `body`. */
    sizeBytes: integer("size_bytes").notNull(),
    storedAt: instant("stored_at").notNull().defaultNow(),
  },
  (table) => [
    primaryKey({ name: "scan_reports_pkey", columns: [table.tenantId, table.scanId] }),
    foreignKey({
      name: "scan_reports_scan",
      columns: [table.tenantId, table.scanId],
      foreignColumns: [scans.tenantId, scans.id],
    }).onDelete("cascade"),
    check("scan_reports_size", sql`${table.sizeBytes} = octet_length(${table.body})`),
    ...tenantPolicies("scan_reports", table.tenantId),
  ],
);
