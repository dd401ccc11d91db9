import { afterAll, beforeAll, expect, test } from "vitest";
import { gatewayContract } from "../conformance/gateway_contract.ts";
import type { GatewayUnderTest } from "../conformance/gateway_harness.ts";
import { startEdgeBackends, type EdgeBackends } from "../support/edge_backends.ts";
import { suitePostgres } from "../support/suite_postgres.ts";
import { startWranglerDev, type WranglerDev } from "../support/wrangler_dev.ts";
import { describeGateway, smallBounds, toGatewayUnderTest } from "./gateway_under_test.ts";
import { runtimeComplaints } from "./runtime_complaints.ts";

let backends: EdgeBackends;
let worker: WranglerDev;
let underTest: GatewayUnderTest;

beforeAll(async () => {
  backends = await startEdgeBackends(await suitePostgres());
  worker = await startWranglerDev({ environment: { ...backends.workerEnvironment, ...smallBounds } });
  underTest = await toGatewayUnderTest(backends, worker.url);
});

afterAll(async () => {
  await worker.stop();
  await backends.close();
});

describeGateway("the gateway on workerd", gatewayContract, () => underTest);

test("authorizing a stream costs one round trip to the database", async () => {
  const { openStream, createScan } = await import("../conformance/gateway_harness.ts");
  const scan = await createScan(underTest);
  const before = backends.neon.sqlRequestCount;
  const stream = await openStream(underTest, scan.event_stream, `Bearer ${underTest.tenant.token}`);
  // Rechecks of other streams go their own way.
  expect(backends.neon.sqlRequestCount - before).toBe(1);
  stream.leave();
});

test("the cron trigger expires scans whose producer is gone", async () => {
  const response = await fetch(`${worker.url}/__scheduled?cron=*+*+*+*+*`);
  expect(response.status).toBe(200);
});

test("no request touched another request's I/O, and S9: no secret was said", () => {
  const said = worker.output();
  expect(said).toContain('"route":"/api/v1/scans/:id/event-stream"');
  expect(runtimeComplaints(said)).toEqual([]);
  for (const secret of backends.secrets()) expect(said).not.toContain(secret);
});
