import { randomBytes, randomUUID } from "node:crypto";
import * as v from "valibot";
import { afterEach, describe, expect, test } from "vitest";
import { openGateway } from "../../../shared/client/gateway_client.ts";
import {
  createScanPublisher,
  type ScanPublisher,
  type ScanPublisherOptions,
} from "../../../scanner/streaming/scan_publisher.ts";
import type { CheckResult, Finding, Report } from "../../../shared/report.ts";
import { countStates } from "../../../shared/rule_result.ts";
import type { ScanEvents } from "../../../shared/schemas/scan.ts";
import { subscribe, type StreamEvent } from "../../../shared/client/subscribe.ts";
import { cleanUp } from "../../support/clean_up.ts";
import { openTestGateway } from "../../support/test_gateway.ts";
import { aCheckResult, aFinding, aReport } from "../../support/report_builders.ts";
import { startTcpProxy } from "../../support/tcp_proxy.ts";

/** The scanner's side of a scan against a real gateway, with a network between the two that is slow and loses answers. */

const gateway = await openTestGateway({ EVENTSTREAM_RECHECK_SECONDS: "3" });
const network = await startTcpProxy({ host: "127.0.0.1", port: Number(new URL(gateway.url).port) });
cleanUp(() => network.close());
afterEach(() => network.restore());

interface ScanChanges extends Partial<ScanPublisherOptions> {
  readonly timeoutMs?: number;
  readonly apiKey?: string;
  /** Sends the requests in place of the network. */
  readonly send?: typeof fetch;
}

/** A scan with its warnings, and with the method and path of every request that was begun. */
function startScan(changes: ScanChanges = {}) {
  const { timeoutMs = 10_000, apiKey = gateway.acme.apiKey, send = fetch, ...options } = changes;
  const url = `http://127.0.0.1:${network.port}`;
  const scanId = randomUUID();
  const warnings: string[] = [];
  const requests: string[] = [];
  const recording: typeof fetch = async (input, init) => {
    const { pathname } = new URL(new Request(input).url);
    requests.push(`${init?.method} ${pathname.replace(scanId, "ID").replace(/scan%3A.*%3A/, "")}`);
    beforeRequest(requests.length);
    return send(input, init);
  };
  const publisher = createScanPublisher({
    gateway: openGateway({ url, apiKey, timeoutMs, fetch: recording }),
    scanId,
    scan: { org_url: "https://acme.okta.com", client_id: "0oa1", benchmark: "okta-idaas-stig-v1r2", checks_total: 3 },
    warn: (message) => warnings.push(message),
    ...options,
  });
  return { ...publisher, scanId, warnings, requests };
}

/** Called before each request of a scan with its number, from 1 on. */
let beforeRequest: (number: number) => void = () => {};
afterEach(() => {
  beforeRequest = () => {};
});

/** Follows the scan without any network in between; resolves with the events. */
async function follow(scanId: string): Promise<{ readonly received: Promise<readonly StreamEvent<ScanEvents>[]> }> {
  const events: StreamEvent<ScanEvents>[] = [];
  const opened = Promise.withResolvers<void>();
  const subscription = subscribe<ScanEvents>(`${gateway.url}/api/v1/scans/${scanId}/event-stream`, {
    apiKey: gateway.acme.apiKey,
    onEvent: (event) => void events.push(event),
    onStateChange: (state) => {
      if (state === "live") opened.resolve();
    },
  });
  await Promise.race([opened.promise, subscription.finished]);
  const received = subscription.finished.then((end) => {
    expect(end.state).toBe("ended");
    return events;
  });
  return { received };
}

/** A registered scan and one follower of it. */
async function startFollowedScan(changes?: ScanChanges) {
  const scan = startScan(changes);
  await expect.poll(() => scan.registered()).not.toBeNull();
  return { scan, ...(await follow(scan.scanId)) };
}

function findings(count: number, check = "app"): readonly Finding[] {
  return Array.from({ length: count }, (_, index) =>
    aFinding({
      resource: { type: "app", id: `${check}${index}`, name: `App ${index}` },
      fingerprint: `${check}-${index}`,
    }),
  );
}

function threeChecks(findingsOfEach: number): readonly CheckResult[] {
  return ["one", "two", "three"].map((check) => aCheckResult({ check, findings: findings(findingsOfEach, check) }));
}

function evaluate(scan: ScanPublisher, results: readonly CheckResult[]): void {
  for (const [index, result] of results.entries()) {
    scan.checkEvaluated(result, {
      checks_done: index + 1,
      checks_total: results.length,
      ...countStates(results.slice(0, index + 1)),
    });
  }
}

const storedScan = (scanId: string) => gateway.read<Record<string, unknown>>(`/scans/${scanId}`);

function storedFindings(scanId: string) {
  const path = `/api/v1/scans/${scanId}/findings`;
  const client = openGateway({ url: gateway.url, apiKey: gateway.acme.apiKey, timeoutMs: 10_000 });
  return client.list(path, v.record(v.string(), v.unknown()), {});
}

const countOf = (events: readonly StreamEvent<ScanEvents>[], type: string) =>
  events.filter((event) => event.type === type).length;

describe("createScanPublisher", () => {
  test("an event carries the whole finding; a long text is cut, and says so", async () => {
    const { scan, received } = await startFollowedScan();
    const results = threeChecks(1).map((result, index) => ({
      ...result,
      findings: result.findings.map((finding) => ({
        ...finding,
        actual: "a\r\nb\0",
        evaluation: "\u6f22".repeat(21_900 * index),
      })),
    }));
    evaluate(scan, results);
    await scan.end("completed", results);
    const events = (await received).flatMap(({ type, data }) => (type === "finding.created" ? [data] : []));
    expect(events).toHaveLength(3);
    for (const { created_at: _, ...stored } of await storedFindings(scan.scanId)) {
      expect(events).toContainEqual({ scan_id: scan.scanId, ...stored });
    }
    for (const { evaluation } of events.slice(1)) {
      expect(Buffer.byteLength(evaluation ?? "")).toBeLessThanOrEqual(2048);
      expect(evaluation).toMatch(/^\u6f22+… .*report.* …\u6f22+$/);
    }
  });

  test("2,500 findings at a round trip of 200 ms arrive complete, in order, once, though the connection breaks", async () => {
    network.delay(100);
    const { scan, received } = await startFollowedScan({ endTimeoutMs: 60_000 });
    const breaks = new Set([3, 5, 7]);
    beforeRequest = (number) => {
      if (breaks.has(number)) network.loseNextAnswer();
    };
    const results = [aCheckResult({ check: "one", findings: findings(2500) })];
    evaluate(scan, results);
    await scan.end("completed", results);
    const created = (await received).flatMap(({ type, data }) =>
      type === "finding.created" ? [data.fingerprint] : [],
    );
    expect(created).toEqual(results[0]?.findings.map(({ fingerprint }) => fingerprint));
    expect((await storedFindings(scan.scanId)).length).toBe(2500);
    expect(scan.warnings).toEqual([]);
  });

  test("stores and delivers everything once, whichever single response is lost", async () => {
    let requestCount = Infinity;
    for (let lost = 1; lost <= requestCount; lost += 1) {
      beforeRequest = (number) => {
        if (number === lost) network.loseNextAnswer();
      };
      const { scan, received } = await startFollowedScan();
      const results = threeChecks(2);
      evaluate(scan, results);
      await scan.end("completed", results);
      const events = await received;
      const what = `answer ${lost} lost, of ${scan.requests.join(", ")}`;
      expect(countOf(events, "scan.start"), what).toBeLessThanOrEqual(1);
      expect(countOf(events, "finding.created"), what).toBe(6);
      expect(countOf(events, "scan.end"), what).toBe(1);
      expect(await storedScan(scan.scanId), what).toMatchObject({ status: "completed", checks_done: 3, fail: 3 });
      expect(scan.warnings, what).toEqual([]);
      // The next time one request is sent twice.
      requestCount = scan.requests.length - 1;
    }
    expect(requestCount).toBeGreaterThan(3);
    const { items } = await gateway.read<{ items: readonly { status: string }[] }>("/scans?limit=200");
    expect(items.filter(({ status }) => status === "pending")).toEqual([]);
  });

  test("warns once of a refused key, without a retry", async () => {
    const scan = startScan({ apiKey: `scs_00000000_${"0".repeat(64)}` });
    await expect.poll(() => scan.warnings.length).toBe(1);
    await scan.end("completed", [aCheckResult()]);
    expect(scan.warnings).toEqual([expect.stringContaining("The API key is not valid")]);
    expect(scan.warnings[0]).not.toContain("scs_");
  });

  test("says at the end what the gateway answered, where it took nothing", async () => {
    const busy: typeof fetch = async (input, init) =>
      init?.method === "POST" ? new Response("busy", { status: 503 }) : fetch(input, init);
    const scan = startScan({ send: busy, endTimeoutMs: 300 });
    await expect.poll(() => scan.registered()).not.toBeNull();
    await scan.end("completed", [aCheckResult()]);
    expect(scan.warnings.at(-1)).toMatch(/^Stopped trying .* is not complete at the gateway: HTTP status 503/);
  });

  test("a heartbeat's response cancels the scan; checks that were not evaluated are stored as reported", async () => {
    const scan = startScan({ heartbeatMs: 20 });
    await expect.poll(() => scan.registered()).not.toBeNull();
    expect(scan.cancelRequested.aborted).toBe(false);
    const results = threeChecks(2);
    evaluate(scan, results.slice(0, 1));
    await gateway.send("POST", `/scans/${scan.scanId}/cancel`);
    await expect.poll(() => scan.cancelRequested.aborted).toBe(true);
    await scan.end("cancelled", results);
    expect(await storedScan(scan.scanId)).toMatchObject({ status: "cancelled", checks_done: 3, fail: 3 });
    expect(await storedFindings(scan.scanId)).toHaveLength(6);
    expect(scan.warnings).toEqual(["The scan was cancelled at the gateway: it stops, and reports what was evaluated"]);
  });
});

const oneResult: readonly CheckResult[] = [aCheckResult({ check: "one", findings: [aFinding()] })];

function reportOf(scanId: string, checks = oneResult): Report {
  const report = aReport(checks);
  return { ...report, scan: { ...report.scan, id: scanId, status: "completed" } };
}

const readReport = (scanId: string) => gateway.send("GET", `/scans/${scanId}/report`);

async function endedScan(changes: ScanChanges = {}) {
  const scan = startScan({ timeoutMs: 1000, ...changes });
  evaluate(scan, oneResult);
  await scan.end("completed", oneResult);
  return scan;
}

describe("the finished report", () => {
  test("is stored though its answer is lost, and at a round trip of 200 ms", async () => {
    const scan = await endedScan();
    network.delay(100);
    network.loseNextAnswer();
    await scan.storeReport(reportOf(scan.scanId));
    expect((await readReport(scan.scanId)).status).toBe(200);
    expect(scan.warnings).toEqual([]);
  });

  test("a large one is stored over a long line, for which a call's own time would not do", async () => {
    const scan = await endedScan();
    const findings = [aFinding({ actual: randomBytes(1_048_576).toString("base64") })];
    network.delay(600);
    await scan.storeReport(reportOf(scan.scanId, [aCheckResult({ findings })]));
    expect(scan.warnings).toEqual([]);
    expect((await readReport(scan.scanId)).status).toBe(200);
  });

  test("a finished report that cannot be stored is one warning", async () => {
    const tooLarge = await endedScan();
    const findings = [aFinding({ actual: randomBytes(9 * 1_048_576).toString("base64") })];
    await tooLarge.storeReport(reportOf(tooLarge.scanId, [aCheckResult({ findings })]));
    expect(tooLarge.warnings).toEqual([
      "The report was not stored at the gateway: it has 9.0 MiB compressed, at most 8.0 MiB are kept",
    ]);

    const unreachable = await endedScan({ endTimeoutMs: 1000 });
    network.refuse();
    await unreachable.storeReport(reportOf(unreachable.scanId));
    expect(unreachable.warnings).toEqual([expect.stringMatching(/^The report was not stored at the gateway: /)]);
  });
});

test.each([
  ["that somebody deletes", ["DELETE"]],
  ["that is ended because it will be deleted", ["PATCH", { status: "cancelled" }]],
] as const)("a scan %s stops, and says why", async (_, [method, json]) => {
  const scan = startScan({ heartbeatMs: 50 });
  await expect.poll(() => scan.registered()).not.toBeNull();
  expect(scan.cancelRequested.aborted).toBe(false);
  expect((await gateway.send(method, `/scans/${scan.scanId}`, json)).ok).toBe(true);
  await expect.poll(() => scan.cancelRequested.aborted).toBe(true);
  await scan.end("cancelled", oneResult);
  await scan.storeReport(reportOf(scan.scanId));
  expect(scan.warnings).toEqual(["The scan was deleted at the gateway: it stops, and reports what was evaluated"]);
});

test.each([404, 408])(
  "a proxy that answers every other request with %i lets everything through once",
  async (status) => {
    let requests = 0;
    const busy: typeof fetch = async (input, init) => {
      requests += 1;
      return requests % 2 === 0 ? new Response("busy", { status }) : fetch(input, init);
    };
    const scan = startScan({ send: busy });
    const results = threeChecks(2);
    evaluate(scan, results);
    await scan.end("completed", results);
    expect(await storedFindings(scan.scanId)).toHaveLength(6);
    expect(await storedScan(scan.scanId)).toMatchObject({ status: "completed", checks_done: 3 });
    expect(scan.warnings).toEqual([]);
  },
);

test("a proxy that lets no event through is named a few times, however many events there are", async () => {
  const filtered: typeof fetch = async (input, init) =>
    init?.method === "POST" ? new Response("<html>", { status: 413 }) : fetch(input, init);
  const scan = startScan({ send: filtered });
  const results = threeChecks(5);
  evaluate(scan, results);
  await scan.end("completed", results);
  expect(scan.warnings).toHaveLength(5);
  expect(scan.warnings[0]).toMatch(/^The event scan\.start was not stored .* 413/);
  expect(scan.warnings[4]).toMatch(/^A finding of one .*; what else is not stored is not named$/);
  expect(await storedScan(scan.scanId)).toMatchObject({ status: "completed" });
});
