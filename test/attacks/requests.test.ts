import { once } from "node:events";
import { connect } from "node:net";
import { setTimeout } from "node:timers/promises";
import { expect, test } from "vitest";
import { openTestGateway } from "../support/test_gateway.ts";

/** Requests that `fetch` does not send, on the gateway's own port. */

const gateway = await openTestGateway({ METRICS_PORT: "0" });

/** Everything that comes back for these bytes until the server closes. */
async function exchange(bytes: string, url = gateway.url): Promise<string> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname).setEncoding("latin1");
  socket.write(bytes.replaceAll("{key}", gateway.acme.apiKey).replaceAll("{token}", gateway.acme.token));
  return (await socket.toArray()).join("");
}

const list = "GET /api/v1/scans HTTP/1.1\r\nhost: x\r\nconnection: close\r\n";
const smuggled = "0\r\n\r\nGET /api/v1/scans HTTP/1.1\r\nhost: x\r\n\r\n";

test.each([
  ["a credential that is sent twice", `${list}${"authorization: Bearer {token}\r\n".repeat(2)}\r\n`, 401],
  ["two lengths", `${list}content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n${smuggled}`, 400],
  ["a head of 17 KB", `${list}x-fill: ${"x".repeat(17_000)}\r\n\r\n`, 431],
])("%s is one refusal, a problem document", async (_what, bytes, status) => {
  const answer = await exchange(bytes);
  expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} [^]*content-type: application/problem\\+json`, "i"));
  expect(answer.match(/HTTP\/1\.1 /g)).toHaveLength(1);
});

test("behind a body that was refused, and arrives slowly, the connection's next request is answered", async () => {
  const socket = connect(Number(new URL(gateway.url).port), "127.0.0.1").setEncoding("latin1");
  socket.write("POST /api/v1/scans HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\n12345");
  await once(socket, "readable");
  await setTimeout(700);
  socket.write("6789GET /healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
  expect((await socket.toArray()).join("").match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 401", "HTTP/1.1 200"]);
});

test("the connection of a body that is refused after a part of it was read is closed", async () => {
  const socket = connect(Number(new URL(gateway.url).port), "127.0.0.1").resume();
  // It may find the connection reset, which is an error too.
  const closed = new Promise((done) => socket.on("error", () => {}).on("close", done));
  socket.write(`POST /api/v1/scans HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${gateway.acme.token}\r\n`);
  socket.write(`transfer-encoding: chunked\r\n\r\n1000000\r\n${"x".repeat(2_000_000)}`);
  await closed;
});

test("a load balancer that asks in HTTP/1.0, without a Host header, is answered", async () => {
  for (const url of [`${gateway.url}/healthz`, gateway.gateway.metricsUrl ?? ""]) {
    expect(await exchange(`GET ${new URL(url).pathname} HTTP/1.0\r\n\r\n`, url)).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  }
});

test("the location of a new scan follows the request's path, not a Host or forwarded header", async () => {
  const created = await exchange(
    "POST /api/v1/scans HTTP/1.1\r\nhost: evil.test\r\nx-forwarded-host: evil.test\r\nconnection: close\r\n" +
      "authorization: Api-Key {key}\r\ncontent-length: 0\r\n\r\n",
  );
  expect(created).toMatch(/^HTTP\/1\.1 201 /);
  expect(created).not.toContain("evil.test");
});
