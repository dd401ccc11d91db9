import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createGatewayClient } from "../../scanner/gateway_client.ts";
import { createScanPublisher } from "../../scanner/publish.ts";
import type { Publisher } from "../../shared/broker.ts";
import { aCheckResult, aFinding } from "../support/report_builders.ts";

const scanId = "7b0a6f0e-6f3c-4a0c-9a46-3f4c0d7a1b11";
const tenantId = "0b54a9d2-6d0c-4ae2-8f0a-0d3f8a6f2a11";
const counts = { checks_done: 1, checks_total: 2, pass: 0, fail: 1, manual: 0 };

interface Received {
  readonly what: string;
  readonly body: Record<string, unknown>;
}

/** A gateway's REST routes and its broker, writing down in one list what reaches them, in order. */
class Recorder {
  readonly received: Received[] = [];
  /** Set by a test to answer differently: a status, or null to leave the connection hanging. */
  answer: (what: string) => number | null = () => 200;
  cancelRequested = false;
  readonly publisher: Publisher = {
    publish: async (_channel, message) => {
      const { type, data } = JSON.parse(message) as { type: string; data: Record<string, unknown> };
      if (this.answer(type) !== 200) throw new Error("the broker is away");
      this.received.push({ what: type, body: data });
    },
  };
  #server: Server | null = null;
  url = "";

  async start(): Promise<void> {
    this.#server = createServer((request, response) => {
      let text = "";
      request.on("data", (chunk: Buffer) => (text += chunk.toString()));
      request.on("end", () => {
        const what = `${request.method} ${request.url?.replace(scanId, "ID") ?? ""}`;
        const status = this.answer(what);
        if (status === null) return;
        if (status === 200) this.received.push({ what, body: JSON.parse(text) as Record<string, unknown> });
        const channel = `scan:${tenantId}:${scanId}`;
        response.writeHead(status, { "content-type": "application/json" });
        response.end(
          JSON.stringify({
            id: scanId,
            tenant_id: tenantId,
            channel,
            cancel_requested: this.cancelRequested,
            detail: "refused here",
          }),
        );
      });
    });
    await new Promise<void>((resolve) => this.#server?.listen(0, "127.0.0.1", resolve));
    this.url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.#server?.closeAllConnections();
    await new Promise((resolve) => this.#server?.close(resolve));
  }

  names(): readonly string[] {
    return this.received.map(({ what }) => what);
  }
}

let gateway: Recorder;
let warnings: string[];

beforeEach(async () => {
  gateway = new Recorder();
  warnings = [];
  await gateway.start();
});

afterEach(() => gateway.stop());

function publish(
  changes: { readonly endTimeoutMs?: number; readonly signOfLifeMs?: number; readonly url?: string } = {},
) {
  const client = createGatewayClient({ url: changes.url ?? gateway.url, apiKey: "scs_test", timeoutMs: 1000 });
  return createScanPublisher({
    destinations: { gateway: client, publisher: gateway.publisher },
    scan: { org_url: "https://acme.okta.com", client_id: "0oa1", checks_total: 2 },
    warn: (message) => warnings.push(message),
    signOfLifeMs: changes.signOfLifeMs ?? 60_000,
    endTimeoutMs: changes.endTimeoutMs ?? 5000,
  });
}

describe("createScanPublisher", () => {
  test("stores before it publishes, and publishes the end last of all", async () => {
    const publisher = publish();
    publisher.checkEvaluated(aCheckResult(), counts);
    await publisher.end("completed", { pass: 0, fail: 1, manual: 0 });
    const names = gateway.names();
    expect(names[0]).toBe("POST /api/v1/scans");
    expect(names.indexOf("POST /api/v1/scans/ID/findings")).toBeLessThan(names.indexOf("finding.created"));
    expect(names.lastIndexOf("PATCH /api/v1/scans/ID")).toBeLessThan(names.indexOf("scan.end"));
    expect(names.at(-1)).toBe("scan.end");
    expect(names.filter((name) => name === "scan.start")).toHaveLength(1);
    expect(gateway.received.at(-1)?.body).toEqual({
      scan_id: scanId,
      status: "completed",
      pass: 0,
      fail: 1,
      manual: 0,
    });
    expect(warnings).toEqual([]);
  });

  test("progress that could not be sent in time is coalesced to the newest", async () => {
    let isHeld = true;
    gateway.answer = (what) => (what === "POST /api/v1/scans" && isHeld ? 503 : 200);
    const publisher = publish();
    for (let done = 1; done <= 20; done += 1) {
      publisher.checkEvaluated(aCheckResult({ findings: [] }), { ...counts, checks_done: done, checks_total: 20 });
    }
    isHeld = false;
    await expect.poll(() => gateway.names().filter((name) => name === "scan.progress").length).toBe(1);
    await publisher.end("completed", { pass: 0, fail: 1, manual: 0 });
    expect(gateway.received.find(({ what }) => what === "scan.progress")?.body).toMatchObject({ checks_done: 20 });
  });

  test("a scan of many findings leaves events out, says how many, and stores every finding", async () => {
    let isHeld = true;
    gateway.answer = (what) => (what === "POST /api/v1/scans" && isHeld ? 503 : 200);
    const publisher = publish({ endTimeoutMs: 20_000 });
    const findings = Array.from({ length: 2500 }, (_, index) =>
      aFinding({ resource: { type: "app", id: `app${index}`, name: `App ${index}` } }),
    );
    publisher.checkEvaluated(aCheckResult({ findings }), counts);
    isHeld = false;
    await publisher.end("completed", { pass: 0, fail: 1, manual: 0 });
    const stored = gateway.received.flatMap(({ what, body }) =>
      what.endsWith("/findings") ? (body["findings"] as unknown[]) : [],
    );
    expect(stored).toHaveLength(2500);
    const published = gateway.names().filter((name) => name === "finding.created").length;
    const omission = gateway.received.find(({ what }) => what === "scan.error")?.body;
    expect(omission).toMatchObject({ code: "events_omitted" });
    expect(String(omission?.["detail"])).toContain(String(2500 - published));
  });

  test("a gateway that is not there costs one warning and no time", async () => {
    await gateway.stop();
    const publisher = publish();
    publisher.checkEvaluated(aCheckResult(), counts);
    const startedMs = performance.now();
    await publisher.end("completed", { pass: 0, fail: 1, manual: 0 });
    expect(performance.now() - startedMs).toBeLessThan(3000);
    expect(warnings).toHaveLength(1);
    expect(publisher.registered()).toBeNull();
    await gateway.start();
  });

  test("a gateway that accepts and never answers holds the end no longer than its bound", async () => {
    gateway.answer = () => null;
    const publisher = publish({ endTimeoutMs: 300 });
    const startedMs = performance.now();
    await publisher.end("completed", { pass: 0, fail: 0, manual: 0 });
    expect(performance.now() - startedMs).toBeLessThan(1500);
    expect(warnings).toHaveLength(1);
  });

  test("the end is retried through an outage", async () => {
    const publisher = publish();
    await expect.poll(() => gateway.names().includes("scan.start")).toBe(true);
    let refusals = 0;
    gateway.answer = (what) => (what === "scan.end" && (refusals += 1) <= 2 ? 503 : 200);
    await publisher.end("completed", { pass: 1, fail: 0, manual: 0 });
    expect(gateway.names().at(-1)).toBe("scan.end");
    expect(warnings).toHaveLength(1);
  });

  test("a refused key is not asked again and again, and is said once", async () => {
    gateway.answer = () => 401;
    const publisher = publish();
    await expect.poll(() => warnings.length).toBe(1);
    publisher.checkEvaluated(aCheckResult(), counts);
    await publisher.end("completed", { pass: 0, fail: 1, manual: 0 });
    expect(warnings).toEqual([expect.stringContaining("refused here")]);
    expect(warnings[0]).not.toContain("scs_test");
  });

  test("a cancel that somebody requested comes back with the sign of life", async () => {
    const publisher = publish({ signOfLifeMs: 20 });
    await expect.poll(() => gateway.names().includes("scan.start")).toBe(true);
    expect(publisher.cancelRequested.aborted).toBe(false);
    gateway.cancelRequested = true;
    await expect.poll(() => publisher.cancelRequested.aborted).toBe(true);
    await publisher.end("cancelled", { pass: 0, fail: 0, manual: 0 });
    expect(gateway.received.at(-1)?.body).toMatchObject({ status: "cancelled" });
  });
});
