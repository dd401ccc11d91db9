import { and, desc, eq, sql, type SQL } from "drizzle-orm";
import { looks, monitors, organizations, scans, verdicts } from "../../../drizzle/schema.ts";
import { auditRows } from "../../../drizzle/audit.ts";
import type { TenantDatabase } from "../../../drizzle/transactions.ts";
import { NotFound } from "../../../shared/app_error.ts";
import type { Organization } from "../../../shared/schemas/organization.ts";
import type { Access } from "../../auth/membership.ts";
import { afterCursor, type PageRequest } from "../../http/paging.ts";
import { deleteInBatches, deleteSome } from "../delete_in_batches.ts";
import type { ListedOrganization } from "./organization.ts";

/** The organizations of the transaction's tenant. They are written by triggers, with what they come from. */

/** Newest first, one row beyond the limit. */
export function selectOrganizations(db: TenantDatabase, page: PageRequest): Promise<readonly ListedOrganization[]> {
  return selectListed(db, afterCursor(page, organizations.createdAt, organizations.id), page.limit + 1);
}

/** Rejects with `NotFound` for another tenant's as for one that never was. */
export async function selectOrganization(db: TenantDatabase, id: string): Promise<ListedOrganization> {
  const [row] = await selectListed(db, eq(organizations.id, id), 1);
  if (row === undefined) throw new NotFound("No such organization");
  return row;
}

async function selectListed(
  db: TenantDatabase,
  condition: SQL | undefined,
  limit: number,
): Promise<readonly ListedOrganization[]> {
  const rows = await selectRows(db, { trend }, { condition, limit });
  return rows.map(({ trend: days, ...row }) => ({ ...row, trend: JSON.parse(days) as Organization["trend"] }));
}

/** Without their trend, the newest first, up to the limit. */
export function selectOrganizationRows(
  db: TenantDatabase,
  { condition, limit }: { readonly condition?: SQL; readonly limit: number },
) {
  return selectRows(db, {}, { condition, limit });
}

function selectRows<More extends Readonly<Record<string, SQL.Aliased<string>>>>(
  db: TenantDatabase,
  more: More,
  { condition, limit }: { readonly condition: SQL | undefined; readonly limit: number },
) {
  const { id, status, staleAt, updatedAt, intervalSeconds } = monitors;
  // Among several the one that runs, and of those the one that reported last.
  const monitor = db
    .select({ id, status, staleAt, updatedAt, intervalSeconds })
    .from(monitors)
    .where(and(eq(monitors.tenantId, organizations.tenantId), eq(monitors.organizationId, organizations.id)))
    .orderBy(desc(sql`${status} = 'running'`), desc(updatedAt))
    .limit(1)
    .as("monitor");
  return db
    .select({
      stored: organizations,
      lastScanId: scans.id,
      monitor: {
        id: monitor.id,
        status: monitor.status,
        staleAt: monitor.staleAt,
        updatedAt: monitor.updatedAt,
        intervalSeconds: monitor.intervalSeconds,
      },
      ...more,
    })
    .from(organizations)
    .leftJoinLateral(monitor, sql`true`)
    .leftJoin(scans, and(eq(scans.tenantId, organizations.tenantId), eq(scans.id, organizations.lastScanId)))
    .where(condition)
    .orderBy(desc(organizations.createdAt), desc(organizations.id))
    .limit(limit);
}

/** A day that has no row is as monitors left the day before it, if one of them looked. */
const trend = sql<string>`(
  select json_agg(json_build_object('day', days.day, 'fail', case
    when stored.known then stored.failed_count
    when exists (
      select from looks where looks.tenant_id = ${organizations.tenantId} and looks.organization_id = ${organizations.id}
        and looks.known_to >= days.day::timestamp at time zone 'UTC'
        and (looks.known_to > days.day::timestamp at time zone 'UTC' or looks.known_from = looks.known_to)
        and looks.known_from < (days.day + 1)::timestamp at time zone 'UTC' and looks.verdicts is null
    ) then (
      select case when earlier.known then earlier.failing_count end from organization_days as earlier
      where earlier.tenant_id = ${organizations.tenantId} and earlier.organization_id = ${organizations.id} and earlier.day < days.day
      order by earlier.day desc limit 1
    ) end) order by days.day)::text
  from (select (now() at time zone 'UTC')::date - n as day from generate_series(0, 29) as n) as days
  left join (
    select recent.day, recent.known, recent.failed_count from organization_days as recent
    where recent.tenant_id = ${organizations.tenantId} and recent.organization_id = ${organizations.id}
      and recent.day >= (now() at time zone 'UTC')::date - 29
  ) as stored on stored.day = days.day
)`.as("trend");

/**
 * Deletes an organization with its history. Scans and monitors stay, and what they find from now on begins another history. Large ones
 * take several transactions, and the same call again goes on where one was interrupted. Rejects with `NotFound`.
 */
export async function deleteOrganization(write: Access["write"], id: string): Promise<void> {
  const isDeleted = await deleteInBatches(
    (maxRows) =>
      write(async (db) => {
        if (await deleteSome(db, verdicts, eq(verdicts.organizationId, id), maxRows)) return null;
        if (await deleteSome(db, looks, eq(looks.organizationId, id), maxRows)) return null;
        const [row] = await db.delete(organizations).where(eq(organizations.id, id)).returning();
        if (row === undefined) return false;
        await auditRows(db, "organization.deleted", organizations, [row]);
        await db.update(monitors).set({ organizationId: null }).where(eq(monitors.organizationId, id));
        return true;
      }),
    (step) => step !== null,
  );
  if (isDeleted !== true) throw new NotFound("No such organization");
}
