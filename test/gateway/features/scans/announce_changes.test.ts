import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { eq } from "drizzle-orm";
import type { Database } from "../../../../drizzle/database.ts";
import { scans } from "../../../../drizzle/schema.ts";
import { write } from "../../../../drizzle/transactions.ts";
import { createChangeAnnouncer } from "../../../../gateway/features/scans/announce_changes.ts";
import type { ScanRow } from "../../../../gateway/features/scans/scan.ts";
import { silentLog } from "../../../../gateway/observability/log.ts";
import { createPublisher } from "../../../../shared/send_event.ts";
import { openTestDatabase } from "../../../support/route_app.ts";
import { tenantId } from "../../../support/stream_server.ts";

let database: Database;
let published: { readonly type: string; readonly done: unknown }[] = [];
let refusals = 0;

const { sendEvent } = createPublisher({
  async publish(channel, message) {
    if (refusals > 0) {
      refusals -= 1;
      throw new Error("the answer was lost");
    }
    expect(channel).toBe(`tenant:${tenantId}:${tenantId}`);
    const { type, data } = JSON.parse(message) as { type: string; data: { checks_done: unknown } };
    published.push({ type, done: data.checks_done });
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

const createAnnouncer = (log = silentLog) => createChangeAnnouncer({ database, sendEvent, log, nowMs: Date.now });
const updates = () => published.map(({ type, done }) => [type, done]);

test("a scan that changes often is published at once, and then once with its last state", async () => {
  const announcer = createAnnouncer();
  const scan = await createRow();
  const rows: ScanRow[] = [];
  for (let done = 1; done <= 20; done += 1) rows.push(await store(scan, { status: "running", checksDone: done }));
  await Promise.all(rows.map((row) => announcer.updated(row)));
  expect(updates()).toEqual([
    ["scan.updated", 1],
    ["scan.updated", 20],
  ]);
  await announcer.updated(await store(scan, { checksDone: 21 }));
  expect(updates().at(-1)).toEqual(["scan.updated", 21]);
});

test("what waits for its second is not published when the scan has ended meanwhile", async () => {
  const announcer = createAnnouncer();
  const scan = await createRow();
  await announcer.updated(await store(scan, { status: "running", checksDone: 1 }));
  const late = announcer.updated(await store(scan, { checksDone: 2 }));
  await store(scan, { status: "completed", endedAt: new Date() });
  await late;
  expect(updates()).toEqual([["scan.updated", 1]]);
});
