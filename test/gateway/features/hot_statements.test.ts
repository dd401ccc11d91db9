import { afterAll, beforeAll, expect, test } from "vitest";
import type { Database } from "../../../drizzle/database.ts";
import { read } from "../../../drizzle/transactions.ts";
import { toSql, watchDatabase, type SentQuery } from "../../support/watched_database.ts";
import { openTestPglite } from "../../support/pglite.ts";
import { createScan, startTestGateway, type TestGateway } from "../../support/test_gateway.ts";

/** Lists that are read most often are found by an index, in its order, so that other rows cost nothing. */

let pglite: Database;
let gateway: TestGateway;
let sent: SentQuery[] = [];
let scanId: string;
let monitorId: string;

beforeAll(async () => {
  pglite = await openTestPglite();
  const database = watchDatabase(pglite, async (run, { queries }) => {
    try {
      return await run();
    } finally {
      sent.push(...queries);
    }
  });
  gateway = await startTestGateway({}, { database });
  ({ id: scanId } = await createScan(gateway, gateway.acme));
  monitorId = crypto.randomUUID();
  const json = { org_url: "https://acme.okta.com", interval_seconds: 10 };
  await request(`/monitors/${monitorId}`, { method: "PUT", json });
});
afterAll(() => gateway.stop());

const request = (path: string, init = {}) =>
  gateway.request(`/api/v1${path}`, { as: `Api-Key ${gateway.acme.apiKey}`, ...init });

/** As where tables are large: reading all of one and sorting are the last resort. */
const asIfLarge = `select ${["enable_seqscan", "enable_bitmapscan", "enable_sort"]
  .map((name) => `set_config('${name}', 'off', true)`)
  .join(", ")}`;

test.each([
  ["scans", () => "/scans"],
  ["findings", () => `/scans/${scanId}/findings`],
  ["changes", () => `/monitors/${monitorId}/changes`],
  ["audit_events", () => "/audit"],
  ["decisions", () => "/decisions"],
])("a page of %s", async (table, path) => {
  sent = [];
  expect((await request(path())).status).toBe(200);
  const query = sent.find(({ sql }) => sql.includes(`"${table}"`));
  expect(query).toBeDefined();
  const explained = { sql: `explain ${query?.sql}`, params: query?.params ?? [] };
  const { rows } = await read(pglite, { tenantId: gateway.acme.id }, async (db) => {
    await db.execute(asIfLarge);
    return db.execute(toSql(explained));
  });
  const plan = rows.flatMap((row) => Object.values(row)).join("\n");
  expect(plan).toMatch(new RegExp(`Index (?:Only )?Scan (?:Backward )?using ${table}`));
  expect(plan).not.toMatch(new RegExp(`Seq Scan on ${table}|^ *(?:-> +)?(?:Incremental )?Sort `, "m"));
});
