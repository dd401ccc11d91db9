import { getTableColumns, isNotNull, sql } from "drizzle-orm";
import {
  bigint,
  boolean,
  check,
  doublePrecision,
  index,
  integer,
  jsonb,
  pgTable,
  primaryKey,
  text,
  uniqueIndex,
  uuid,
} from "drizzle-orm/pg-core";
import type { ManualReason, Severity, Status } from "../../shared/report.ts";
import type { NewChange } from "../../shared/schemas/change.ts";
import type { AttestedStatus } from "../../shared/schemas/decision.ts";
import type { FindingNotes } from "../../shared/schemas/finding_notes.ts";
import type { Monitor, StoredMonitorStatus } from "../../shared/schemas/monitor.ts";
import type { ScanStatus } from "../../shared/schemas/scan.ts";
import { tenantPolicies } from "../policies.ts";
import { bytes, goesWith, instant, type Key, type RunKind } from "./columns.ts";
import { ofTenant } from "./people.ts";

/** Columns that only scans use. */
const ofScans = () => ({
  checksDone: integer("checks_done").notNull().default(0),
  cancelRequested: boolean("cancel_requested").notNull().default(false),
  /** The JWT's `sub` or the API key's id that registered it. */
  createdBy: text("created_by"),
  /** The body it was registered with, so that the same request again is the same scan. */
  registration: text("registration"),
});

/** Columns that only monitors use. */
const ofMonitors = () => ({
  /** 0: a scan. */
  intervalSeconds: integer("interval_seconds").notNull().default(0),
  logStatus: text("log_status").$type<Monitor["log_status"]>().notNull().default("unknown"),
  errorCode: text("error_code"),
  errorDetail: text("error_detail"),
  lastLookAt: instant("last_look_at"),
  lagSeconds: doublePrecision("lag_seconds"),
  lastChangeAt: instant("last_change_at"),
  /** How many numbers were given to changes; the next one gets the one after it. */
  lastChangeNumber: bigint("last_change_number", { mode: "number" }).notNull().default(0),
  /** From then on a running monitor is stale, unless its next heartbeat comes before: after `longestSilenceMs`. */
  staleFrom: instant("stale_from").generatedAlwaysAs(
    sql`(updated_at at time zone 'UTC' + make_interval(secs => greatest(3 * interval_seconds, 60))) at time zone 'UTC'`,
  ),
  /** Set when it was published that it is stale; null again with the next heartbeat. */
  staleAt: instant("stale_at"),
});

/** Conditions of indexes, without parameters: with these a prepared statement would not find the index. */
export const isUnfinishedScan = sql`kind = 'scan' and status in ('pending', 'running')`;
export const isFreshMonitor = sql`kind = 'monitor' and status = 'running' and stale_at is null`;

/** Scans and monitors. Each is of one organization. */
export const runs = pgTable(
  "runs",
  {
    /** Chosen by the producer, and unique for the tenant and the kind: what another tenant has shows in no answer. */
    id: uuid("id").notNull().defaultRandom(),
    tenantId: ofTenant(),
    kind: text("kind").$type<RunKind>().notNull(),
    clientId: text("client_id"),
    /** The revision of the STIG: `okta-idaas-stig-v1r2`. */
    benchmark: text("benchmark"),
    checksTotal: integer("checks_total").notNull().default(0),
    /** Counts of rules. */
    pass: integer("pass").notNull().default(0),
    fail: integer("fail").notNull().default(0),
    manual: integer("manual").notNull().default(0),
    /** Rules that do not apply to the organization; they are not in `manual`. */
    notApplicable: integer("not_applicable").notNull().default(0),
    createdAt: instant("created_at").notNull().defaultNow(),
    /** The producer's last heartbeat; without one for too long a scan is expired and a monitor stale. */
    updatedAt: instant("updated_at").notNull().defaultNow(),
    /** Set with an end status and only then. */
    endedAt: instant("ended_at"),
    orgUrl: text("org_url"),
    /** The organization's address: the origin of `orgUrl`, in lower case. */
    origin: text("origin"),
    status: text("status").$type<ScanStatus | StoredMonitorStatus>().notNull().default("pending"),
    ...ofScans(),
    startedAt: instant("started_at"),
    ...ofMonitors(),
  },
  (table) => [
    primaryKey({ name: "runs_pkey", columns: [table.tenantId, table.kind, table.id] }),
    index("runs_of_tenant").on(table.tenantId, table.kind, table.createdAt, table.id),
    index("runs_unfinished_of_tenant").on(table.tenantId, table.createdAt, table.id).where(isUnfinishedScan),
    index("runs_of_organization").on(table.tenantId, table.kind, table.origin, table.createdAt, table.id),
    index("scans_silent_due").on(table.updatedAt).where(isUnfinishedScan),
    index("monitors_silent_due").on(table.staleFrom).where(isFreshMonitor),
    // In the order in which they are deleted once they are old.
    index("runs_ended_due").on(table.endedAt).where(isNotNull(table.endedAt)),
    check("runs_ended_at", sql`(${table.endedAt} is null) = (${table.status} in ('pending', 'running', 'stopped'))`),
    check("runs_of_monitors", sql`kind = 'scan' or num_nulls(org_url, origin, started_at) = 0`),
    check("runs_interval", sql`(kind = 'scan') = (interval_seconds = 0)`),
    ...tenantPolicies("runs", table.tenantId),
  ],
);

/** The columns that runs of this kind use. Drizzle builds a statement column by column: those of the other kind would cost CPU time. */
export function columnsOfRuns(kind: RunKind) {
  const unused = Object.keys(kind === "scan" ? ofMonitors() : ofScans());
  const used = Object.entries(getTableColumns(runs)).filter(([property]) => !unused.includes(property));
  // Typed as all columns: nobody asks a scan for what only monitors have.
  return Object.fromEntries(used) as ReturnType<typeof getTableColumns<typeof runs>>;
}

const runKey: Key = [runs.tenantId, runs.kind, runs.id];

/** The kind of the run that a row belongs to: a finding cannot belong to a monitor. */
const ofKind = (kind: RunKind) => text("kind").generatedAlwaysAs(sql.raw(`'${kind}'`));

/** A finding, as a scan has it or as a change left it, with the decisions that its run had in a file, a checklist or as its own limits. */
const ofFinding = () => ({
  check: text("check").notNull(),
  /** Stable over runs: the same check, resource and org give the same value. */
  fingerprint: text("fingerprint").notNull(),
  resourceType: text("resource_type").notNull().default(""),
  resourceId: text("resource_id").notNull().default(""),
  resourceName: text("resource_name").notNull(),
  /** Does not count for the check's status. */
  advisory: boolean("advisory").notNull().default(false),
  waiverReason: text("waiver_reason"),
  waiverBy: text("waiver_by"),
  waiverExpires: text("waiver_expires"),
  attestationStatus: text("attestation_status").$type<AttestedStatus>(),
  attestationReason: text("attestation_reason"),
  attestationBy: text("attestation_by"),
  attestationExpires: text("attestation_expires"),
  expected: text("expected").notNull().default(""),
  actual: text("actual").notNull().default(""),
  createdAt: instant("created_at").notNull().defaultNow(),
});

export const findings = pgTable(
  "findings",
  {
    tenantId: uuid("tenant_id").notNull(),
    kind: ofKind("scan"),
    scanId: uuid("scan_id").notNull(),
    ...ofFinding(),
    status: text("status").$type<Status>().notNull(),
    reason: text("reason").$type<ManualReason>(),
    severity: text("severity").$type<Severity>().notNull(),
    detail: text("detail").notNull(),
    /** With reason `partly_automated`: what was automated passed. */
    automated: text("automated").$type<"PASS">(),
    /** The id of the object whose change makes it pass. */
    cause: text("cause"),
    /** Texts that no query compares: a new one needs no column. */
    notes: jsonb("notes").$type<FindingNotes>().notNull().default({}),
    /** Characters of its JSON, so that a page reads no more rows than it holds. */
    size: integer("size").notNull().default(0),
  },
  (table) => [
    // Led by the tenant, so that an insert cannot learn from a conflict what another tenant stored.
    primaryKey({ name: "findings_pkey", columns: [table.tenantId, table.scanId, table.fingerprint] }),
    goesWith("findings_scan", [table.tenantId, table.kind, table.scanId], runKey),
    index("findings_of_scan").on(table.tenantId, table.scanId, table.createdAt, table.fingerprint),
    ...tenantPolicies("findings", table.tenantId),
  ],
);

/** The finished report of a scan, as it was sent. */
export const scanReports = pgTable(
  "scan_reports",
  {
    tenantId: uuid("tenant_id").notNull(),
    kind: ofKind("scan"),
    scanId: uuid("scan_id").notNull(),
    /** Gzip. */
    body: bytes("body").notNull(),
    /** Digest of `body`, in hexadecimal digits. */
    sha256: text("sha256").notNull(),
    /** Length of `body`. */
    sizeBytes: integer("size_bytes").notNull(),
  },
  (table) => [
    primaryKey({ name: "scan_reports_pkey", columns: [table.tenantId, table.scanId] }),
    goesWith("scan_reports_scan", [table.tenantId, table.kind, table.scanId], runKey),
    ...tenantPolicies("scan_reports", table.tenantId),
  ],
);

/** Verdicts that moved, in the order they were stored. */
export const changes = pgTable(
  "changes",
  {
    tenantId: uuid("tenant_id").notNull(),
    kind: ofKind("monitor"),
    monitorId: uuid("monitor_id").notNull(),
    /** Made by the producer, so that a change that is sent again is stored once. */
    id: uuid("id").notNull(),
    /** Rises with each change of the monitor: the clock of the producer may go back. */
    number: bigint("number", { mode: "number" }).notNull(),
    ...ofFinding(),
    /** Null: the finding is new. */
    fromStatus: text("from_status").$type<Status>(),
    fromReason: text("from_reason").$type<ManualReason>(),
    /** Null: the finding is gone. */
    toStatus: text("to_status").$type<Status>(),
    toReason: text("to_reason").$type<ManualReason>(),
    fromWaived: boolean("from_waived").notNull(),
    toWaived: boolean("to_waived").notNull(),
    toPass: text("to_pass"),
    causeId: text("cause_id"),
    /** The verdict of the whole rule after the change. */
    ruleStatus: text("rule_status").$type<Status>().notNull(),
    ruleReason: text("rule_reason").$type<ManualReason>(),
    /** Severity in the producer's catalog. */
    ruleSeverity: text("rule_severity").$type<Severity>().notNull(),
    seenAt: instant("seen_at").notNull(),
    notBefore: instant("not_before"),
    cause: text("cause").$type<NewChange["cause"]>().notNull(),
    explainedBy: jsonb("explained_by").$type<NewChange["explained_by"]>().notNull(),
    also: jsonb("also").$type<NewChange["also"]>().notNull().default([]),
  },
  (table) => [
    primaryKey({ name: "changes_pkey", columns: [table.tenantId, table.monitorId, table.id] }),
    goesWith("changes_monitor", [table.tenantId, table.kind, table.monitorId], runKey),
    uniqueIndex("changes_of_monitor").on(table.tenantId, table.monitorId, table.number),
    index("changes_of_finding").on(table.tenantId, table.monitorId, table.fingerprint, table.number),
    index("changes_of_check").on(table.tenantId, table.monitorId, table.check, table.number),
    ...tenantPolicies("changes", table.tenantId),
  ],
);

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
    ...tenantPolicies("published", table.tenantId),
  ],
);
