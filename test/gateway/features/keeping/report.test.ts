import { randomBytes } from "node:crypto";
import { gunzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { aCheckResult, aReport, reportUpload } from "../../../support/report_builders.ts";
import { openTestPglite } from "../../../support/pglite.ts";
import { createScan, openTestDatabase, startTestGateway } from "../../../support/test_gateway.ts";

test.each([
  ["PGlite", openTestPglite],
  ["PostgreSQL", openTestDatabase],
])("a report of 8 MiB is stored, and is in the export, over %s", async (_name, open) => {
  const gateway = await startTestGateway({}, { database: await open() });
  const { id } = await createScan(gateway, gateway.acme);
  const as = `Api-Key ${gateway.acme.apiKey}`;
  const title = randomBytes(7.9 * 1_048_576).toString("base64");
  const { body, ...upload } = reportUpload(id, aReport([aCheckResult({ title })]));
  expect(body.length).toBeGreaterThan(7.9 * 1_048_576);
  const path = `/api/v1/scans/${id}/report`;
  expect((await gateway.request(path, { ...upload, body, as })).status).toBe(201);
  const read = await gateway.request(path, { as });
  expect(Buffer.from(await read.arrayBuffer()).equals(gunzipSync(body))).toBe(true);
  const exported = await (await gateway.request("/api/v1/tenant/export", { as })).text();
  expect(exported.includes(body.toString("hex"))).toBe(true);
  await gateway.stop();
});

test("of different reports that are sent at once one is stored, also after the scan has ended", async () => {
  const gateway = await startTestGateway();
  const { id } = await createScan(gateway, gateway.acme);
  const as = `Api-Key ${gateway.acme.apiKey}`;
  await gateway.request(`/api/v1/scans/${id}`, { method: "PATCH", as, json: { status: "completed" } });
  const uploads = Array.from({ length: 4 }, (_, at) => reportUpload(id, aReport([aCheckResult({ title: `${at}` })])));
  const path = `/api/v1/scans/${id}/report`;
  const statuses = await Promise.all(
    uploads.map(async (upload) => (await gateway.request(path, { ...upload, as })).status),
  );
  expect(statuses.toSorted((a, b) => a - b)).toEqual([201, 409, 409, 409]);
  const read = await (await gateway.request(path, { as })).text();
  expect(uploads.map(({ body }) => gunzipSync(body).toString())).toContain(read);
  await gateway.stop();
});
