import { and, eq, sql } from "drizzle-orm";
import { findings } from "../../../drizzle/schema.ts";
import type { TenantDatabase } from "../../../drizzle/transactions.ts";
import { NotFound } from "../../../shared/app_error.ts";
import { isUuid, type ChannelName } from "../../../shared/channel_name.ts";
import { toCheckName } from "../../../shared/rule_names.ts";
import { storedFindingSchema, type StoredFinding } from "../../../shared/schemas/finding.ts";
import { mapNotes, notesOf } from "../../../shared/schemas/finding_notes.ts";
import { scanEventSchemas, type FindingCreated } from "../../../shared/schemas/scan.ts";
import { parseBody } from "../../http/body.ts";
import { afterCursor, maxPageLength, type PageRequest } from "../../http/query.ts";
import { invalidField } from "../../http/problem.ts";
import type { PublishedEvent } from "../../streaming/published.ts";
import { emptyRow, replaceRows, selectUpTo, toFields } from "../stored_rows.ts";
import { scanStore } from "./store.ts";

export type FindingRow = typeof findings.$inferSelect;

/**
 * Stores the findings that are published of a scan that has not ended, each once by its fingerprint: the same one again replaces
 * what was stored under it. It is also the producer's heartbeat. Rejects with `NotFound`, `AppError("conflict")` or `InvalidBody`.
 */
export async function storeFindings(
  db: TenantDatabase,
  events: readonly PublishedEvent[],
  { resourceId: scanId, tenantId }: ChannelName,
): Promise<readonly []> {
  if (!isUuid(scanId)) throw new NotFound("No such scan");
  const given = events.flatMap((event) => (event.type === "finding.created" ? [requireFinding(event, scanId)] : []));
  await scanStore.updateOpen(db, scanId, { updatedAt: sql`now()` });
  // A statement may not write the same row twice, and the last one counts.
  const rows = new Map(given.map((finding) => [finding.fingerprint, toRow(tenantId, finding)]));
  if (rows.size > 0)
    await db.execute(replaceRows(findings, [...rows.values()], ["tenant_id", "scan_id", "fingerprint"]));
  return [];
}

function requireFinding({ payload, pointer }: PublishedEvent, scanId: string): FindingCreated {
  const finding = parseBody(scanEventSchemas["finding.created"], payload, pointer);
  if (finding.scan_id === scanId) return finding;
  throw invalidField(`${pointer}/scan_id`, `expected ${scanId}, the scan of the channel`);
}

function toRow(tenantId: string, finding: FindingCreated): object {
  const { length: size } = JSON.stringify(finding);
  const own = { tenant_id: tenantId, check: toCheckName(finding.check), notes: notesOf(finding), size };
  return { ...emptyRow(findings), ...finding, ...own };
}

/** In the order they were stored, one row beyond the page. Rejects with `NotFound`. */
export async function selectFindings(
  db: TenantDatabase,
  scanId: string,
  page: PageRequest,
): Promise<readonly FindingRow[]> {
  const { createdAt, fingerprint, size } = findings;
  const where = and(eq(findings.scanId, scanId), afterCursor(page, [createdAt, fingerprint], ">"));
  const by = sql`${createdAt}, ${fingerprint}`;
  const found = await selectUpTo(db, findings, { where, by, limit: page.limit, size, maxSize: maxPageLength });
  return scanStore.ofRun(db, scanId, found);
}

/** A stored finding, with the words of the `finding.created` event, so that a client merges both. */
export function toFinding(row: FindingRow): StoredFinding {
  return toFields(
    storedFindingSchema,
    { table: findings, row },
    mapNotes((name) => row.notes[name] ?? null),
  );
}
