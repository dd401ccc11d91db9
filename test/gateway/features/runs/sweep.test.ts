import { sql } from "drizzle-orm";
import { expect, test } from "vitest";
import { everyTenant, write } from "../../../../drizzle/transactions.ts";
import type { Feature } from "../../../../gateway/features/features.ts";
import { monitors } from "../../../../gateway/features/runs/monitors.ts";
import { scans } from "../../../../gateway/features/runs/scans.ts";
import { runTasks } from "../../../../gateway/features/tasks.ts";
import { recordEvents } from "../../../../gateway/library/record_events.ts";
import { silentLog } from "../../../../gateway/observability/log.ts";
import { AppError } from "../../../../shared/app_error.ts";
import { createPublisher } from "../../../../shared/send_event.ts";
import { createMonitorClient, newMonitor } from "../../../support/monitor_client.ts";
import { createScan, openTestGateway } from "../../../support/test_gateway.ts";
import { watchDatabase } from "../../../support/watched_database.ts";

const gateway = await openTestGateway();

async function silence(table: "scans" | "monitors", id: string, seconds: number): Promise<void> {
  const since = sql`now() - make_interval(secs => ${seconds})`;
  await write(gateway.database, everyTenant, (db) =>
    db.execute(sql`update ${sql.identifier(table)} set updated_at = ${since} where id = ${id}::uuid`),
  );
}

async function silentScan(minutes: number) {
  const scan = await createScan(gateway, gateway.acme);
  await silence("scans", scan.id, minutes * 60);
  return scan;
}

async function silentMonitor(intervalSeconds: number, seconds: number) {
  const monitor = createMonitorClient(gateway);
  await monitor.put({ ...newMonitor, interval_seconds: intervalSeconds });
  await silence("monitors", monitor.id, seconds);
  return monitor;
}

const statusOf = async (path: string) => {
  const response = await gateway.request(path, { as: `Api-Key ${gateway.acme.apiKey}` });
  return ((await response.json()) as { status: string }).status;
};

/** Three gateways that sweep at once: what they published together. */
async function sweepAtOnce(feature: Feature) {
  const gateways = [recordEvents(), recordEvents(), recordEvents()];
  await Promise.all(
    gateways.map(({ sendEvent }) =>
      runTasks([feature], { database: gateway.database, sendEvent, log: silentLog, nowMs: Date.now }),
    ),
  );
  return gateways.flatMap(({ events }) => events);
}

test("a scan without a heartbeat for 15 minutes is ended once, by one of several gateways; others are left alone", async () => {
  const silent = await silentScan(16);
  const alive = await silentScan(14);
  const events = await sweepAtOnce(scans);
  const { id: tenantId } = gateway.acme;
  const data = { scan_id: silent.id, status: "expired", pass: 0, fail: 0, manual: 0, not_applicable: 0 };
  expect(events).toEqual(
    [silent.channel, `tenant:${tenantId}:${tenantId}`].map((channel) => ({ channel, type: "scan.end", data })),
  );
  expect(await statusOf(`/api/v1/scans/${silent.id}`)).toBe("expired");
  expect(await statusOf(`/api/v1/scans/${alive.id}`)).toBe("pending");
});

test("a running monitor that is silent for three intervals, at least a minute, is published as stale once", async () => {
  const stale = await silentMonitor(20, 60);
  await silentMonitor(20, 55);
  const slow = await silentMonitor(21, 63);
  await silentMonitor(22, 61);
  const stopped = await silentMonitor(10, 0);
  await stopped.patch({ status: "stopped" });
  await silence("monitors", stopped.id, 3600);
  const events = await sweepAtOnce(monitors);
  const updates = events.filter(({ type }) => type === "monitor.updated");
  expect(updates.map(({ data }) => data)).toEqual(
    updates.map(() => expect.objectContaining({ status: "stale", fail: 0, log_status: "unknown" }) as object),
  );
  const ids = updates.map(({ data }) => (data as { readonly monitor_id: string }).monitor_id);
  // Each on its own channel and on its tenant's.
  expect(ids.toSorted()).toEqual([stale.id, stale.id, slow.id, slow.id].toSorted());
  expect(events.some(({ type }) => type === "organization.updated")).toBe(true);
  expect((await stale.read()).status).toBe("stale");
  await stale.patch({});
  expect((await stale.read()).status).toBe("running");
  await silence("monitors", stale.id, 61);
  expect((await sweepAtOnce(monitors)).filter(({ type }) => type === "monitor.updated")).toHaveLength(2);
});

test("an unavailable broker costs the event, not the state; an unavailable database is retried later", async () => {
  const scan = await silentScan(20);
  const monitor = await silentMonitor(10, 61);
  const unavailable = () => Promise.reject(new AppError("unavailable", "away"));
  const publisher = createPublisher({ publish: unavailable });
  const { database } = gateway;
  const options = { database, ...publisher, log: silentLog, nowMs: Date.now, attemptsAfterMs: [0, 1] };
  const away = { ...options, database: watchDatabase(database, unavailable) };
  await runTasks([scans, monitors], away);
  await runTasks([scans, monitors], options);
  expect(await statusOf(`/api/v1/scans/${scan.id}`)).toBe("expired");
  expect(await statusOf(`/api/v1/monitors/${monitor.id}`)).toBe("stale");
});
