import { afterAll, beforeAll, expect, test } from "vitest";
import { createScan, startTestGateway, type TestGateway } from "../support/test_gateway.ts";

/** Bodies within their bounds of bytes that are wrong in many places: a refusal is short. */

const mebibyte = 1024 * 1024;
let gateway: TestGateway;
let path: string;

beforeAll(async () => {
  gateway = await startTestGateway();
  path = `/api/v1/channels/${(await createScan(gateway, gateway.acme)).channel}/events`;
});
afterAll(() => gateway.stop());

function send(head: string, item: string, tail: string, bytes: number): Promise<Response> {
  const count = Math.floor((bytes - head.length - tail.length) / (item.length + 1));
  const body = `${head}${Array.from({ length: count }, () => item).join(",")}${tail}`;
  const headers = { "content-type": "application/json" };
  return gateway.request(path, { method: "POST", as: `Api-Key ${gateway.acme.apiKey}`, body, headers });
}

test("10 KiB of events that are none are refused in one line", async () => {
  const problem = await (await send('{"events":[', "{}", "]}", 0.01 * mebibyte)).json();
  expect(problem).toMatchObject({
    status: 422,
    errors: [{ pointer: "/events", detail: "expected an array of 1 to 500 events" }],
  });
});
