import { afterEach, beforeEach, expect, test } from "vitest";
import { parseTracesConfig } from "../../../gateway/runtime/traces_config.ts";
import { startOtlpReceiver, type OtlpReceiver, type ReceivedSpan } from "../../support/otlp_receiver.ts";
import { createScan, startTestGateway, type TestGateway } from "../../support/test_gateway.ts";

let collector: OtlpReceiver;
let gateway: TestGateway;

beforeEach(async () => {
  collector = await startOtlpReceiver();
});
afterEach(async () => {
  await gateway.stop();
  await collector.stop();
});

async function start(environment: Readonly<Record<string, string>> = {}): Promise<void> {
  const traces = parseTracesConfig({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, ...environment });
  gateway = await startTestGateway({}, { traces });
}

/** What was sent when the gateway has ended: it does not keep what waits for the next batch. */
async function spansAtTheEnd(): Promise<(name: string) => ReceivedSpan> {
  await gateway.gateway.stop({ drainMs: 0 });
  return (name) => {
    const found = collector.spans.find((span) => span.name === name);
    if (found === undefined) throw new Error(`No ${name} among ${collector.spans.map((span) => span.name).join(", ")}`);
    return found;
  };
}

const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
const callerSpanId = "00f067aa0ba902b7";

test("a request is a span of its caller's trace, with its statements below it", async () => {
  await start({ OTEL_SERVICE_NAME: "live", OTEL_EXPORTER_OTLP_HEADERS: "x-tenant=a%20b, authorization=Bearer%20c" });
  const response = await gateway.request("/api/v1/scans?limit=1", {
    as: `Api-Key ${gateway.acme.apiKey}`,
    headers: { traceparent: `00-${traceId}-${callerSpanId}-01`, "x-request-id": "request-1" },
  });
  expect(response.status).toBe(200);

  const span = (await spansAtTheEnd())("GET /api/v1/scans");
  expect(span).toMatchObject({
    traceId,
    parentSpanId: callerSpanId,
    kind: 2,
    attributes: {
      "http.request.method": "GET",
      "http.route": "/api/v1/scans",
      "http.response.status_code": 200,
      "scanstream.request_id": "request-1",
      "scanstream.tenant.id": gateway.acme.id,
      "scanstream.principal.kind": "api_key",
    },
    service: { "service.name": "live", "service.instance.id": expect.any(String) },
  });
  const statements = collector.spans.filter(({ parentSpanId }) => parentSpanId === span.spanId);
  expect(statements.length).toBeGreaterThan(0);
  expect(statements.every(({ name, attributes }) => name === attributes["db.operation.name"])).toBe(true);
  expect(statements.map(({ attributes }) => String(attributes["db.query.text"])).join()).toMatch(/\$\d/);
  expect(collector.headers[0]).toMatchObject({ "x-tenant": "a b", authorization: "Bearer c" });

  const line = gateway.log.find((text) => text.includes("request-1"));
  expect(JSON.parse(line ?? "")).toMatchObject({ trace_id: traceId, span_id: span.spanId });
});

test("the opening of a stream is a span, not its life; publishing is one; no secret or query is in any", async () => {
  await start();
  const scan = await createScan(gateway, gateway.acme);
  const response = await fetch(`${gateway.url}${scan.event_stream}?snapshot=1&access_token=${gateway.acme.token}`);
  expect(response.status).toBe(200);
  await gateway.request(`/api/v1/channels/${scan.channel}/events`, {
    as: `Api-Key ${gateway.acme.apiKey}`,
    json: { type: "scan.progress", data: { secret: "correct-horse" } },
  });
  await response.body?.cancel();
  const spanNamed = await spansAtTheEnd();
  const opening = spanNamed("GET /api/v1/scans/:id/event-stream");
  const subscribing = spanNamed("subscribe scan");
  expect(subscribing).toMatchObject({ traceId: opening.traceId, parentSpanId: opening.spanId, kind: 3 });
  expect(opening.attributes["scanstream.tenant.id"]).toBe(gateway.acme.id);
  const publishing = spanNamed("publish scan");
  expect(publishing).toMatchObject({ kind: 4, parentSpanId: expect.stringMatching(/^[0-9a-f]{16}$/) });
  expect(publishing.traceId).not.toBe(opening.traceId);

  const sent = JSON.stringify(collector.spans);
  for (const secret of [gateway.acme.token, gateway.acme.apiKey, "access_token", "snapshot=1", "correct-horse"]) {
    expect(sent).not.toContain(secret);
  }
});

test("a caller that did not sample is followed, and probes are no spans", async () => {
  await start();
  const as = `Api-Key ${gateway.acme.apiKey}`;
  await gateway.request("/api/v1/scans", { as, headers: { traceparent: `00-${traceId}-${callerSpanId}-00` } });
  for (const path of ["/healthz", "/readyz", "/metrics"]) await gateway.request(path);
  await gateway.request("/api/v1/no-such-path");
  await spansAtTheEnd();
  expect(collector.spans.map(({ name }) => name)).toEqual(["GET unmatched"]);
});

test("always_off sends nothing", async () => {
  await start({ OTEL_TRACES_SAMPLER: "always_off" });
  await gateway.request("/api/v1/scans", { as: `Api-Key ${gateway.acme.apiKey}` });
  await spansAtTheEnd();
  expect(collector.spans).toEqual([]);
});

test("a collector that is silent delays neither requests nor the end of the gateway, and is named in the log", async () => {
  collector.silence();
  await start();
  const statuses = await Promise.all(
    Array.from({ length: 100 }, async () => (await gateway.request("/api/v1/no-such-path")).status),
  );
  expect(new Set(statuses)).toEqual(new Set([404]));
  // All were answered before the collector's time was over.
  expect(gateway.log.join("")).not.toContain("the collector does not accept traces");
  await expect.poll(() => gateway.log.join(""), { timeout: 20_000 }).toContain("the collector does not accept traces");
  const stoppingMs = performance.now();
  await gateway.gateway.stop({ drainMs: 0 });
  expect(performance.now() - stoppingMs).toBeLessThan(4000);
});
