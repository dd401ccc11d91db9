import { getTableColumns } from "drizzle-orm";
import type { PgColumn, PgTable } from "drizzle-orm/pg-core";
import {
  apiKeys,
  changes,
  decisions,
  findings,
  memberships,
  monitors,
  observations,
  organizations,
  published,
  scanReports,
  scans,
} from "../../../drizzle/schema.ts";

/** A table of which every row belongs to one tenant, by its column `tenant_id`. */
export interface ExportedTable {
  readonly table: PgTable;
  /** With the tenant unique: a page begins after one. */
  readonly key: readonly PgColumn[];
  /** How many rows a page has at most, where they are large. */
  readonly pageRows?: number;
  /** Stay here. */
  readonly secrets?: readonly PgColumn[];
}

/**
 * What an exported tenant has besides its name, each table after the ones that it refers to. The audit trail stays with the gateway
 * where it happened.
 */
export const exportedTables: readonly ExportedTable[] = [
  { table: memberships, key: [memberships.userId] },
  { table: apiKeys, key: [apiKeys.id], secrets: [apiKeys.hash] },
  { table: organizations, key: [organizations.id] },
  { table: observations, key: [observations.runId, observations.knownFrom] },
  { table: scans, key: [scans.id] },
  { table: findings, key: [findings.scanId, findings.fingerprint] },
  { table: scanReports, key: [scanReports.scanId], pageRows: 1 },
  { table: monitors, key: [monitors.id] },
  { table: changes, key: [changes.monitorId, changes.id] },
  { table: published, key: [published.channel, published.producer] },
  { table: decisions, key: [decisions.id] },
];

/** The columns that the file has, by name. */
export function exportedColumns({ table, secrets = [] }: ExportedTable): readonly string[] {
  const secret = new Set(secrets.map(({ name }) => name));
  return Object.values(getTableColumns(table))
    .filter(({ generated }) => generated === undefined)
    .map(({ name }) => name)
    .filter((name) => !secret.has(name));
}
