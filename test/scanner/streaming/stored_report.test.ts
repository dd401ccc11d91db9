import { randomBytes, randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { createGatewayClient } from "../../../shared/client/gateway_client.ts";
import { createScanPublisher, type ScanPublisherOptions } from "../../../scanner/streaming/scan_publisher.ts";
import type { CheckResult, Report } from "../../../shared/report.ts";
import { countStates } from "../../../shared/rule_result.ts";
import { aCheckResult, aFinding, aReport } from "../../support/report_builders.ts";
import { startTcpProxy, type TcpProxy } from "../../support/tcp_proxy.ts";
import { startTestGateway, type TestGateway } from "../../support/test_gateway.ts";

/** What the scanner does with its report, and with a scan that somebody deletes, over a network that is slow and loses answers. */

let gateway: TestGateway;
let network: TcpProxy;
beforeAll(async () => {
  gateway = await startTestGateway();
  network = await startTcpProxy({ host: "127.0.0.1", port: Number(new URL(gateway.url).port) });
});
afterEach(() => network.restore());
afterAll(async () => {
  await network.close();
  await gateway.stop();
});

const results: readonly CheckResult[] = [aCheckResult({ check: "one", findings: [aFinding()] })];
const key = () => `Api-Key ${gateway.acme.apiKey}`;

function startScan(options: Partial<ScanPublisherOptions> = {}) {
  const url = `http://127.0.0.1:${network.port}`;
  const { apiKey } = gateway.acme;
  const scanId = randomUUID();
  const warnings: string[] = [];
  const publisher = createScanPublisher({
    gateway: createGatewayClient({ url, apiKey, timeoutMs: 1000 }),
    scanId,
    scan: { org_url: "https://acme.okta.com", client_id: "0oa1", benchmark: "okta-idaas-stig-v1r2", checks_total: 1 },
    warn: (message) => warnings.push(message),
    heartbeatMs: 50,
    ...options,
  });
  return { ...publisher, scanId, warnings };
}

function reportOf(scanId: string, checks = results): Report {
  const report = aReport(checks);
  return { ...report, scan: { ...report.scan, id: scanId, status: "completed" } };
}

const read = (scanId: string) => gateway.request(`/api/v1/scans/${scanId}/report`, { as: key() });

async function endedScan(options?: Partial<ScanPublisherOptions>) {
  const scan = startScan(options);
  scan.checkEvaluated(results[0] ?? aCheckResult(), { checks_done: 1, checks_total: 1, ...countStates(results) });
  await scan.end("completed", results);
  return scan;
}

test("is stored after the end", async () => {
  const scan = await endedScan();
  const report = reportOf(scan.scanId);
  await scan.storeReport(report);
  expect(await (await read(scan.scanId)).json()).toEqual(JSON.parse(JSON.stringify(report)));
  expect(scan.warnings).toEqual([]);
});

test("is stored though its answer is lost, and at a round trip of 200 ms", async () => {
  const scan = await endedScan();
  network.delay(100);
  network.loseNextAnswer();
  await scan.storeReport(reportOf(scan.scanId));
  expect((await read(scan.scanId)).status).toBe(200);
  expect(scan.warnings).toEqual([]);
});

test("a large one is stored over a slow line, for which a call's own time would not do", async () => {
  const scan = await endedScan();
  const findings = [aFinding({ actual: randomBytes(3 * 1_048_576).toString("base64") })];
  network.slow(2_000_000);
  await scan.storeReport(reportOf(scan.scanId, [aCheckResult({ findings })]));
  expect(scan.warnings).toEqual([]);
  expect((await read(scan.scanId)).status).toBe(200);
});

test("where it cannot be stored, that is said once", async () => {
  const tooLarge = await endedScan();
  const findings = [aFinding({ actual: randomBytes(5 * 1_048_576).toString("base64") })];
  await tooLarge.storeReport(reportOf(tooLarge.scanId, [aCheckResult({ findings })]));
  expect(tooLarge.warnings).toEqual([
    "The report was not stored at the gateway: it has 5.0 MiB compressed, at most 4.0 MiB are kept",
  ]);

  const unreachable = await endedScan({ endTimeoutMs: 1000 });
  network.refuse();
  await unreachable.storeReport(reportOf(unreachable.scanId));
  expect(unreachable.warnings).toEqual([expect.stringMatching(/^The report was not stored at the gateway: /)]);
});

test("a scan that somebody deletes stops, and says why", async () => {
  const scan = startScan();
  await expect.poll(() => scan.registered()).not.toBeNull();
  expect(scan.cancelRequested.aborted).toBe(false);
  const deleted = await gateway.request(`/api/v1/scans/${scan.scanId}`, { method: "DELETE", as: key() });
  expect(deleted.status).toBe(204);
  await expect.poll(() => scan.cancelRequested.aborted).toBe(true);
  expect(scan.warnings).toEqual(["The scan was deleted at the gateway: it stops, and reports what was evaluated"]);
  await scan.end("cancelled", results);
  await scan.storeReport(reportOf(scan.scanId));
  expect(scan.warnings).toHaveLength(1);
});

test("a scan that is ended because it will be deleted stops, too", async () => {
  const scan = startScan();
  await expect.poll(() => scan.registered()).not.toBeNull();
  const path = `/api/v1/scans/${scan.scanId}`;
  const ended = await gateway.request(path, { method: "PATCH", as: key(), json: { status: "cancelled" } });
  expect(ended.status).toBe(200);
  await expect.poll(() => scan.cancelRequested.aborted).toBe(true);
  expect(scan.warnings).toEqual(["The scan was deleted at the gateway: it stops, and reports what was evaluated"]);
  await scan.end("cancelled", results);
});

test("a 404 that is not the gateway's stops no scan", async () => {
  const redirected: typeof fetch = (input, init) => {
    const url = new URL(new Request(input).url);
    // As behind a proxy that has lost its route, but for the registration.
    return fetch(init?.method === "PUT" ? url : new URL(`/nowhere${url.pathname}`, gateway.url), init);
  };
  const { apiKey } = gateway.acme;
  const scan = startScan({
    gateway: createGatewayClient({ url: gateway.url, apiKey, timeoutMs: 1000, fetch: redirected }),
  });
  await expect.poll(() => scan.warnings.length).toBe(1);
  expect(scan.warnings[0]).toMatch(/^The scan continues without its live view/);
  expect(scan.cancelRequested.aborted).toBe(false);
  await scan.end("completed", results);
});
