import type { PgInsertValue } from "drizzle-orm/pg-core";
import { and, desc, eq, isNotNull, isNull, sql, type SQL } from "drizzle-orm";
import { audit, columnsOf } from "../../../drizzle/audit.ts";
import { requireRoom } from "../../../drizzle/limits.ts";
import { columnsOfRuns, isUnfinishedScan, runs } from "../../../drizzle/schema.ts";
import type { Query, TenantDatabase } from "../../../drizzle/transactions.ts";
import { originOf } from "../../../shared/schemas/web_address.ts";
import { AppError, NotFound } from "../../../shared/app_error.ts";
import { InvalidBody, type FieldProblem } from "../../http/problem.ts";
import type { Access } from "../../auth/membership.ts";
import { newestFirst, type PageRequest } from "../../http/query.ts";
import { deleteNumbering } from "../../streaming/published.ts";
import { deleteInBatches, deleteSome } from "../stored_rows.ts";
import { registerOrganization } from "../organizations/observe.ts";
import { detailsOf, runChannel, type RunKind, type RunRow } from "./run.ts";

export const scanStore = createRunStore("scan");
export const monitorStore = createRunStore("monitor");

/** The newest scans that have not ended. */
export function selectUnfinishedScans(db: TenantDatabase, limit: number): Query<readonly RunRow[]> {
  const query = db.select(columnsOfRuns("scan")).from(runs).where(isUnfinishedScan);
  return query.orderBy(desc(runs.createdAt), desc(runs.id)).limit(limit);
}

/** The runs of one kind, of the transaction's tenant. Another tenant's run is one that never was. */
function createRunStore(kind: RunKind) {
  const columns = columnsOfRuns(kind);
  const isOfKind = eq(runs.kind, kind);
  const isRun = (runId: string) => and(isOfKind, eq(runs.id, runId));

  return { byId, require, select, ofRun, selectPage, insert, lockOpen, updateOpen, report, remove };

  function byId(db: TenantDatabase, runId: string): Query<readonly RunRow[]> {
    return db.select(columns).from(runs).where(isRun(runId));
  }

  /** Throws `NotFound`. */
  function require([row]: readonly RunRow[]): RunRow {
    if (row === undefined) throw new NotFound(`No such ${kind}`);
    return row;
  }

  /** Rejects with `NotFound`. */
  async function select(db: TenantDatabase, runId: string): Promise<RunRow> {
    return require(await byId(db, runId));
  }

  /** A list of a run is empty only where there is such a run. Rejects with `NotFound`. */
  async function ofRun<Item>(db: TenantDatabase, runId: string, items: readonly Item[]): Promise<readonly Item[]> {
    if (items.length === 0) await select(db, runId);
    return items;
  }

  /** Newest first, one row beyond the limit; without an address the runs of all organizations. */
  function selectPage(db: TenantDatabase, page: PageRequest, orgUrl: string | null = null): Query<readonly RunRow[]> {
    const where = orgUrl === null ? isOfKind : and(isOfKind, eq(runs.origin, originOf(orgUrl)));
    return newestFirst(db.select(columns).from(runs).$dynamic(), page, { by: [runs.createdAt, runs.id], where });
  }

  /** Null: there is one with this id. An id is the tenant's own, whether or not another tenant has the same one. */
  async function insert(db: TenantDatabase, values: Omit<PgInsertValue<typeof runs>, "kind">): Promise<RunRow | null> {
    const target = [runs.tenantId, runs.kind, runs.id];
    const [row] = await db
      .insert(runs)
      .values({ ...values, kind })
      .onConflictDoNothing({ target })
      .returning(columns);
    if (row === undefined) return null;
    await registerOrganization(db, row.tenantId, row.origin);
    await requireRoom(db, row.tenantId, `${kind}s`, "organizations");
    return row;
  }

  function isOpen(runId: string): SQL | undefined {
    return and(isRun(runId), isNull(runs.endedAt));
  }

  /** Nothing changes a run after its end: of two that race to end it, one finds it ended. Rejects with `NotFound` or `AppError("conflict")`. */
  async function lockOpen(db: TenantDatabase, runId: string): Promise<RunRow> {
    const row = require(await db.select(columns).from(runs).where(isRun(runId)).for("no key update"));
    if (row.endedAt === null) return row;
    throw new AppError("conflict", `The ${kind} has ended and cannot be changed`);
  }

  /** Rejects as `lockOpen`. */
  async function updateOpen(db: TenantDatabase, runId: string, change: object): Promise<RunRow> {
    const [row] = await db.update(runs).set(change).where(isOpen(runId)).returning(columns);
    return row ?? lockOpen(db, runId);
  }

  /** The producer's report, and its heartbeat. Rejects as `lockOpen`, and with `InvalidBody` for counts that cannot be. */
  async function report(db: TenantDatabase, runId: string, change: Change): Promise<Reported> {
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
  async function remove(write: Access["write"], runId: string, onEnd: (row: RunRow) => Promise<void>): Promise<RunRow> {
    const details = detailsOf[kind];
    const end = { status: kind === "scan" ? "cancelled" : "ended", endedAt: sql`now()` } as const;
    const [open] = await write((db) => db.update(runs).set(end).where(isOpen(runId)).returning(columns));
    if (open !== undefined) await onEnd(open);
    return deleteInBatches(() =>
      write(async (db) => {
        if (await deleteSome(db, details.table, eq(details.owner, runId))) return null;
        // Locked before the run, as a batch that is published locks them: neither waits for the other in turn.
        await deleteNumbering(db, [runChannel(await select(db, runId))]);
        // Another deletion may have been first, and its producer may have made a new one.
        const isEnded = and(isRun(runId), isNotNull(runs.endedAt));
        const row = require(await db.delete(runs).where(isEnded).returning(columns));
        const { kind: _, ...detail } = columnsOf(runs, row);
        await audit(db, [{ tenantId: row.tenantId, action: `${kind}.deleted`, targetId: runId, detail }]);
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

export interface Reported {
  readonly row: RunRow;
  readonly before: RunRow;
}

type Counts = Pick<RunRow, "kind" | "checksDone" | "checksTotal" | "pass" | "fail" | "manual" | "notApplicable">;

/** Null: the counts may be. A scan counts the rules that it has done, a monitor all of them; a total of 0 is not known yet. */
export function findCountProblem(counts: Counts): FieldProblem | null {
  const { kind, checksDone, checksTotal, pass, fail, manual, notApplicable } = counts;
  if (kind === "scan" && checksTotal !== 0 && checksDone > checksTotal)
    return { pointer: "/checks_done", detail: `is ${checksDone}, more than checks_total (${checksTotal})` };
  const [name, most] = kind === "monitor" ? ["checks_total", checksTotal || Infinity] : ["checks_done", checksDone];
  const sum = pass + fail + manual + notApplicable;
  if (sum <= most) return null;
  const detail = `is not consistent: pass, fail, manual and not_applicable add up to ${sum}, more than ${name} (${most})`;
  return { pointer: "", detail };
}
