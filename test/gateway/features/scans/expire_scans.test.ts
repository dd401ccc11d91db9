import { afterAll, beforeAll, expect, test } from "vitest";
import { sql } from "drizzle-orm";
import type { Database } from "../../../../drizzle/database.ts";
import { everyTenant, write } from "../../../../drizzle/transactions.ts";
import { expireScans } from "../../../../gateway/features/scans/expire_scans.ts";
import { silentLog } from "../../../../gateway/observability/log.ts";
import { AppError } from "../../../../shared/app_error.ts";
import { createPublisher } from "../../../../shared/send_event.ts";
import { watchDatabase } from "../../../support/watched_database.ts";
import { openTestPglite } from "../../../support/pglite.ts";
import { createScan, startTestGateway, type TestGateway } from "../../../support/test_gateway.ts";

let database: Database;
let gateway: TestGateway;
beforeAll(async () => {
  database = await openTestPglite();
  gateway = await startTestGateway({}, { database });
});
afterAll(() => gateway.stop());

async function createSilentScan(minutes: number) {
  const scan = await createScan(gateway, gateway.acme);
  await write(database, everyTenant, (db) =>
    db.execute(
      sql`update scans set updated_at = now() - make_interval(mins => ${minutes}) where id = ${scan.id}::uuid`,
    ),
  );
  return scan;
}

const statusOf = async (id: string) => {
  const response = await gateway.request(`/api/v1/scans/${id}`, { as: `Api-Key ${gateway.acme.apiKey}` });
  return ((await response.json()) as { status: string }).status;
};

function createGateway() {
  const published: string[] = [];
  const { sendEvent } = createPublisher({
    publish: async (channel, message) => void published.push(`${channel} ${message}`),
  });
  return { published, sendEvent };
}

test("a scan without a heartbeat is ended exactly once; others are left alone", async () => {
  const silent = await createSilentScan(16);
  const alive = await createSilentScan(14);
  const askers = [createGateway(), createGateway(), createGateway()];
  const counts = await Promise.all(
    askers.map(({ sendEvent }) => expireScans({ database, sendEvent, log: silentLog, olderThanMinutes: 15 })),
  );
  expect(counts.reduce((sum, count) => sum + count)).toBe(1);
  const { id: tenantId } = gateway.acme;
  expect(askers.flatMap(({ published }) => published)).toEqual(
    [silent.channel, `tenant:${tenantId}:${tenantId}`].map(
      (channel) =>
        `${channel} {"type":"scan.end","data":{"scan_id":"${silent.id}","status":"expired","pass":0,"fail":0,"manual":0,"not_applicable":0}}`,
    ),
  );
  expect(await statusOf(silent.id)).toBe("expired");
  expect(await statusOf(alive.id)).toBe("pending");
  const late = await gateway.request(`/api/v1/scans/${silent.id}`, {
    method: "PATCH",
    json: { status: "completed" },
    as: `Api-Key ${gateway.acme.apiKey}`,
  });
  expect(late.status).toBe(409);
});

test("an unavailable broker costs the event, not the state; an unavailable database is retried later", async () => {
  const scan = await createSilentScan(20);
  const { sendEvent } = createPublisher({ publish: () => Promise.reject(new AppError("unavailable", "away")) });
  expect(await expireScans({ database, sendEvent, log: silentLog, olderThanMinutes: 15 })).toBe(1);
  expect(await statusOf(scan.id)).toBe("expired");
  const away = watchDatabase(database, () => Promise.reject(new AppError("unavailable", "away")));
  expect(await expireScans({ database: away, sendEvent, log: silentLog, olderThanMinutes: 15 })).toBe(0);
});
