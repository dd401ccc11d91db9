import { expect, test } from "vitest";
import type { CallOptions } from "../../../gateway/library/contract_client.ts";
import { createScan, openTestGateway } from "../../support/test_gateway.ts";

const origin = "https://app.test";
const gateway = await openTestGateway({ CORS_ORIGINS: `${origin}, http://localhost:3000` });
const key = `Api-Key ${gateway.acme.apiKey}`;
const scan = await createScan(gateway, gateway.acme);
const ended = await createScan(gateway, gateway.acme);
await gateway.request(`/api/v1/scans/${ended.id}`, { method: "PATCH", json: { status: "failed" }, as: key });
/** One request for each kind of answer. */
const answers: readonly (readonly [status: number, path: string, options?: CallOptions])[] = [
  [200, "/healthz"],
  [200, "/api/v1/scans", { as: key }],
  [200, scan.event_stream, { as: key }],
  [204, ended.event_stream, { as: key }],
  [401, "/api/v1/scans"],
  [401, scan.event_stream],
  [403, `/api/v1/channels/x/events`, { method: "POST", as: key }],
  [404, "/nothing"],
  [404, "/api/v1/scans/x/event-stream", { as: key }],
  [405, "/api/v1/scans", { method: "DELETE" }],
  [409, `/api/v1/scans/${ended.id}/cancel`, { method: "POST", as: key }],
  [400, "/api/v1/scans?limit=0", { as: key }],
];

test.each([
  [origin, origin],
  [undefined, null],
  ["https://app.test.evil.test", null],
  ["null", null],
])("of origin %s every answer, refusals and 204 too, may be read by %s", async (asking, allowed) => {
  const headers: Record<string, string> = asking === undefined ? {} : { origin: asking };
  for (const [status, path, options] of answers) {
    const response = await gateway.request(path, { ...options, headers });
    await response.body?.cancel();
    expect(response.status).toBe(status);
    expect(response.headers.get("access-control-allow-origin")).toBe(allowed);
    expect(response.headers.get("vary")).toBe("Origin");
    expect(response.headers.get("access-control-allow-credentials")).toBeNull();
    if (allowed !== null) expect(response.headers.get("access-control-expose-headers")).toContain("retry-after");
  }
});
