import { once } from "node:events";
import { get, type IncomingMessage } from "node:http";
import { expect, test } from "vitest";
import { AppError } from "../../../shared/app_error.ts";
import { createMemoryBroker } from "../../../shared/brokers/memory.ts";
import { createScan, openTestDatabase, openTestGateway, problemOf, readStream } from "../../support/test_gateway.ts";
import { watchDatabase } from "../../support/watched_database.ts";
import { numbered } from "../../support/published.ts";

const cause = Object.assign(new Error("cannot execute INSERT in a read-only transaction"), { code: "25006" });
const away = () => Promise.reject(new AppError("unavailable", "away", { cause: new Error("failed", { cause }) }));

let isDatabaseAway = false;
const database = watchDatabase(await openTestDatabase(), (run) => (isDatabaseAway ? away() : run()));
const broker = createMemoryBroker();
let ping = broker.ping;
const gateway = await openTestGateway({}, { database, broker: { ...broker, ping: () => ping() } });
const scan = await createScan(gateway, gateway.acme);

test("metrics count what happened, by route template", async () => {
  const as = `Api-Key ${gateway.acme.apiKey}`;
  await readStream(await gateway.request(scan.event_stream, { as }), ": open");
  const json = numbered([{ type: "scan.start", data: {} }]);
  await gateway.request(`/api/v1/channels/${scan.channel}/events`, { as, json });
  await gateway.request(`/nothing/${scan.id}`);
  const response = await gateway.request("/metrics");
  expect(response.headers.get("content-type")).toMatch(/^text\/plain; version=0\.0\.4/);
  const metrics = await response.text();
  expect(metrics).toMatch(/^scanstream_streams_opened_total 1$/m);
  expect(metrics).toMatch(/^scanstream_events_published_total\{outcome="taken"\} 1$/m);
  expect(metrics).toMatch(
    /scanstream_http_request_duration_seconds_count\{method="POST",route="\/api\/v1\/scans",status="201"\} 1$/m,
  );
  expect(metrics).toContain('route="unmatched"');
  expect(metrics).toContain('route="/api/v1/scans/:id/event-stream"');
  expect(metrics).toMatch(/^process_resident_memory_bytes \d/m);
  for (const secret of [scan.id, gateway.acme.id, gateway.acme.apiKey]) expect(metrics).not.toContain(secret);
});

test("metrics are for this machine: a proxy's request is refused, and one for another host", async () => {
  for (const header of ["x-forwarded-for", "forwarded", "x-real-ip", "via"]) {
    const response = await gateway.request("/metrics", { headers: { [header]: "127.0.0.1" } });
    expect(await problemOf(response)).toMatchObject({ status: 403 });
  }
  // `fetch` sends no other host than the address's.
  const request = get(`${gateway.url}/metrics`, { headers: { host: "rebound.test" }, agent: false });
  const [rebound] = (await once(request, "response")) as [IncomingMessage];
  rebound.resume();
  expect(rebound.statusCode).toBe(403);
});

test("a database that is unavailable: not ready but alive; every route is 503, never 401 or 403", async () => {
  isDatabaseAway = true;
  expect((await gateway.request("/healthz")).status).toBe(200);
  const ready = await gateway.request("/readyz");
  expect(ready.headers.get("retry-after")).toBe("2");
  expect(await problemOf(ready)).toMatchObject({ status: 503, detail: "Not ready: the database is unavailable" });
  for (const as of [`Api-Key ${gateway.acme.apiKey}`, `Bearer ${gateway.acme.token}`]) {
    for (const path of ["/api/v1/scans", `/api/v1/scans/${scan.id}`, scan.event_stream]) {
      const response = await gateway.request(path, { as });
      expect(Number(response.headers.get("retry-after"))).toBeGreaterThan(0);
      expect(await problemOf(response)).toMatchObject({ status: 503, code: "unavailable" });
    }
  }
  // A request that needs no database is decided as ever.
  expect((await gateway.request("/api/v1/scans", { as: "Bearer nonsense" })).status).toBe(401);
  expect((await gateway.request("/readyz")).status).toBe(503);
  isDatabaseAway = false;
  expect((await gateway.request("/readyz")).status).toBe(200);
  const refusals = gateway.log.filter((line) => line.includes('"route":"/api/v1/scans') && line.includes(":503"));
  expect(refusals).toHaveLength(6);
  for (const line of refusals) expect(JSON.parse(line)).toMatchObject({ detail: "away", cause: "25006" });
  // Each once, with its cause.
  const said = gateway.log.filter((line) => /"the database /.test(line));
  expect(said).toEqual([
    expect.stringMatching(/"warn".*"away".*the database is unavailable/),
    expect.stringMatching(/"info".*the database answers again/),
  ]);
});

test("a check that never answers times out, and runs once for concurrent requests", async () => {
  let pings = 0;
  ping = () => {
    pings += 1;
    return new Promise(() => {});
  };
  const answers = await Promise.all(Array.from({ length: 10 }, () => gateway.request("/readyz")));
  ping = broker.ping;
  expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(503));
  expect(pings).toBe(1);
});

test("scanstream_broker_up follows the broker, without a readiness check", async () => {
  const isUp = async () => /^scanstream_broker_up (\d)$/m.exec(await (await gateway.request("/metrics")).text())?.[1];
  expect(await isUp()).toBe("1");
  ping = away;
  expect(await isUp()).toBe("0");
  const detail = "Not ready: the broker is unavailable";
  expect(await problemOf(await gateway.request("/readyz"))).toMatchObject({ status: 503, detail });
  expect((await gateway.request("/readyz?only=draining")).status).toBe(200);
  gateway.gateway.parts.announceDrain();
  expect((await gateway.request("/readyz?only=draining")).status).toBe(503);
  ping = broker.ping;
  expect(await isUp()).toBe("1");
});

const other = await openTestGateway({ METRICS_PORT: "0" });

test("with a port of their own, metrics are only there", async () => {
  const { metricsUrl } = other.gateway;
  expect(await problemOf(await other.request("/metrics"))).toMatchObject({ status: 404 });
  const response = await fetch(metricsUrl ?? "");
  expect(response.status).toBe(200);
  expect(await response.text()).toContain("scanstream_streams_open 0");
  expect((await fetch(new URL("/api/v1/scans", metricsUrl ?? ""))).status).toBe(404);
  expect((await fetch(metricsUrl ?? "", { method: "POST" })).status).toBe(405);
});
