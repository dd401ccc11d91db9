import { randomUUID } from "node:crypto";
import { type Column, getTableColumns } from "drizzle-orm";
import type { PgTable } from "drizzle-orm/pg-core";
import { audit } from "../../drizzle/audit.ts";
import type { Database } from "../../drizzle/database.ts";
import {
  apiKeys,
  changes,
  decisions,
  findings,
  memberships,
  observations,
  organizations,
  published,
  runs,
  scanReports,
  tenants,
} from "../../drizzle/schema.ts";
import { everyTenant, write } from "../../drizzle/transactions.ts";

/** A tenant with at least two rows in every table, none of them shared with another tenant (but one row of its own in `tenants`). */
export interface SeededTenant {
  readonly id: string;
  readonly scanIds: readonly string[];
  readonly monitorIds: readonly string[];
  readonly hashes: readonly string[];
}

const aMonitor = { kind: "monitor", orgUrl: "", origin: "", intervalSeconds: 10, startedAt: new Date() };

export async function seedTenant(database: Database, name = "acme"): Promise<SeededTenant> {
  const id = randomUUID();
  const subs = [`one@${id}`, `two@${id}`];
  const scanIds = [randomUUID(), randomUUID()];
  const monitorIds = [randomUUID(), randomUUID()];
  const organizationIds = [randomUUID(), randomUUID()];
  const hashes = [randomHash(), randomHash()];
  /** Rows in an order that meets their foreign keys. */
  const rows: readonly (readonly [table: PgTable, given: readonly object[]])[] = [
    [tenants, [{ id, name }]],
    [memberships, subs.map((userId) => ({ userId }))],
    [apiKeys, hashes.map((hash) => ({ hash }))],
    [runs, scanIds.map((scanId) => ({ id: scanId, kind: "scan" }))],
    [findings, scanIds.map((scanId) => ({ scanId }))],
    [scanReports, scanIds.map((scanId) => ({ scanId }))],
    [runs, monitorIds.map((monitorId) => ({ ...aMonitor, id: monitorId }))],
    [changes, monitorIds.map((monitorId) => ({ monitorId, toStatus: "FAIL" }))],
    [published, scanIds.map((producer) => ({ producer }))],
    [organizations, organizationIds.map((orgUrl) => ({ id: orgUrl, orgUrl }))],
    [observations, organizationIds.map((organizationId) => ({ organizationId }))],
    [decisions, subs.map((resource) => ({ kind: "waiver", resource }))],
  ];
  await write(database, everyTenant, async (db) => {
    for (const [table, given] of rows)
      await db.insert(table).values(given.map((values) => rowOf(table, { tenantId: id, ...values })));
    await audit(
      db,
      subs.map((sub) => ({ tenantId: id, action: "member.created", targetId: sub, detail: {} })),
    );
  });
  return { id, scanIds, monitorIds, hashes };
}

/** A row with these values, and with something in every other column that needs it. */
export function rowOf<Table extends PgTable>(table: Table, given: object): Table["$inferInsert"] {
  const values = Object.entries(getTableColumns(table)).flatMap(([name, column]) => {
    if (name in given) return [[name, given[name as keyof typeof given]]];
    return column.notNull && !column.hasDefault ? [[name, anyValueOf(column)]] : [];
  });
  return Object.fromEntries(values) as Table["$inferInsert"];
}

function anyValueOf({ dataType, columnType }: Column): unknown {
  if (columnType === "PgUUID") return randomUUID();
  if (dataType === "number") return 1;
  if (dataType === "boolean") return false;
  if (dataType === "date") return new Date("2026-11-22T09:30:00Z");
  if (dataType === "json") return {};
  return dataType === "custom" ? new Uint8Array(1) : "x";
}

export function randomHash(): string {
  return (randomUUID() + randomUUID()).replaceAll("-", "");
}
