import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  createScan,
  readStream,
  startTestGateway,
  type TestGateway,
  type TestScan,
} from "../../support/test_gateway.ts";

let gateway: TestGateway;
let scan: TestScan;

beforeAll(async () => {
  gateway = await startTestGateway();
  scan = await createScan(gateway, gateway.acme);
});
afterAll(() => gateway.stop());

describe("Authorization header", () => {
  test("is refused when it is sent twice", async () => {
    const head = ["Bearer", "Bearer"].map((scheme) => `authorization: ${scheme} ${gateway.acme.token}\r\n`).join("");
    expect(await rawStatus(`GET /api/v1/scans HTTP/1.1\r\nhost: x\r\n${head}connection: close\r\n\r\n`)).toBe(401);
  });
});

test.each([
  ["a revoked key", 401],
  ["a former member", 403],
])("%s is refused at once, also behind a stream token", async (who, status) => {
  const { admin } = gateway.gateway;
  const tenant = gateway.acme.id;
  const isKey = who === "a revoked key";
  const key = (await admin("api-key.create", { tenant, name: "short-lived" })) as { id: string; api_key: string };
  const sub = "leaver@acme.test";
  await admin("user.create", { tenant, sub });
  const as = isKey ? `Api-Key ${key.api_key}` : `Bearer ${await gateway.sign({ tenant_id: tenant, sub })}`;
  const issued = await gateway.request("/api/v1/stream-tokens", { as, json: { scan_id: scan.id } });
  const { access_token: token } = (await issued.json()) as { access_token: string };
  const path = `${scan.event_stream}?access_token=${token}`;
  await readStream(await gateway.request(path), ": open");
  await (isKey ? admin("api-key.revoke", { id: key.id }) : admin("user.remove", { tenant, sub }));
  expect((await gateway.request("/api/v1/scans", { as })).status).toBe(status);
  expect((await gateway.request(path)).status).toBe(status);
});

/** Sends what `fetch` does not. */
function rawStatus(request: string): Promise<number> {
  const { hostname, port } = new URL(gateway.url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => socket.write(request));
    socket.once("error", reject);
    socket.once("data", (data) => {
      socket.destroy();
      resolve(Number(/^HTTP\/1\.1 (\d+)/.exec(data.toString())?.[1]));
    });
  });
}
