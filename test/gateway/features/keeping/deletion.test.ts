import { sql } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { write } from "../../../../drizzle/transactions.ts";
import { deletingByAge } from "../../../../gateway/features/retention.ts";
import { runTasks } from "../../../../gateway/features/features.ts";
import { createLog } from "../../../../gateway/observability/log.ts";
import { aChange } from "../../../support/change_builders.ts";
import { buildFinding, createProducer } from "../../../support/producers.ts";
import { reportUpload } from "../../../support/report_builders.ts";
import { createPublisher } from "../../../../shared/send_event.ts";
import { openTestGateway } from "../../../support/test_gateway.ts";

const gateway = await openTestGateway();
const key = `Api-Key ${gateway.acme.apiKey}`;

const producer = createProducer(gateway.url, gateway.acme.apiKey);

const { send, owner } = gateway;

async function fullScan(status?: string): Promise<string> {
  const { id, store, end } = await producer.register({});
  await store([buildFinding(), buildFinding()]);
  if (status !== undefined) await end(status, {});
  expect((await gateway.request(`/api/v1/scans/${id}/report`, { ...reportUpload(id), as: key })).status).toBe(201);
  return id;
}

const rowsOf = (id: string) =>
  owner(
    `select (select count(*)::int from runs where id = $1::uuid) as scans, (select count(*)::int from findings where scan_id = $1::uuid) as findings,
      (select count(*)::int from scan_reports where scan_id = $1::uuid) as reports`,
    id,
  );

test("DELETE takes a scan with its report and more findings than a step deletes, also twice at once while its producer goes on", async () => {
  const id = await fullScan("completed");
  await owner(
    `insert into findings (tenant_id, scan_id, fingerprint, "check", status, severity, resource_type, resource_id, resource_name, expected, actual, detail)
     select $1::uuid, $2::uuid, n::text, 'c', 'FAIL', 'low', '', '', '', '', '', '' from generate_series(1, 4100) as n`,
    gateway.acme.id,
    id,
  );
  // In the order of a batch that is published: the channel's numbers, then the run.
  const deletions: Promise<Response>[] = [];
  await write(gateway.database, { tenantId: gateway.acme.id }, async (db) => {
    const numbers = sql`update published set last_n = last_n where channel like ${`%:${id}`} returning pg_backend_pid() as pid`;
    const { rows } = await db.execute<{ pid: number }>(numbers);
    deletions.push(send("DELETE", `/scans/${id}`), send("DELETE", `/scans/${id}`));
    const waiting = "select count(*) > 0 from pg_stat_activity where $1 = any (pg_blocking_pids(pid))";
    await expect.poll(() => owner(waiting, rows[0]?.pid)).toEqual([[true]]);
    await db.execute(sql`select from runs where id = ${id}::uuid for no key update`);
  });
  const statuses = (await Promise.all(deletions)).map(({ status }) => status);
  expect(statuses.toSorted((one, other) => one - other)).toEqual([204, 404]);
  expect(await rowsOf(id)).toEqual([[0, 0, 0]]);
  expect(await owner("select action from audit_events where target_id = $1", id)).toEqual([["scan.deleted"]]);
});

describe("RETENTION_DAYS", () => {
  const run = async (retentionDays: number | null) => {
    const { database } = gateway;
    const published: string[] = [];
    const log = createLog({ level: "debug", write: () => {} });
    const { sendEvent } = createPublisher({
      publish: async (channel: string, message: string) => void published.push(`${channel} ${message}`),
    });
    const tasks = deletingByAge({ retentionDays, historyDays: 400 });
    await runTasks([{ tasks }], { database, sendEvent, log });
    return published;
  };
  const age = (id: string, days: number) =>
    owner(`update runs set ended_at = now() - make_interval(days => $1) where id = $2::uuid`, days, id);

  test("deletes scans and monitors that ended longer ago with all that belongs to them, and says so on the tenant's stream", async () => {
    const old = await fullScan("completed");
    const young = await fullScan("completed");
    const running = await fullScan();
    const { id: monitor, store, update } = await producer.follow();
    await store([aChange(), aChange()]);
    await update({ status: "ended" });
    await age(old, 31);
    await age(young, 29);
    expect(await run(null)).toEqual([]);
    const published = await run(30);
    const { id: tenantId } = gateway.acme;
    expect(published).toEqual([`tenant:${tenantId}:${tenantId} {"type":"scan.deleted","data":{"scan_id":"${old}"}}`]);
    expect(await rowsOf(old)).toEqual([[0, 0, 0]]);
    expect(await rowsOf(young)).toEqual([[1, 2, 1]]);
    expect(await rowsOf(running)).toEqual([[1, 2, 1]]);
    expect(await owner("select action from audit_events where target_id = $1", old), "nobody did it").toEqual([]);
    await age(monitor, 31);
    expect((await run(30)).join()).toContain(`{"monitor_id":"${monitor}","reason":"deleted"}`);
    expect((await send("GET", `/monitors/${monitor}`)).status).toBe(404);
    expect(await owner("select count(*)::int from changes where monitor_id = $1::uuid", monitor)).toEqual([[0]]);
  });
});
