import { randomUUID } from "node:crypto";
import { sql } from "drizzle-orm";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Database } from "../../../../drizzle/database.ts";
import { everyTenant, write } from "../../../../drizzle/transactions.ts";
import { AppError } from "../../../../shared/app_error.ts";
import type { Broker } from "../../../../shared/broker.ts";
import { createMemoryBroker } from "../../../../shared/brokers/memory.ts";
import type { Monitor } from "../../../../shared/schemas/monitor.ts";
import { changeOf, createMonitorClient, eventsIn, newMonitor } from "../../../support/monitor_requests.ts";
import { openTestPglite } from "../../../support/pglite.ts";
import { watchDatabase } from "../../../support/watched_database.ts";
import { problemOf, readStream, startTestGateway, type TestGateway } from "../../../support/test_gateway.ts";
import { changeEvents } from "../../../support/published.ts";

let gateway: TestGateway;
let stranger: string;
/** Faults of the database and the broker, for one test each. */
let loseAnswerOf: RegExp | null = null;
let brokerFailures = 0;
let database: Database;

beforeAll(async () => {
  database = await openTestPglite();
  const losing = watchDatabase(database, async (run, { queries }) => {
    const rows = await run();
    const lost = loseAnswerOf;
    if (lost === null || !queries.some(({ sql: text }) => lost.test(text))) return rows;
    loseAnswerOf = null;
    throw new AppError("unavailable", "The database cannot be reached");
  });
  const memory = createMemoryBroker();
  const broker: Broker = {
    ...memory,
    async publish(channel, message) {
      if (brokerFailures === 0) return memory.publish(channel, message);
      brokerFailures -= 1;
      throw new AppError("unavailable", "The broker cannot be reached");
    },
  };
  gateway = await startTestGateway({}, { database: losing, broker });
  stranger = `Api-Key ${gateway.globex.apiKey}`;
});
afterAll(() => gateway.stop());

async function startMonitor() {
  const monitor = createMonitorClient(gateway);
  expect((await monitor.put()).status).toBe(201);
  return monitor;
}

describe("PUT /monitors/{id}", () => {
  test("registers a monitor: 201, with every field of the resource", async () => {
    const { id, path, put, read } = createMonitorClient(gateway);
    const created = await put({ ...newMonitor, benchmark: "okta-idaas-stig-v1r1", checks_total: 29 });
    expect(created.status).toBe(201);
    expect(created.headers.get("location")).toBe(path);
    const body = (await created.json()) as Monitor;
    expect(body).toEqual({
      ...newMonitor,
      id,
      monitor_id: id,
      tenant_id: gateway.acme.id,
      channel: `monitor:${gateway.acme.id}:${id}`,
      event_stream: `${path}/event-stream`,
      status: "running",
      benchmark: "okta-idaas-stig-v1r1",
      checks_total: 29,
      pass: 0,
      fail: 0,
      manual: 0,
      not_applicable: 0,
      log_status: "unknown",
      error_code: null,
      error_detail: null,
      last_look_at: null,
      lag_seconds: null,
      last_change_at: null,
      created_at: expect.any(String),
      updated_at: expect.any(String),
      started_at: expect.any(String),
      ended_at: null,
    });
    expect(await read()).toEqual(body);
  });

  test("again is a restart: it runs, with the new interval, and what the last process reported of errors is gone", async () => {
    const { put, patch, stream } = await startMonitor();
    await patch({ status: "stopped", error_code: "log_forbidden", error_detail: "No scope", log_status: "unreadable" });
    const text = readStream(await stream(), "monitor.start");
    const again = await put({ ...newMonitor, interval_seconds: 30, checks_total: 3 });
    expect(again.status).toBe(200);
    expect(await again.json()).toMatchObject({
      status: "running",
      interval_seconds: 30,
      checks_total: 3,
      error_code: null,
      error_detail: null,
      log_status: "unknown",
    });
    expect(eventsIn(await text)).toMatchObject([
      { type: "monitor.start", data: { org_url: newMonitor.org_url, interval_seconds: 30 } },
    ]);
  });

  test("a restart with a smaller total drops counts that no longer fit, and keeps those that do", async () => {
    const { put, patch, read } = await startMonitor();
    await patch({ checks_total: 29, pass: 5, fail: 2, manual: 1 });
    await put({ ...newMonitor, checks_total: 8 });
    expect(await read()).toMatchObject({ checks_total: 8, pass: 5, fail: 2, manual: 1 });
    await put({ ...newMonitor, checks_total: 7 });
    expect(await read()).toMatchObject({ checks_total: 7, pass: 0, fail: 0, manual: 0 });
    expect((await patch({ lag_seconds: 1 })).status).toBe(200);
  });

  test("is 409 for another org and once ended; what another tenant's key makes under the id is apart", async () => {
    const { put, patch } = await startMonitor();
    expect((await put(newMonitor, stranger)).status).toBe(201);
    const other = { ...newMonitor, org_url: "https://globex.okta.com" };
    expect(await problemOf(await put(other))).toMatchObject({ status: 409, code: "conflict" });
    await patch({ status: "ended" });
    expect(await problemOf(await put())).toMatchObject({ status: 409, code: "conflict" });
    const organizations = await gateway.request("/api/v1/organizations", { as: `Api-Key ${gateway.acme.apiKey}` });
    expect(await organizations.text(), "a refused monitor adds no organization").not.toContain(other.org_url);
    expect((await put(newMonitor, stranger)).status).toBe(200);
  });

  test.each([
    {},
    { ...newMonitor, org_url: "ftp://acme.okta.com" },
    { ...newMonitor, interval_seconds: 0 },
    { ...newMonitor, interval_seconds: 86_401 },
    { ...newMonitor, interval_seconds: 1.5 },
    { ...newMonitor, status: "running" },
    [],
  ])("with the body %j is 422", async (body) => {
    expect(await problemOf(await createMonitorClient(gateway).put(body))).toMatchObject({ status: 422 });
  });
});

describe("PATCH /monitors/{id}", () => {
  test("stores the report, and publishes it flat", async () => {
    const { id, patch, read, stream } = await startMonitor();
    const text = readStream(await stream(), "monitor.updated");
    const report = {
      last_look_at: "2026-11-22T14:03:12.412Z",
      lag_seconds: 1.25,
      checks_total: 29,
      pass: 24,
      fail: 3,
      manual: 1,
      not_applicable: 1,
      log_status: "reading",
    };
    expect(await (await patch(report)).json()).toMatchObject(report);
    expect(await read()).toMatchObject(report);
    expect(eventsIn(await text)).toEqual([
      { type: "monitor.updated", data: { monitor_id: id, status: "running", error_code: null, ...report } },
    ]);
  });

  test("publishes monitor.error for an error that is new or another, not for the same again; with each gap", async () => {
    const { id, patch, stream } = await startMonitor();
    const text = readStream(await stream(), '"gap_to"');
    const forbidden = { error_code: "log_forbidden", error_detail: "No scope okta.logs.read" };
    await patch(forbidden);
    await patch(forbidden);
    await patch({ lag_seconds: 3 });
    await patch({ error_code: null });
    await patch(forbidden);
    await patch({ error_code: "rate_limited", error_detail: null });
    const gap = { gap_from: "2026-11-22T14:00:00.000Z", gap_to: "2026-11-22T14:10:00.000Z" };
    await patch({ error_code: "rate_limited", error_detail: "Lost", ...gap });
    const errors = eventsIn(await text).filter(({ type }) => type === "monitor.error");
    const { error_code: code, error_detail: detail } = forbidden;
    expect(errors.map(({ data }) => data)).toEqual([
      { monitor_id: id, code, detail },
      { monitor_id: id, code, detail },
      { monitor_id: id, code: "rate_limited", detail: "" },
      { monitor_id: id, code: "rate_limited", detail: "Lost", ...gap },
    ]);
  });

  test("stopping keeps the stream; ending publishes monitor.end, closes it, and is the last change: 409, stream 204", async () => {
    const { id, patch, post, stream, list } = await startMonitor();
    const text = readStream(await stream(), /^\u0000/);
    await patch({ status: "stopped" });
    await patch({ status: "ended" });
    expect(eventsIn(await text).map(({ type, data }) => [type, (data as Record<string, unknown>)["status"]])).toEqual([
      ["monitor.updated", "stopped"],
      ["monitor.updated", "ended"],
      ["monitor.end", undefined],
    ]);
    expect(await text).toMatch(
      new RegExp(`event: monitor\\.end\\ndata: {"monitor_id":"${id}","reason":"ended"}\\n\\n: close ended\\n `),
    );
    expect((await stream()).status).toBe(204);
    for (const refused of [patch({ fail: 1 }), post([changeOf()])]) {
      expect(await problemOf(await refused)).toMatchObject({ status: 409, code: "conflict" });
    }
    expect((await list("/changes")).items).toEqual([]);
  });

  test("counts together are no more than the total, by what is stored where they are left out; a total of 0 is not known", async () => {
    const { patch } = await startMonitor();
    expect((await patch({ pass: 3, fail: 2 })).status).toBe(200);
    expect(await problemOf(await patch({ checks_total: 4 }))).toMatchObject({ status: 422 });
    expect((await patch({ checks_total: 5 })).status).toBe(200);
    expect(await problemOf(await patch({ not_applicable: 1 }))).toMatchObject({ status: 422 });
    expect((await patch({ not_applicable: 1, fail: 1 })).status).toBe(200);
  });

  test.each([
    { status: "stale" },
    { pass: -1 },
    { lag_seconds: -0.1 },
    { lag_seconds: 1_000_000_001 },
    { log_status: "blind" },
    { error_code: "x".repeat(101) },
    { error_detail: "x".repeat(2049) },
    { error_detail: "\0" },
    { last_look_at: "0000-01-01T00:00:00Z" },
  ])("with the body %j is 422", async (body) => {
    expect(await problemOf(await (await startMonitor()).patch(body))).toMatchObject({ status: 422 });
  });
});

describe("publishing changes", () => {
  test("stores each change once by its id, and lists it as it was sent", async () => {
    const { post, list, read } = await startMonitor();
    const fail = { status: "FAIL", reason: null } as const;
    const change = changeOf({ from: fail, to: fail, from_waived: true, cause: "decision", explained_by: [] });
    expect((await post([change, change])).status).toBe(202);
    expect((await post([change, changeOf({ cause: "reconciliation", explained_by: [] })])).status).toBe(202);
    const { items } = await list("/changes");
    expect(items).toHaveLength(2);
    expect(items[1]).toEqual({ schema: "scanstream.change/1", ...change, created_at: expect.any(String) });
    expect((await read()).last_change_at).toBe(change.seen_at);
  });

  test("the streams get finding.updated, flat; the tenant's does not get the first state", async () => {
    const { id, post, stream } = await startMonitor();
    const tenants = await gateway.request("/api/v1/event-stream", { as: `Api-Key ${gateway.acme.apiKey}` });
    const [text, ofTenant] = [await stream(), tenants].map((each) => readStream(each, '"fingerprint":"last"'));
    const first = changeOf();
    await post([changeOf({ cause: "start", from: null, fingerprint: "f0" }), first]);
    await post([changeOf({ cause: "reconciliation", explained_by: [], to: null, fingerprint: "last" })]);
    const flat = {
      monitor_id: id,
      check: first.check,
      vuln_id: first.check,
      cat: "CAT II",
      resource_type: "policy",
      resource_id: "00p1",
      resource_name: "Okta Admin Console",
      from: "PASS",
      from_reason: null,
      from_waived: false,
      to_reason: null,
      to_waived: false,
      rule_reason: null,
      expected: first.expected,
      actual: first.actual,
      to_pass: null,
      seen_at: first.seen_at,
      also: [],
    };
    const [start, ...moved] = eventsIn((await text) ?? "");
    expect(start).toMatchObject({ type: "finding.updated", data: { cause: "start", fingerprint: "f0" } });
    const ofMonitor = eventsIn((await ofTenant) ?? "").filter(({ type }) => type === "finding.updated");
    expect(ofMonitor).toEqual(moved);
    expect(moved).toEqual([
      {
        type: "finding.updated",
        data: {
          ...flat,
          id: first.id,
          fingerprint: first.fingerprint,
          to: "FAIL",
          rule_status: "FAIL",
          cause: "log",
          event_ids: [first.explained_by[0]?.uuid],
          event_types: ["policy.rule.update"],
          event_objects: [""],
          actors: ["Ada Admin (admin@acme.example)"],
        },
      },
      {
        type: "finding.updated",
        data: {
          ...flat,
          id: expect.any(String),
          fingerprint: "last",
          to: null,
          rule_status: "PASS",
          cause: "reconciliation",
          event_ids: [],
          event_types: [],
          event_objects: [],
          actors: [],
        },
      },
    ]);
  });

  test("publishes a change with the longest texts: the event fits", async () => {
    const { post, stream } = await startMonitor();
    const long = "\u0001".repeat(2048);
    const longest = () =>
      changeOf({
        check: "\u0001".repeat(200),
        fingerprint: "\u0001".repeat(200),
        resource: { type: long, id: long, name: long },
        explained_by: [
          {
            uuid: "1",
            event_type: "\u0001".repeat(200),
            published: null,
            actor: { id: null, type: null, login: null, name: long },
            transaction_id: null,
          },
        ],
      });
    const last = { ...changeOf({ fingerprint: "last" }) };
    const text = readStream(await stream(), '"fingerprint":"last"');
    expect((await post([longest(), last])).status).toBe(202);
    expect(eventsIn(await text)).toHaveLength(2);
  });

  test("takes 500 changes in their order, and refuses 501 and none", async () => {
    const { post, list } = await startMonitor();
    const changes = Array.from({ length: 500 }, (_, n) =>
      changeOf({ fingerprint: `f${n}`, cause: "start", from: null }),
    );
    expect(await problemOf(await post([...changes, changeOf()]))).toMatchObject({ status: 422 });
    expect(await problemOf(await post([]))).toMatchObject({ status: 422 });
    expect(await (await post(changes)).json()).toEqual({ stored: 500, live: true });
    const listed: string[] = [];
    let cursor: string | null = null;
    do {
      const page = await list(`/changes?limit=200${cursor === null ? "" : `&cursor=${cursor}`}`);
      listed.push(...page.items.map(({ fingerprint }) => fingerprint));
      cursor = page.next_cursor;
    } while (cursor !== null);
    expect(listed).toEqual(changes.map(({ fingerprint }) => fingerprint).toReversed());
  });

  test.each([
    { from: null, to: null },
    { from_reason: "because" },
    { id: "1" },
    { cause: "guess" },
    { fingerprint: "x".repeat(201) },
    { monitor_id: randomUUID() },
    { actual: null },
    { event_ids: Array.from({ length: 21 }, () => "1") },
    { actors: ["x".repeat(2049)] },
  ])("one that has %j is 422", async (wrong) => {
    const { id } = await startMonitor();
    const { events } = changeEvents(id, [changeOf()]);
    const json = { events: events.map((event) => ({ ...event, data: { ...event.data, ...wrong } })) };
    const path = `/api/v1/channels/monitor:${gateway.acme.id}:${id}/events`;
    const refused = await gateway.request(path, { json, as: `Api-Key ${gateway.acme.apiKey}` });
    expect(await problemOf(refused)).toMatchObject({ status: 422 });
  });
});

describe("reading", () => {
  test("lists the changes of one finding and of one check", async () => {
    const { post, list, send } = await startMonitor();
    await post([
      changeOf({ fingerprint: "a", check: "one" }),
      changeOf({ fingerprint: "b", check: "one" }),
      changeOf({ fingerprint: "c", check: "two" }),
      changeOf({ fingerprint: "a", check: "one" }),
    ]);
    const fingerprints = async (query: string) =>
      (await list(`/changes${query}`)).items.map(({ fingerprint }) => fingerprint);
    expect(await fingerprints("?fingerprint=a")).toEqual(["a", "a"]);
    expect(await fingerprints("?check=one")).toEqual(["a", "b", "a"]);
    expect(await fingerprints("?check=two&fingerprint=a")).toEqual([]);
    for (const query of ["?check=", "?check=a&check=b", `?fingerprint=${"x".repeat(201)}`, "?cursor=x", "?limit=0"]) {
      expect(await problemOf(await send("GET", `/changes${query}`)), query).toMatchObject({ status: 400 });
    }
  });

  test("the findings are the last change of each that is still there, whatever the producer's clock said", async () => {
    const { post, list } = await startMonitor();
    const fail = { status: "FAIL", reason: null } as const;
    const pass = { status: "PASS", reason: null } as const;
    await post([
      changeOf({ fingerprint: "moved", cause: "start", from: null, to: pass, seen_at: "2026-11-22T14:00:00.000Z" }),
      changeOf({ fingerprint: "gone", cause: "start", from: null, to: pass }),
      changeOf({ fingerprint: "back", cause: "start", from: null, to: pass }),
      changeOf({ fingerprint: "same", cause: "start", from: null, to: fail }),
    ]);
    await post([
      changeOf({ fingerprint: "moved", from: pass, to: fail, seen_at: "2026-11-22T13:00:00.000Z" }),
      changeOf({ fingerprint: "gone", from: pass, to: null }),
      changeOf({ fingerprint: "back", from: pass, to: null }),
    ]);
    await post([changeOf({ fingerprint: "back", from: null, to: fail })]);
    const first = await list("/findings?limit=2");
    const second = await list(`/findings?limit=2&cursor=${first.next_cursor}`);
    expect([...first.items, ...second.items].map(({ fingerprint, to }) => [fingerprint, to?.status])).toEqual([
      ["same", "FAIL"],
      ["moved", "FAIL"],
      ["back", "FAIL"],
    ]);
    expect(second.next_cursor).toBeNull();
  });

  test("a running monitor that is silent for three intervals, at least a minute, is read as stale", async () => {
    const { id, put, read, patch } = await startMonitor();
    const silentFor = (seconds: number) =>
      write(database, everyTenant, (db) =>
        db.execute(
          sql`update monitors set updated_at = now() - make_interval(secs => ${seconds}) where id = ${id}::uuid`,
        ),
      );
    await silentFor(55);
    expect((await read()).status).toBe("running");
    await silentFor(60);
    expect((await read()).status).toBe("stale");
    await put({ ...newMonitor, interval_seconds: 100 });
    await silentFor(295);
    expect((await read()).status).toBe("running");
    await silentFor(300);
    expect((await read()).status).toBe("stale");
    await patch({ status: "stopped" });
    await silentFor(1000);
    expect((await read()).status).toBe("stopped");
  });
});

describe("DELETE /monitors/{id}", () => {
  test("removes the monitor and its changes, and ends its streams: 204, then 404", async () => {
    const { id, post, send, stream } = await startMonitor();
    await post([changeOf()]);
    const text = readStream(await stream(), /^\u0000/);
    expect((await send("DELETE")).status).toBe(204);
    expect(eventsIn(await text)).toEqual([{ type: "monitor.end", data: { monitor_id: id, reason: "deleted" } }]);
    expect(await problemOf(await send("GET", "/changes"))).toMatchObject({ status: 404 });
  });

  test("the tenant's stream says it, and that the organization has no monitor", async () => {
    const { id, put, send } = createMonitorClient(gateway);
    await put({ ...newMonitor, org_url: "https://unwatched.okta.com" });
    const stream = await gateway.request("/api/v1/event-stream", { as: `Api-Key ${gateway.acme.apiKey}` });
    const news = readStream(
      stream,
      /"reason":"deleted"[^]*organization\.updated\n[^\n]*unwatched[^\n]*"monitor_id":null/,
    );
    expect((await send("DELETE")).status).toBe(204);
    expect(await news).toContain(id);
  });
});

describe("paths", () => {
  const reads = ["", "/changes", "/findings", "/event-stream"] as const;

  test("an id that is no UUID, and one that does not exist, are 404", async () => {
    for (const id of ["x", randomUUID()]) {
      const { post, send } = createMonitorClient(gateway, id);
      for (const suffix of reads) expect(await problemOf(await send("GET", suffix))).toMatchObject({ status: 404 });
      expect(await problemOf(await send("PATCH", "", {}))).toMatchObject({ status: 404 });
      expect(await problemOf(await post([changeOf()]))).toMatchObject({ status: 404 });
      expect(await problemOf(await send("DELETE"))).toMatchObject({ status: 404 });
    }
  });
});
