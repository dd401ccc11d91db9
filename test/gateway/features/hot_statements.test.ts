import { expect, test } from "vitest";
import { read } from "../../../drizzle/transactions.ts";
import { toSql, watchDatabase, type SentQuery } from "../../support/watched_database.ts";
import { openTestPglite } from "../../support/pglite.ts";
import { createProducer } from "../../support/producers.ts";
import { createScan, openTestGateway } from "../../support/test_gateway.ts";

/** Lists that are read most often are found by an index, in its order, so that other rows cost nothing. */

let sent: SentQuery[] = [];
const pglite = await openTestPglite();
const database = watchDatabase(pglite, async (run, { queries }) => {
  try {
    return await run();
  } finally {
    sent.push(...queries);
  }
});
const gateway = await openTestGateway({}, { database });
const { id: scanId } = await createScan(gateway, gateway.acme);
const { id: monitorId } = await createProducer(gateway.url, gateway.acme.apiKey).follow();

/** As where tables are large: reading all of one and sorting are the last resort. */
const asIfLarge = `select ${["enable_seqscan", "enable_bitmapscan", "enable_sort"]
  .map((name) => `set_config('${name}', 'off', true)`)
  .join(", ")}`;

test.each([
  ["runs", "/scans"],
  ["findings", `/scans/${scanId}/findings`],
  ["changes", `/monitors/${monitorId}/changes`],
  ["audit_events", "/audit"],
  ["decisions", "/decisions"],
])("a page of %s", async (table, path) => {
  sent = [];
  const response = await gateway.request(`/api/v1${path}`, { as: `Api-Key ${gateway.acme.apiKey}` });
  expect(response.status).toBe(200);
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
