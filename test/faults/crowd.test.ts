import { expect, test } from "vitest";
import { createPgDatabase } from "../../drizzle/databases/pg.ts";
import { openOnPostgres } from "../drizzle/open_databases.ts";
import { asAdmin } from "../support/postgres.ts";
import { createScan, startTestGateway } from "../support/test_gateway.ts";

test("streams of a tenant that wait for the database leave connections to another tenant", async () => {
  const opened = await openOnPostgres((url) => createPgDatabase(url));
  const gateway = await startTestGateway({}, { database: opened.database });
  try {
    const as = `Api-Key ${gateway.acme.apiKey}`;
    const scans = await Promise.all(Array.from({ length: 20 }, () => createScan(gateway, gateway.acme)));
    // The first statement of each kind is slower.
    expect((await gateway.request("/api/v1/api-keys", { as })).status).toBe(200);
    const streams = await asAdmin(opened.url, async (blocker) => {
      await blocker.query("begin");
      await blocker.query("lock table scans in access exclusive mode");
      const waiting = scans.map(({ event_stream: path }) => gateway.request(path, { as }));
      const countWaiting = async () => {
        const { rows } = await blocker.query("select count(*)::int as n from pg_locks where not granted");
        return rows[0].n;
      };
      // A quarter of the transactions.
      await expect.poll(countWaiting).toBe(4);
      const other = `Api-Key ${gateway.globex.apiKey}`;
      const others = Array.from({ length: 10 }, () => gateway.request("/api/v1/api-keys", { as: other }));
      const answers = await Promise.all(others);
      expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
      // The lock was still waited for when they answered.
      expect(await countWaiting()).toBe(4);
      await blocker.query("commit");
      return waiting;
    });
    for (const stream of await Promise.all(streams)) {
      // Those that waited for their turn too long are to come again.
      expect([200, 503]).toContain(stream.status);
      await stream.body?.cancel();
    }
  } finally {
    await gateway.stop();
    await opened.close();
  }
});
