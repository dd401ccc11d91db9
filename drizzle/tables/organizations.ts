import { sql } from "drizzle-orm";
import {
  boolean,
  check,
  date,
  foreignKey,
  index,
  integer,
  jsonb,
  pgTable,
  primaryKey,
  text,
  unique,
  uniqueIndex,
  uuid,
  type AnyPgColumn,
} from "drizzle-orm/pg-core";
import type { ManualReason, Severity, Status } from "../../shared/report.ts";
import type { ChangeCause } from "../../shared/schemas/change.ts";
import { tenantPolicies } from "../policies.ts";
import { instant } from "./columns.ts";
import { ofTenant } from "./people.ts";

/**
 * The history of organizations. Triggers of `scans`, `monitors` and `changes` write it, in the statement that stores what it comes
 * from. The application adds rows where it imports a tenant, and changes none.
 */

export const organizations = pgTable(
  "organizations",
  {
    tenantId: ofTenant(),
    id: uuid("id").notNull().defaultRandom(),
    /** The origin, in lower case. */
    orgUrl: text("org_url").notNull(),
    /** Counts of rules, by the verdict that was seen last. */
    pass: integer("pass").notNull().default(0),
    fail: integer("fail").notNull().default(0),
    manual: integer("manual").notNull().default(0),
    notApplicable: integer("not_applicable").notNull().default(0),
    unknown: integer("unknown").notNull().default(0),
    cat1Open: integer("cat1_open").notNull().default(0),
    cat2Open: integer("cat2_open").notNull().default(0),
    cat3Open: integer("cat3_open").notNull().default(0),
    openExposures: integer("open_exposures").notNull().default(0),
    /** May be deleted since. */
    lastScanId: uuid("last_scan_id"),
    lastScanAt: instant("last_scan_at"),
    createdAt: instant("created_at").notNull().defaultNow(),
  },
  (table) => [
    primaryKey({ name: "organizations_pkey", columns: [table.tenantId, table.id] }),
    unique("organizations_org_url").on(table.tenantId, table.orgUrl),
    index("organizations_of_tenant").on(table.tenantId, table.createdAt, table.id),
    ...tenantPolicies("organizations", table.tenantId),
  ],
);

/** When somebody looked: a scan from its start to its end, and each time without a gap in which a monitor polled. */
export const looks = pgTable(
  "looks",
  {
    tenantId: uuid("tenant_id").notNull(),
    organizationId: uuid("organization_id").notNull(),
    /** The scan or the monitor, which may be deleted since. */
    sourceId: uuid("source_id").notNull(),
    knownFrom: instant("known_from").notNull(),
    /** Grows while a monitor polls. */
    knownTo: instant("known_to").notNull(),
    /** For a scan: PASS, FAIL or the reason of MANUAL, by check. Null for a monitor: it has rows in `verdicts`. */
    verdicts: jsonb("verdicts").$type<Readonly<Record<string, "PASS" | "FAIL" | ManualReason>>>(),
  },
  (table) => [
    primaryKey({
      name: "looks_pkey",
      columns: [table.tenantId, table.organizationId, table.sourceId, table.knownFrom],
    }),
    ofOrganization("looks", table),
    index("looks_by_time").on(table.tenantId, table.organizationId, table.knownTo),
    index("looks_old").on(table.knownFrom),
    check("looks_times", sql`${table.knownFrom} <= ${table.knownTo}`),
    ...tenantPolicies("looks", table.tenantId),
  ],
);

/**
 * What a monitor or a scan said about a rule from a moment on. A row with a number is a verdict change. One without a
 * number only repeats, for a monitor, what was known already.
 */
export const verdicts = pgTable(
  "verdicts",
  {
    tenantId: uuid("tenant_id").notNull(),
    organizationId: uuid("organization_id").notNull(),
    check: text("check").notNull(),
    /** Among the rule's rows, in the order of writing. */
    position: integer("position").notNull(),
    /** The scan or the monitor, which may be deleted since. */
    sourceId: uuid("source_id").notNull(),
    isScan: boolean("is_scan").notNull(),
    status: text("status").$type<Status>().notNull(),
    reason: text("reason").$type<ManualReason>(),
    knownAt: instant("known_at").notNull(),
    cause: text("cause").$type<ChangeCause | "scan">().notNull(),
    actor: jsonb("actor").$type<HistoryActor>(),
    number: integer("number"),
    notBefore: instant("not_before"),
    fingerprints: text("fingerprints").array(),
  },
  (table) => [
    primaryKey({ name: "verdicts_pkey", columns: [table.tenantId, table.organizationId, table.check, table.position] }),
    ofOrganization("verdicts", table),
    uniqueIndex("verdicts_changes")
      .on(table.tenantId, table.organizationId, table.check, table.number)
      .where(sql`${table.number} is not null`),
    index("verdicts_by_time").on(table.tenantId, table.organizationId, table.check, table.knownAt),
    index("verdicts_of_source").on(
      table.tenantId,
      table.organizationId,
      table.check,
      table.sourceId,
      table.knownAt,
      table.position,
    ),
    index("verdicts_old").on(table.knownAt),
    check("verdicts_status", sql`${table.status} in ('PASS', 'FAIL', 'MANUAL')`),
    check("verdicts_reason", sql`(${table.status} = 'MANUAL') = (${table.reason} is not null)`),
    check(
      "verdicts_cause",
      sql`${table.cause} in ('scan', 'log', 'reconciliation', 'start', 'decision', 'org_policy')`,
    ),
    check("verdicts_change", sql`(${table.number} is null) = (${table.fingerprints} is null)`),
    ...tenantPolicies("verdicts", table.tenantId),
  ],
);

/** The verdict of each rule that was seen last, and the number of its last change. */
export const ruleStates = pgTable(
  "rule_states",
  {
    tenantId: uuid("tenant_id").notNull(),
    organizationId: uuid("organization_id").notNull(),
    check: text("check").notNull(),
    severity: text("severity").$type<Severity>().notNull(),
    status: text("status").$type<Status>().notNull(),
    reason: text("reason").$type<ManualReason>(),
    knownAt: instant("known_at").notNull(),
    /** The position of the row that opened the open exposure; null: no exposure is open. */
    openPosition: integer("open_position"),
    lastPosition: integer("last_position").notNull().default(0),
    lastNumber: integer("last_number").notNull().default(0),
  },
  (table) => [
    primaryKey({ name: "rule_states_pkey", columns: [table.tenantId, table.organizationId, table.check] }),
    ofOrganization("rule_states", table),
    ...tenantPolicies("rule_states", table.tenantId),
  ],
);

/** For the trend: the UTC days on which a scan ended or a verdict changed. A day without a row is like the day before it. */
export const organizationDays = pgTable(
  "organization_days",
  {
    tenantId: uuid("tenant_id").notNull(),
    organizationId: uuid("organization_id").notNull(),
    day: date("day", { mode: "string" }).notNull(),
    /** False: nothing but what could not be read. */
    known: boolean("known").notNull(),
    /** Checks that were seen failing on that day. */
    failed: text("failed").array().notNull().default([]),
    /** Checks that monitors saw failing last. */
    failing: text("failing").array().notNull().default([]),
    /** A list of organizations reads no names. */
    failedCount: integer("failed_count").generatedAlwaysAs(sql`cardinality(failed)`),
    failingCount: integer("failing_count").generatedAlwaysAs(sql`cardinality(failing)`),
  },
  (table) => [
    primaryKey({ name: "organization_days_pkey", columns: [table.tenantId, table.organizationId, table.day] }),
    ofOrganization("organization_days", table),
    index("organization_days_old").on(table.day),
    ...tenantPolicies("organization_days", table.tenantId),
  ],
);

/** A row goes with its organization. */
function ofOrganization(
  name: string,
  columns: { readonly tenantId: AnyPgColumn; readonly organizationId: AnyPgColumn },
) {
  return foreignKey({
    name: `${name}_organization`,
    columns: [columns.tenantId, columns.organizationId],
    foreignColumns: [organizations.tenantId, organizations.id],
  }).onDelete("cascade");
}

export interface HistoryActor {
  readonly id: string | null;
  readonly login: string | null;
  readonly name: string | null;
}
