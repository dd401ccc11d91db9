import { afterAll, beforeAll, expect, test } from "vitest";
import { problemOf, startTestGateway, type TestGateway } from "../../support/test_gateway.ts";

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway.stop());

const issue = (json: unknown) => gateway.request("/api/v1/stream-tokens", { as: `Bearer ${gateway.acme.token}`, json });

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
