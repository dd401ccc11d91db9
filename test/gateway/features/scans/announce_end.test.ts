import { expect, test } from "vitest";
import { announceEnd } from "../../../../gateway/features/scans/announce_end.ts";
import { silentLog } from "../../../../gateway/observability/log.ts";
import { AppError } from "../../../../shared/app_error.ts";
import { createPublisher } from "../../../../shared/send_event.ts";
import { watchDatabase } from "../../../support/watched_database.ts";
import { openTestPglite } from "../../../support/pglite.ts";
import { createScan, readStream, startTestGateway } from "../../../support/test_gateway.ts";

const scan = {
  id: "7b0a6f0e-6f3c-4a0c-9a46-3f4c0d7a1b11",
  tenantId: "0b54a9d2-6d0c-4ae2-8f0a-0d3f8a6f2a11",
  status: "completed",
  pass: 1,
  fail: 2,
  manual: 3,
  not_applicable: 4,
} as const;

function failing(times: number) {
  const attempts: string[] = [];
  const onTenant: string[] = [];
  const { sendEvent } = createPublisher({
    async publish(channel, message) {
      const isOnTenant = channel.startsWith("tenant:");
      (isOnTenant ? onTenant : attempts).push(message);
      if (!isOnTenant && attempts.length <= times) throw new Error("the answer was lost");
    },
  });
  return { attempts, onTenant, sendEvent };
}

test("the end is published again when the broker's answer was lost, and not after it was taken", async () => {
  const { attempts, onTenant, sendEvent } = failing(2);
  await announceEnd(scan, { sendEvent, log: silentLog, attemptsAfterMs: [0, 1, 1, 1] });
  expect(attempts).toHaveLength(3);
  expect(onTenant).toEqual(attempts.slice(2));
  expect(new Set(attempts)).toEqual(
    new Set([
      `{"type":"scan.end","data":{"scan_id":"${scan.id}","status":"completed","pass":1,"fail":2,"manual":3,"not_applicable":4}}`,
    ]),
  );
});

test("an unavailable broker is a warning, and never rejects", async () => {
  const { attempts, sendEvent } = failing(Infinity);
  const warnings: unknown[] = [];
  const log = { ...silentLog, warn: (fields: unknown) => void warnings.push(fields) };
  await announceEnd(scan, { sendEvent, log, attemptsAfterMs: [0, 1] });
  expect(attempts).toHaveLength(2);
  expect(warnings).toHaveLength(1);
});

test("an end that the database has stored is published, although its answer was lost", async () => {
  const database = await openTestPglite();
  let isAnswerLost = false;
  const losing = watchDatabase(database, async (run, { queries }) => {
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
