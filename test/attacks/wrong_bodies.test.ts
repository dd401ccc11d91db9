import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createScan, startTestGateway, type TestGateway } from "../support/test_gateway.ts";

/** Bodies within their bounds of bytes that are wrong in a million places: a refusal names at most 20. */

const mebibyte = 1024 * 1024;
let gateway: TestGateway;
let scanId: string;
const monitorId = randomUUID();

beforeAll(async () => {
  gateway = await startTestGateway();
  scanId = (await createScan(gateway, gateway.acme)).id;
  const json = { org_url: "https://acme.okta.com", interval_seconds: 10, checks_total: 29 };
  await gateway.request(`/api/v1/monitors/${monitorId}`, { method: "PUT", as: key(), json });
});
afterAll(() => gateway.stop());

const key = () => `Api-Key ${gateway.acme.apiKey}`;

function filled(head: string, item: string, tail: string, bytes: number): string {
  const count = Math.floor((bytes - head.length - tail.length) / (item.length + 1));
  return `${head}${Array.from({ length: count }, () => item).join(",")}${tail}`;
}

test.each([
  ["findings", `{"findings":[`, "{}", "]}", 0.1, "/findings", "expected an array of at most 1000 findings"],
  ["findings", `{"x":[`, "{}", `],"findings":[]}`, 0.1, "/x", "is not a field of this body"],
  ["changes", `{"changes":[`, "{}", "]}", 0.1, "/changes", "expected an array of 1 to 500 changes"],
  ["changes", `{"changes":[{"explained_by":[`, "{}", "]}]}", 0.1, "/changes/0/explained_by", /at most 20/],
] as const)("%s, %s%s…", async (kind, head, item, tail, mebibytes, pointer, detail) => {
  const path = kind === "changes" ? `/api/v1/monitors/${monitorId}/changes` : `/api/v1/scans/${scanId}/${kind}`;
  const body = filled(head, item, tail, mebibytes * mebibyte);
  const headers = { "content-type": "application/json" };
  const response = await gateway.request(path, { method: "POST", as: key(), body, headers });
  expect(response.status).toBe(422);
  const { errors } = (await response.json()) as { errors: readonly { pointer: string; detail: string }[] };
  expect(errors.length).toBeLessThanOrEqual(20);
  expect(errors[0]).toEqual({ pointer, detail: typeof detail === "string" ? detail : expect.stringMatching(detail) });
});
