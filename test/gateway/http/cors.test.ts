import { afterAll, beforeAll, expect, test } from "vitest";
import { createScan, startTestGateway, type TestGateway } from "../../support/test_gateway.ts";

const origin = "https://app.test";
let gateway: TestGateway;
let key: string;
/** One request for each kind of answer. */
let answers: readonly (readonly [status: number, path: string, init?: { method?: string; as?: string }])[];

beforeAll(async () => {
  gateway = await startTestGateway({ CORS_ORIGINS: `${origin}, http://localhost:3000` });
  key = `Api-Key ${gateway.acme.apiKey}`;
  const scan = await createScan(gateway, gateway.acme);
  const ended = await createScan(gateway, gateway.acme);
  await gateway.request(`/api/v1/scans/${ended.id}`, { method: "PATCH", json: { status: "failed" }, as: key });
  answers = [
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
});
afterAll(() => gateway.stop());

test("a listed origin may read every answer, refusals and 204 too", async () => {
  for (const [status, path, init] of answers) {
    const response = await gateway.request(path, { ...init, headers: { origin } });
    await response.body?.cancel();
    expect(response.status).toBe(status);
    expect(response.headers.get("access-control-allow-origin")).toBe(origin);
    expect(response.headers.get("vary")).toBe("Origin");
    expect(response.headers.get("access-control-expose-headers")).toContain("retry-after");
    expect(response.headers.get("access-control-allow-credentials")).toBeNull();
  }
});

test.each([undefined, "https://evil.test", "https://app.test.evil.test", "null"])(
  "origin %s is not allowed to read the answer; Vary is set all the same",
  async (other) => {
    for (const [status, path, init] of answers) {
      const response = await gateway.request(path, {
        ...init,
        ...(other === undefined ? {} : { headers: { origin: other } }),
      });
      await response.body?.cancel();
      expect(response.status).toBe(status);
      expect(response.headers.get("access-control-allow-origin")).toBeNull();
      expect(response.headers.get("vary")).toBe("Origin");
    }
  },
);
