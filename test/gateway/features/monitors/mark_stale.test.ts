import { sql } from "drizzle-orm";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Database } from "../../../../drizzle/database.ts";
import { everyTenant, write } from "../../../../drizzle/transactions.ts";
import { markStale } from "../../../../gateway/features/monitors/mark_stale.ts";
import { silentLog } from "../../../../gateway/observability/log.ts";
import { AppError } from "../../../../shared/app_error.ts";
import { createPublisher } from "../../../../shared/send_event.ts";
import { parseMessage } from "../../../../shared/event.ts";
import { watchDatabase } from "../../../support/watched_database.ts";
import { createMonitorClient, newMonitor } from "../../../support/monitor_requests.ts";
import { openTestPglite } from "../../../support/pglite.ts";
import { startTestGateway, type TestGateway } from "../../../support/test_gateway.ts";

let database: Database;
let gateway: TestGateway;
beforeAll(async () => {
  database = await openTestPglite();
  gateway = await startTestGateway({}, { database });
});
afterAll(() => gateway.stop());

async function startMonitor(intervalSeconds: number, silentSeconds: number) {
  const monitor = createMonitorClient(gateway);
  await monitor.put({ ...newMonitor, interval_seconds: intervalSeconds });
  const silence = (seconds: number) =>
    write(database, everyTenant, (db) =>
      db.execute(
        sql`update monitors set updated_at = now() - make_interval(secs => ${seconds}) where id = ${monitor.id}::uuid`,
      ),
    );
  await silence(silentSeconds);
  return { ...monitor, silence };
}

function createGateway() {
  const published: string[] = [];
  const onTenant: string[] = [];
  const { sendEvent } = createPublisher({
    publish: async (channel, message) => void (channel.startsWith("tenant:") ? onTenant : published).push(message),
  });
  const ids = () => published.map((message) => JSON.parse(parseMessage(message)?.data ?? "{}").monitor_id as string);
  return { published, onTenant, sendEvent, ids };
}

test("a running monitor that went silent is published as stale once, by one of several gateways; others are not", async () => {
  const stale = await startMonitor(20, 60);
  await stale.patch({ last_look_at: "2026-11-22T14:03:12.412Z", lag_seconds: 1.5, checks_total: 9, pass: 3, fail: 2 });
  await stale.silence(60);
  await startMonitor(20, 55);
  const slow = await startMonitor(21, 63);
  await startMonitor(22, 61);
  const stopped = await startMonitor(10, 0);
  await stopped.patch({ status: "stopped" });
  await stopped.silence(3600);
  const gateways = [createGateway(), createGateway(), createGateway()];
  const counts = await Promise.all(gateways.map(({ sendEvent }) => markStale({ database, sendEvent, log: silentLog })));
  expect(counts.reduce((sum, count) => sum + count)).toBe(2);
  const ids = gateways.flatMap((each) => each.ids());
  expect(ids.toSorted()).toEqual([stale.id, slow.id].toSorted());
  const onTenant = gateways.flatMap((each) => each.onTenant);
  expect(onTenant.some((message) => message.includes('"organization.updated"'))).toBe(true);
  expect(onTenant.filter((message) => !message.includes('"organization.updated"'))).toEqual(
    gateways.flatMap(({ published }) => published),
  );
  const messages = gateways.flatMap(({ published }) => published).map((message) => parseMessage(message));
  const own = messages.find((message) => message?.data.includes(stale.id));
  expect(own?.type).toBe("monitor.updated");
  expect(JSON.parse(own?.data ?? "")).toEqual({
    monitor_id: stale.id,
    status: "stale",
    log_status: "unknown",
    error_code: null,
    last_look_at: "2026-11-22T14:03:12.412Z",
    lag_seconds: 1.5,
    checks_total: 9,
    pass: 3,
    fail: 2,
    manual: 0,
    not_applicable: 0,
  });
  expect((await stale.read()).status).toBe("stale");
});

test("after its next report it runs, and can go stale again", async () => {
  const { id, patch, put, read, silence } = await startMonitor(10, 61);
  const { sendEvent, ids } = createGateway();
  const run = () => markStale({ database, sendEvent, log: silentLog });
  await run();
  await run();
  expect(ids()).toEqual([id]);
  await patch({});
  expect((await read()).status).toBe("running");
  await silence(61);
  await run();
  await put();
  expect((await read()).status).toBe("running");
  await silence(61);
  await run();
  expect(ids()).toEqual([id, id, id]);
});

test("an unavailable broker costs the event, not the state; an unavailable database is retried later", async () => {
  const { read } = await startMonitor(10, 61);
  const unavailable = () => Promise.reject(new AppError("unavailable", "Not there"));
  const options = { database, ...createPublisher({ publish: unavailable }), log: silentLog, attemptsAfterMs: [0, 1] };
  expect(await markStale(options)).toBe(1);
  expect((await read()).status).toBe("stale");
  expect(await markStale({ ...options, database: watchDatabase(database, unavailable) })).toBe(0);
});
