import { eq } from "drizzle-orm";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { Database } from "../../../../drizzle/database.ts";
import { scans } from "../../../../drizzle/schema.ts";
import { write } from "../../../../drizzle/transactions.ts";
import { announceScanEnd, announceScanUpdated } from "../../../../gateway/features/runs/announce_runs.ts";
import type { ScanRow } from "../../../../gateway/features/runs/run.ts";
import { silentLog } from "../../../../gateway/observability/log.ts";
import { AppError } from "../../../../shared/app_error.ts";
import { createPublisher } from "../../../../shared/send_event.ts";
import { openTestPglite } from "../../../support/pglite.ts";
import { openTestDatabase } from "../../../support/route_app.ts";
import { tenantId } from "../../../support/stream_server.ts";
import { createScan, readStream, startTestGateway } from "../../../support/test_gateway.ts";
import { watchDatabase } from "../../../support/watched_database.ts";

let database: Database;
let published: { readonly channel: string; readonly type: string; readonly done: unknown }[] = [];
let refusals = 0;

const { sendEvent } = createPublisher({
  async publish(channel, message) {
    if (refusals > 0) {
      refusals -= 1;
      throw new Error("the answer was lost");
    }
    const { type, data } = JSON.parse(message) as { type: string; data: { checks_done: unknown } };
    published.push({ channel: channel.split(":")[0] ?? "", type, done: data.checks_done });
  },
});

beforeAll(async () => {
  database = await openTestDatabase();
});
afterAll(() => database.close());
beforeEach(() => {
  published = [];
  refusals = 0;
});

async function createRow(): Promise<ScanRow> {
  const [row] = await write(database, { tenantId }, (db) => db.insert(scans).values({ tenantId }).returning());
  if (row === undefined) throw new Error("No scan was made");
  return row;
}

async function store({ id }: ScanRow, change: Partial<ScanRow>): Promise<ScanRow> {
  const [row] = await write(database, { tenantId }, (db) =>
    db.update(scans).set(change).where(eq(scans.id, id)).returning(),
  );
  if (row === undefined) throw new Error("No such scan");
  return row;
}

const announceUpdate = (row: ScanRow) =>
  announceScanUpdated(row, { database, sendEvent, log: silentLog, nowMs: Date.now });
const updates = () => published.map(({ type, done }) => [type, done]);

test("an update that waits for its second is not published when the scan has ended meanwhile", async () => {
  const scan = await createRow();
  await announceUpdate(await store(scan, { status: "running", checksDone: 1 }));
  const late = announceUpdate(await store(scan, { checksDone: 2 }));
  await store(scan, { status: "completed", endedAt: new Date() });
  await late;
  expect(updates()).toEqual([["scan.updated", 1]]);
});

test("the end is published again where the broker's answer was lost; a broker that never takes it is a warning", async () => {
  const row = { ...(await createRow()), status: "completed" } as const;
  refusals = 3;
  await announceScanEnd(row, { sendEvent, log: silentLog, attemptsAfterMs: [0, 1, 1] });
  expect(published.map(({ channel, type }) => `${channel} ${type}`).toSorted()).toEqual([
    "scan scan.end",
    "tenant scan.end",
  ]);
  refusals = Infinity;
  const warnings: unknown[] = [];
  const log = { ...silentLog, warn: (fields: unknown) => void warnings.push(fields) };
  await announceScanEnd(row, { sendEvent, log, attemptsAfterMs: [0, 1] });
  expect(warnings, "one for each channel").toHaveLength(2);
});

test("an end that the database has stored is published, although its answer was lost", async () => {
  let isAnswerLost = false;
  const losing = watchDatabase(await openTestPglite(), async (run, { queries }) => {
    const rows = await run();
    if (!isAnswerLost || !queries.some(({ sql }) => sql.startsWith('update "scans"'))) return rows;
    isAnswerLost = false;
    throw new AppError("unavailable", "The database cannot be reached");
  });
  const gateway = await startTestGateway({}, { database: losing });
  const as = `Api-Key ${gateway.acme.apiKey}`;
  const own = await createScan(gateway, gateway.acme);
  const stream = await gateway.request(own.event_stream, { as });
  isAnswerLost = true;
  const patched = await gateway.request(`/api/v1/scans/${own.id}`, { method: "PATCH", json: { status: "failed" }, as });
  expect(patched.status).toBe(200);
  expect(await readStream(stream, /^\u0000/)).toContain('event: scan.end\ndata: {"scan_id":"' + own.id);
  await gateway.stop();
});
