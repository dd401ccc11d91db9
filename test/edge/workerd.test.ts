import { afterAll, expect, test } from "vitest";
import { workersContract } from "../contract/contract.ts";
import { call, createScan, keyOf, openStream, refused } from "../contract/harness.ts";
import { asAdmin } from "../support/postgres.ts";
import { describeGateway, startEdgeGateway } from "./edge_gateway.ts";

const worker = await startEdgeGateway("Workers");
afterAll(() => worker.close());

describeGateway("the gateway on workerd", workersContract, worker);

test("streams of a tenant are authorized over kept connections, and nothing compresses them", async () => {
  const tenant = await worker.backends.createTenant("Initech");
  const scan = await createScan(worker, tenant);
  const before = worker.backends.neon.tunnels();
  const open = () => openStream(worker, scan.event_stream, `Bearer ${tenant.token}`);
  for (let n = 0; n < 11; n += 1) (await open()).leave();
  const stream = await open();
  // A recheck takes another one while a stream opens: the pool keeps four. Not kept, they were a dozen.
  expect(worker.backends.neon.tunnels() - before).toBeLessThanOrEqual(4);
  // Else Cloudflare's edge may, and then holds events back.
  expect(stream.response.headers.get("content-encoding")).toBe("identity");
  stream.leave();
});

test("there are no metrics that anybody could read, and none are described", async () => {
  expect((await fetch(`${worker.url}/metrics`)).status).toBe(404);
  const { paths } = (await (await fetch(`${worker.url}/openapi.json`)).json()) as { paths: object };
  expect(Object.keys(paths)).toContain("/healthz");
  expect(Object.keys(paths)).not.toContain("/metrics");
});

test("the cron trigger expires scans whose producer is gone", async () => {
  const scan = await createScan(worker);
  // The server's superuser, whom no policy holds back.
  const url = new URL(`/${worker.backends.database.name}`, worker.backends.database.adminUrl).href;
  await asAdmin(url, async (admin) => {
    await admin.query("update runs set updated_at = now() - interval '20 minutes' where id = $1", [scan.id]);
  });
  const stream = await openStream(worker, scan.event_stream, keyOf(worker.tenant));
  const response = await fetch(`${worker.url}/__scheduled?cron=*+*+*+*+*`);
  expect(response.status).toBe(200);
  expect(await stream.untilEnd()).toMatch(
    /event: scan\.end\ndata: \{[^\n]*"status":"expired"[^\n]*\}\n\n: close ended\n $/,
  );
});

/** Lines in which the runtime, or our own log, says that something is wrong that no client may have seen. */
const complaints = [
  /Cannot perform I\/O on behalf of a different/i,
  /different request'?s? context/i,
  /code had hung/i,
  /would never generate a response/i,
  /cross-request/i,
  /unhandled/i,
  /Internal error|internal error in Durable Object/i,
  /\bwarning\b/i,
];

test("no request touched another request's I/O", () => {
  const lines = worker.output().split("\n");
  expect(lines.filter((line) => complaints.some((pattern) => pattern.test(line)))).toEqual([]);
});

test("a database that closes its WebSockets at once is 503, and throws nothing that nobody catches", async () => {
  const tenant = await worker.backends.createTenant("Umbrella");
  const scan = await createScan(worker, tenant);
  worker.backends.neon.closeTunnels(true);
  const open = () => call(worker, scan.event_stream, { as: keyOf(tenant) });
  const answers = await Promise.all([open(), open(), open(), open()]);
  worker.backends.neon.closeTunnels(false);
  for (const answer of answers) await refused(answer, 503);
  (await openStream(worker, scan.event_stream, keyOf(tenant))).leave();
  expect(worker.output()).not.toMatch(/uncaught/i);
});
