import { afterAll, beforeAll, expect, test } from "vitest";
import { sql } from "drizzle-orm";
import type { Database } from "../../../../drizzle/database.ts";
import { everyTenant, read, write } from "../../../../drizzle/transactions.ts";
import { openTestPglite } from "../../../support/pglite.ts";
import { runSql, toSql, watchDatabase, type SentQuery } from "../../../support/watched_database.ts";
import { readStream, startTestGateway, type TestGateway } from "../../../support/test_gateway.ts";

let pglite: Database;
let gateway: TestGateway;
let sent: (readonly SentQuery[])[] = [];

const isSnapshot = ({ sql: text }: SentQuery) => /^select .* from "scans" where .*'pending', 'running'/.test(text);

beforeAll(async () => {
  pglite = await openTestPglite();
  const database = watchDatabase(pglite, (run, { queries }) => {
    sent.push(queries);
    return run();
  });
  gateway = await startTestGateway({}, { database });
});
afterAll(() => gateway.stop());

const stream = "/api/v1/event-stream";
const eventsIn = (text: string) =>
  [...text.matchAll(/event: (\S+)\ndata: (.*)\n\n/g)].map(([, type = "", data = ""]) => ({
    type,
    data: JSON.parse(data) as Readonly<Record<string, unknown>>,
  }));

test("a tenant's snapshot has its newest 1,000 unfinished scans, found by their index", async () => {
  const { id: tenantId } = gateway.globex;
  await write(pglite, everyTenant, (db) =>
    db.execute(sql`
      insert into scans (tenant_id, status, created_at, ended_at)
      select ${tenantId}::uuid, case when n <= 1002 then 'running' else 'completed' end,
        now() - n * interval '1 second', case when n <= 1002 then null else now() end
      from generate_series(1, 6000) n`),
  );
  await runSql(pglite, "analyze scans");
  sent = [];
  const response = await gateway.request(`${stream}?snapshot=1`, { as: `Api-Key ${gateway.globex.apiKey}` });
  const events = eventsIn(await readStream(response, ": snapshot complete\n"));
  expect(events[0]?.data["count"]).toBe(1000);
  const createdAt = events.slice(1).map(({ data }) => String(data["created_at"]));
  expect(createdAt).toHaveLength(1000);
  expect(createdAt).toEqual(createdAt.toSorted().toReversed());
  const {
    rows: [newest],
  } = await write(pglite, everyTenant, (db) =>
    db.execute<{ at: string }>(sql`select max(created_at) as at from scans where tenant_id = ${tenantId}::uuid`),
  );
  expect(Date.parse(createdAt[0] ?? "")).toBe(Date.parse(newest?.at ?? ""));

  const query = sent.flat().find(isSnapshot);
  const { rows: plan } = await read(pglite, { tenantId }, (db) =>
    db.execute(toSql({ sql: `explain ${query?.sql}`, params: query?.params ?? [] })),
  );
  expect(plan.flatMap((row) => Object.values(row)).join("\n")).toContain("scans_unfinished");
});
