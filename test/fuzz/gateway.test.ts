import { assert, asyncProperty, constantFrom, json, oneof } from "fast-check";
import { expect, test } from "vitest";
import { findingEvents } from "../support/published.ts";
import { createScan, openTestGateway } from "../support/test_gateway.ts";
import { anyText, fuzzed, mutated } from "./fuzzed.ts";

/** In what only Globex may read. */
const secretOfGlobex = "only-globex-may-read-this";

const gateway = await openTestGateway({ STREAM_TOKEN_SECRET: "stream-token-secret-of-32-bytes-!" });
const own = await createScan(gateway, gateway.acme);
const foreign = await createScan(gateway, gateway.globex, { client_id: secretOfGlobex });
const credentials = constantFrom(`Api-Key ${gateway.acme.apiKey}`, `Bearer ${gateway.acme.token}`);

test("no matter what body is sent to whichever route, the answer is a document and the foreign scan is as it was", async () => {
  const before = await stateOfForeign();
  const route = constantFrom(
    ["POST", "/api/v1/scans"],
    ["PATCH", `/api/v1/scans/${own.id}`],
    ["PATCH", `/api/v1/scans/${foreign.id}`],
    ["POST", `/api/v1/scans/${foreign.id}/cancel`],
    ["POST", "/api/v1/stream-tokens"],
    ["POST", `/api/v1/channels/${own.channel}/events`],
    ["POST", `/api/v1/channels/${foreign.channel}/events`],
  );
  const examples = [
    { checks_total: 3 },
    { scan_id: foreign.id },
    findingEvents(own.id, [{ fingerprint: "f", check: "c", status: "FAIL" }]),
    { type: "scan.progress", data: { scan_id: own.id, checks_done: 1 } },
    { tenant_id: gateway.globex.id, status: "failed", id: foreign.id },
  ].map((example) => JSON.stringify(example));
  const body = oneof(constantFrom(...examples), mutated(constantFrom(...examples)), json(), anyText());
  await assert(
    asyncProperty(route, body, credentials, async ([method = "", path = ""], sent, as) => {
      const response = await gateway.request(path, { method, as, body: sent });
      const { status, headers } = response;
      const text = await response.text();
      expect(status, text.slice(0, 400)).toBeLessThan(500);
      expect(text).not.toContain(secretOfGlobex);
      if (status >= 400) expect(headers.get("content-type")).toBe("application/problem+json");
      if (path.includes(foreign.id)) expect(status).toBeGreaterThanOrEqual(400);
    }),
    fuzzed(100),
  );
  expect(await stateOfForeign()).toEqual(before);
});

async function stateOfForeign(): Promise<unknown> {
  const as = `Api-Key ${gateway.globex.apiKey}`;
  const scan = await gateway.request(`/api/v1/scans/${foreign.id}`, { as });
  const findings = await gateway.request(`/api/v1/scans/${foreign.id}/findings`, { as });
  return [await scan.json(), await findings.json()];
}
