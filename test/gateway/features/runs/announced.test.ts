import { expect, test } from "vitest";
import { runTasks, type Feature } from "../../../../gateway/features/features.ts";
import { monitors } from "../../../../gateway/features/runs/monitors.ts";
import { announceScanUpdated, scans } from "../../../../gateway/features/runs/scans.ts";
import { recordEvents } from "../../../../gateway/library/record_events.ts";
import { silentLog } from "../../../../gateway/observability/log.ts";
import { AppError } from "../../../../shared/app_error.ts";
import type { Publisher } from "../../../../shared/send_event.ts";
import { createMonitorClient, newMonitor } from "../../../support/monitor_client.ts";
import { createScan, openTestGateway, readStream, startTestGateway } from "../../../support/test_gateway.ts";
import { openTestPglite } from "../../../support/pglite.ts";
import { watchDatabase } from "../../../support/watched_database.ts";

const gateway = await openTestGateway();

const silence = (id: string, seconds: number) =>
  gateway.owner(`update runs set updated_at = now() - make_interval(secs => $1) where id = $2::uuid`, seconds, id);

async function silentScan(minutes: number) {
  const scan = await createScan(gateway, gateway.acme);
  await silence(scan.id, minutes * 60);
  return scan;
}

async function silentMonitor(intervalSeconds: number, seconds: number) {
  const monitor = createMonitorClient(gateway);
  await monitor.put({ ...newMonitor, interval_seconds: intervalSeconds });
  await silence(monitor.id, seconds);
  return monitor;
}

const statusOf = async (path: string) => (await gateway.read<{ readonly status: string }>(path)).status;

/** Three gateways that sweep at once: what they published together. */
async function sweepAtOnce(feature: Feature) {
  const gateways = [recordEvents(), recordEvents(), recordEvents()];
  await Promise.all(
    gateways.map(({ sendEvent }) => runTasks([feature], { database: gateway.database, sendEvent, log: silentLog })),
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
  expect(await statusOf(`/scans/${silent.id}`)).toBe("expired");
  expect(await statusOf(`/scans/${alive.id}`)).toBe("pending");
});

test("a running monitor that is silent for three intervals, at least a minute, is published as stale once", async () => {
  const stale = await silentMonitor(20, 60);
  await silentMonitor(20, 55);
  const slow = await silentMonitor(21, 63);
  await silentMonitor(22, 61);
  const stopped = await silentMonitor(10, 0);
  await stopped.patch({ status: "stopped" });
  await silence(stopped.id, 3600);
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
  await silence(stale.id, 61);
  expect((await sweepAtOnce(monitors)).filter(({ type }) => type === "monitor.updated")).toHaveLength(2);
});

const options = { database: gateway.database, log: silentLog, attemptsAfterMs: [0, 1, 1] };

test("an end is published again where the answer of the broker was lost, once on each channel", async () => {
  const { id } = await silentScan(16);
  const { sendEvent, events } = recordEvents();
  let refusals = 3;
  const losing: Publisher["sendEvent"] = async (...event) => {
    refusals -= 1;
    if (refusals >= 0) throw new Error("the answer was lost");
    await sendEvent(...event);
  };
  await runTasks([scans], { ...options, sendEvent: losing });
  const ends = events.map(({ channel, data }) => `${channel.split(":")[0]} ${JSON.stringify(data).slice(12, 48)}`);
  expect(ends.toSorted()).toEqual([`scan ${id}`, `tenant ${id}`]);
});

test("an update that waits for its second is not published when the scan has ended meanwhile", async () => {
  const { id } = await createScan(gateway, gateway.acme);
  const { sendEvent, events } = recordEvents();
  const announce = () => announceScanUpdated({ id, tenantId: gateway.acme.id }, { ...options, sendEvent });
  await announce();
  const late = announce();
  await gateway.send("PATCH", `/scans/${id}`, { status: "completed" });
  await late;
  expect(events.map(({ type }) => type)).toEqual(["scan.updated"]);
});

test("a tenant's scan is announced although another tenant, with a scan of the same id, has an update that waits", async () => {
  const id = crypto.randomUUID();
  const { acme, globex } = gateway;
  for (const { apiKey } of [acme, globex]) await gateway.send("PUT", `/scans/${id}`, {}, `Api-Key ${apiKey}`);
  const { sendEvent, events } = recordEvents();
  const announced = [globex, globex, acme].map((tenant) =>
    announceScanUpdated({ id, tenantId: tenant.id }, { ...options, sendEvent }),
  );
  await Promise.all(announced);
  expect(events.filter(({ channel }) => channel.includes(acme.id))).toHaveLength(1);
});

test("an end that the database has stored is published, although its answer was lost", async () => {
  let isAnswerLost = false;
  const losing = watchDatabase(await openTestPglite(), async (run, { queries }) => {
    const rows = await run();
    if (!isAnswerLost || !queries.some(({ sql: text }) => text.startsWith('update "runs"'))) return rows;
    isAnswerLost = false;
    throw new AppError("unavailable", "The database cannot be reached");
  });
  const own = await startTestGateway({}, { database: losing });
  const scan = await createScan(own, own.acme);
  const stream = await own.send("GET", `/scans/${scan.id}/event-stream`);
  isAnswerLost = true;
  expect((await own.send("PATCH", `/scans/${scan.id}`, { status: "failed" })).status).toBe(200);
  expect(await readStream(stream, /^\u0000/)).toContain(`event: scan.end\ndata: {"scan_id":"${scan.id}`);
  await own.stop();
});

test("an unavailable broker costs the event, not the state; an unavailable database is retried later", async () => {
  const scan = await silentScan(20);
  const monitor = await silentMonitor(10, 61);
  const unavailable = () => Promise.reject(new AppError("unavailable", "away"));
  const warnings: unknown[] = [];
  const log = { ...silentLog, warn: (fields: unknown) => void warnings.push(fields) };
  const lost = { ...options, sendEvent: unavailable, log };
  await runTasks([scans, monitors], { ...lost, database: watchDatabase(gateway.database, unavailable) });
  await runTasks([scans, monitors], lost);
  expect(JSON.stringify(warnings)).toContain(scan.channel);
  expect(await statusOf(`/scans/${scan.id}`)).toBe("expired");
  expect(await statusOf(`/monitors/${monitor.id}`)).toBe("stale");
});
