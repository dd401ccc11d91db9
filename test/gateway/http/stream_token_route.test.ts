import { afterAll, beforeAll, expect, test } from "vitest";
import { createScan, problemOf, startTestGateway, type TestGateway } from "../../support/test_gateway.ts";

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway.stop());

const issue = (json: unknown) => gateway.request("/api/v1/stream-tokens", { as: `Bearer ${gateway.acme.token}`, json });

test("a token is issued for what its owner may open, and for nothing else", async () => {
  const own = await createScan(gateway, gateway.acme);
  const foreign = await createScan(gateway, gateway.globex);
  for (const path of [own.event_stream, "/api/v1/event-stream", `/api/v1/event-stream?scan_id=${own.id}`]) {
    const issued = await issue({ event_stream: path });
    expect(issued.status).toBe(200);
    const { access_token: token } = (await issued.json()) as { access_token: string };
    const opened = await gateway.request(`${path}${path.includes("?") ? "&" : "?"}access_token=${token}`);
    expect(opened.status).toBe(200);
    await opened.body?.cancel();
  }
  const several = `/api/v1/event-stream?scan_id=${own.id}&scan_id=${foreign.id}`;
  for (const path of [foreign.event_stream, several, "/api/v1/scans/not-a-uuid/event-stream"]) {
    expect((await issue({ event_stream: path })).status).toBe(404);
  }
});

test.each([
  "https://gateway.example/api/v1/event-stream",
  "//gateway.example/api/v1/event-stream",
  "/\\gateway.example/api/v1/event-stream",
  // A URL is read without its tabs.
  "/\t/gateway.example/api/v1/event-stream",
  "/api/v1/scans",
  "/api/v1/event-stream/",
  "event-stream",
])("what is no path of an event stream is 422 and named: %j", async (path) => {
  const problem = await problemOf(await issue({ event_stream: path }));
  expect(problem).toMatchObject({ status: 422, code: "invalid" });
  expect(problem.errors?.[0]).toMatchObject({ pointer: "/event_stream" });
  expect(problem.errors?.[0]?.detail).toContain(JSON.stringify(path));
});
