import { and, desc, eq, isNotNull, isNull, sql, type SQL } from "drizzle-orm";
import { auditRows } from "../../../drizzle/audit.ts";
import { requireRoom } from "../../../drizzle/limits.ts";
import { isUnfinished, scans } from "../../../drizzle/schema.ts";
import type { Query, TenantDatabase } from "../../../drizzle/transactions.ts";
import { originOf } from "../../../shared/schemas/web_address.ts";
import { AppError, NotFound } from "../../../shared/app_error.ts";
import { InvalidBody, type FieldProblem } from "../../http/problem.ts";
import type { Access } from "../../auth/membership.ts";
import { newestFirst, type PageRequest } from "../../http/query.ts";
import { deleteNumbering } from "../../streaming/published.ts";
import { deleteInBatches, deleteSome } from "../stored_rows.ts";
import { registerOrganization } from "../organizations/observe.ts";
import { monitorKind, runChannel, scanKind, type MonitorRow, type RunKind, type RunRow, type ScanRow } from "./run.ts";

export const scanStore = createRunStore(scanKind);
export const monitorStore = createRunStore(monitorKind);

/** The newest scans that have not ended. */
export function selectUnfinishedScans(db: TenantDatabase, limit: number): Query<readonly ScanRow[]> {
  const query = db.select().from(scans).where(isUnfinished(scans.status));
  return query.orderBy(desc(scans.createdAt), desc(scans.id)).limit(limit);
}

export interface RunStore<Row extends RunRow> extends ReturnType<typeof createRunStore<Row>> {}

/** The runs of one kind, of the transaction's tenant. Another tenant's run is one that never was. */
function createRunStore<Row extends RunRow>(kind: RunKind<Row>) {
  const { name, table, details, deletedStatus } = kind;
  const { id, createdAt, endedAt } = table;

  return { byId, require, select, ofRun, selectPage, insert, lockOpen, updateOpen, report, remove };

  function byId(db: TenantDatabase, runId: string): Query<readonly Row[]> {
    return typed(db.select().from(table).where(eq(id, runId)));
  }

  /** Drizzle returns every column of the kind's table, and knows those of scans. */
  function typed(query: unknown): Query<readonly Row[]> {
    return query as Query<readonly Row[]>;
  }

  /** Throws `NotFound`. */
  function require([row]: readonly Row[]): Row {
    if (row === undefined) throw new NotFound(`No such ${name}`);
    return row;
  }

  /** Rejects with `NotFound`. */
  async function select(db: TenantDatabase, runId: string): Promise<Row> {
    return require(await byId(db, runId));
  }

  /** A list of a run is empty only where there is such a run. Rejects with `NotFound`. */
  async function ofRun<Item>(db: TenantDatabase, runId: string, items: readonly Item[]): Promise<readonly Item[]> {
    if (items.length === 0) await select(db, runId);
    return items;
  }

  /** Newest first, one row beyond the limit; without an address the runs of all organizations. */
  function selectPage(db: TenantDatabase, page: PageRequest, orgUrl: string | null = null): Query<readonly Row[]> {
    const where = orgUrl === null ? undefined : eq(table.origin, originOf(orgUrl));
    return typed(newestFirst(db.select().from(table).$dynamic(), page, { by: [createdAt, id], where }));
  }

  /** Null: there is one with this id. An id is the tenant's own, whether or not another tenant has the same one. */
  async function insert(
    db: TenantDatabase,
    values: Partial<Row> & Pick<RunRow, "tenantId" | "orgUrl">,
  ): Promise<Row | null> {
    const target = [table.tenantId, id];
    const given = values as typeof scans.$inferInsert;
    const [row] = await typed(db.insert(table).values(given).onConflictDoNothing({ target }).returning());
    if (row === undefined) return null;
    await registerOrganization(db, row.tenantId, row.orgUrl);
    await requireRoom(db, row.tenantId, `${name}s`, "organizations");
    return row;
  }

  function isOpen(runId: string): SQL | undefined {
    return and(eq(id, runId), isNull(endedAt));
  }

  /** Nothing changes a run after its end: of two that race to end it, one finds it ended. Rejects with `NotFound` or `AppError("conflict")`. */
  async function lockOpen(db: TenantDatabase, runId: string): Promise<Row> {
    const row = require(await typed(db.select().from(table).where(eq(id, runId)).for("no key update")));
    if (row.endedAt === null) return row;
    throw new AppError("conflict", `The ${name} has ended and cannot be changed`);
  }

  /** Rejects as `lockOpen`. */
  async function updateOpen(db: TenantDatabase, runId: string, change: object): Promise<Row> {
    const [row] = await typed(db.update(table).set(change).where(isOpen(runId)).returning());
    return row ?? lockOpen(db, runId);
  }

  /** The producer's report, and its heartbeat. Rejects as `lockOpen`, and with `InvalidBody` for counts that cannot be. */
  async function report(db: TenantDatabase, runId: string, change: Change): Promise<Reported<Row>> {
    const before = await lockOpen(db, runId);
    const problem = findCountProblem({ ...before, ...change });
    if (problem !== null) throw new InvalidBody([problem]);
    const isEnd = change.status !== undefined && !["running", "stopped"].includes(change.status);
    const end = isEnd ? { endedAt: sql`now()` } : {};
    return { before, row: await updateOpen(db, runId, { ...change, ...end, updatedAt: sql`now()` }) };
  }

  /**
   * Deletes a run with all that belongs to it. It ends with the first transaction, so that nothing more is stored of it; `onEnd` is
   * called then. Rejects with `NotFound`. The same call again goes on where one was interrupted.
   */
  async function remove(write: Access["write"], runId: string, onEnd: (row: Row) => Promise<void>): Promise<Row> {
    const end = { status: deletedStatus, endedAt: sql`now()` };
    const [open] = await write(async (db) => typed(db.update(table).set(end).where(isOpen(runId)).returning()));
    if (open !== undefined) await onEnd(open);
    return deleteInBatches(() =>
      write(async (db) => {
        if (await deleteSome(db, details.table, eq(details.owner, runId))) return null;
        // Locked before the run, as a batch that is published locks them: neither waits for the other in turn.
        await deleteNumbering(db, [runChannel(kind, await select(db, runId))]);
        // Another deletion may have been first, and its producer may have made a new one.
        const isEnded = and(eq(id, runId), isNotNull(endedAt));
        const row = require(await typed(db.delete(table).where(isEnded).returning()));
        await auditRows(db, `${name}.deleted`, table, [row]);
        return row;
      }),
    );
  }
}

/** Values by the properties of a row. */
export interface Change {
  readonly status?: RunRow["status"];
  readonly [property: string]: unknown;
}

export interface Reported<Row extends RunRow> {
  readonly row: Row;
  readonly before: Row;
}

type Counts = Pick<MonitorRow, "checksTotal" | "pass" | "fail" | "manual" | "notApplicable"> & {
  readonly checksDone?: number | undefined;
};

/** Null: the counts may be. A scan counts the rules that it has done, a monitor all of them; a total of 0 is not known yet. */
export function findCountProblem(counts: Counts): FieldProblem | null {
  const { checksDone, checksTotal, pass, fail, manual, notApplicable } = counts;
  if (checksDone !== undefined && checksTotal !== 0 && checksDone > checksTotal)
    return { pointer: "/checks_done", detail: `is ${checksDone}, more than checks_total (${checksTotal})` };
  const [name, most] =
    checksDone === undefined ? ["checks_total", checksTotal || Infinity] : ["checks_done", checksDone];
  const sum = pass + fail + manual + notApplicable;
  if (sum <= most) return null;
  const detail = `is not consistent: pass, fail, manual and not_applicable add up to ${sum}, more than ${name} (${most})`;
  return { pointer: "", detail };
}
