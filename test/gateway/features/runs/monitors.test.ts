import { randomUUID } from "node:crypto";
import { parse, strictObject } from "valibot";
import { describe, expect, test } from "vitest";
import { monitorEventSchemas, monitorSchema, type Monitor } from "../../../../shared/schemas/monitor.ts";
import { aChange, fail, pass } from "../../../support/change_builders.ts";
import { createMonitorClient, newMonitor } from "../../../support/monitor_client.ts";
import { problemOf, readStream, openTestGateway } from "../../../support/test_gateway.ts";
import { eventsIn, changeEvents } from "../../../support/published.ts";

const gateway = await openTestGateway();

async function startMonitor() {
  const monitor = createMonitorClient(gateway);
  expect((await monitor.put()).status).toBe(201);
  return monitor;
}

describe("PUT /monitors/{id}", () => {
  test("registers a monitor: 201, with every field of the resource", async () => {
    const { id, put, read } = createMonitorClient(gateway);
    const created = await put({ ...newMonitor, benchmark: "okta-idaas-stig-v1r1", checks_total: 29 });
    expect(created.status).toBe(201);
    expect(created.headers.get("location")).toBe(`/api/v1/monitors/${id}`);
    const body = (await created.json()) as Monitor;
    expect(parse(strictObject(monitorSchema.entries), body)).toMatchObject({ ...newMonitor, id, status: "running" });
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

  test.each([
    { ...newMonitor, interval_seconds: 0 },
    { ...newMonitor, interval_seconds: 86_401 },
  ])("with the body %j is 422", async (body) => {
    expect(await problemOf(await createMonitorClient(gateway).put(body))).toMatchObject({ status: 422 });
  });
});

describe("PATCH /monitors/{id}", () => {
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
    { lag_seconds: 1_000_000_001 },
    { error_detail: "\0" },
    { last_look_at: "0000-01-01T00:00:00Z" },
  ])("with the body %j is 422", async (body) => {
    expect(await problemOf(await (await startMonitor()).patch(body))).toMatchObject({ status: 422 });
  });
});

describe("publishing changes", () => {
  test("the streams get finding.updated, flat; the tenant's does not get the first state", async () => {
    const { id, post, stream } = await startMonitor();
    const tenants = await gateway.request("/api/v1/event-stream", { as: `Api-Key ${gateway.acme.apiKey}` });
    const [text, ofTenant] = [await stream(), tenants].map((each) => readStream(each, '"fingerprint":"last"'));
    const first = aChange({ check: "own_check" });
    await post([aChange({ cause: "start", from: null, fingerprint: "f0" }), first]);
    await post([aChange({ cause: "reconciliation", explained_by: [], to: null, fingerprint: "last" })]);
    const [start, ...moved] = eventsIn((await text) ?? "");
    expect(start).toMatchObject({ type: "finding.updated", data: { cause: "start", fingerprint: "f0" } });
    expect(eventsIn((await ofTenant) ?? "").filter(({ type }) => type === "finding.updated")).toEqual(moved);
    const { entries } = monitorEventSchemas["finding.updated"];
    const updates = moved.map(({ data }) => parse(strictObject(entries), data));
    expect(updates).toMatchObject([
      {
        monitor_id: id,
        id: first.id,
        vuln_id: first.check,
        cat: "CAT II",
        from: "PASS",
        to: "FAIL",
        rule_status: "FAIL",
        event_types: ["policy.rule.update"],
        actors: ["Ada Admin (admin@acme.example)"],
      },
      { fingerprint: "last", to: null, rule_status: "PASS", cause: "reconciliation", event_ids: [], actors: [] },
    ]);
  });

  test.each([
    { from: null, to: null },
    { monitor_id: randomUUID() },
    { event_ids: Array.from({ length: 21 }, () => "1") },
    { event_ids: ["a", "b"], event_types: ["policy.rule.update"] },
  ])("one that has %j is 422", async (wrong) => {
    const { id } = await startMonitor();
    const { events } = changeEvents(id, [aChange()]);
    const json = { events: events.map((event) => ({ ...event, data: { ...event.data, ...wrong } })) };
    const path = `/api/v1/channels/monitor:${gateway.acme.id}:${id}/events`;
    const refused = await gateway.request(path, { json, as: `Api-Key ${gateway.acme.apiKey}` });
    expect(await problemOf(refused)).toMatchObject({ status: 422 });
  });
});

describe("reading", () => {
  test("lists the changes of one finding and of one check", async () => {
    const { post, list } = await startMonitor();
    await post([
      aChange({ fingerprint: "a", check: "one" }),
      aChange({ fingerprint: "b", check: "one" }),
      aChange({ fingerprint: "c", check: "two" }),
      aChange({ fingerprint: "a", check: "one" }),
    ]);
    const fingerprints = async (query: string) =>
      (await list(`/changes${query}`)).items.map(({ fingerprint }) => fingerprint);
    expect(await fingerprints("?fingerprint=a")).toEqual(["a", "a"]);
    expect(await fingerprints("?check=one")).toEqual(["a", "b", "a"]);
    expect(await fingerprints("?check=two&fingerprint=a")).toEqual([]);
  });

  test("the findings are the last change of each that is still there, whatever the producer's clock said", async () => {
    const { post, list } = await startMonitor();
    await post([
      aChange({ fingerprint: "moved", cause: "start", from: null, to: pass, seen_at: "2026-11-22T14:00:00.000Z" }),
      aChange({ fingerprint: "gone", cause: "start", from: null, to: pass }),
      aChange({ fingerprint: "back", cause: "start", from: null, to: pass }),
      aChange({ fingerprint: "same", cause: "start", from: null, to: fail }),
    ]);
    await post([
      aChange({ fingerprint: "moved", from: pass, to: fail, seen_at: "2026-11-22T13:00:00.000Z" }),
      aChange({ fingerprint: "gone", from: pass, to: null }),
      aChange({ fingerprint: "back", from: pass, to: null }),
    ]);
    await post([aChange({ fingerprint: "back", from: null, to: fail })]);
    const first = await list("/findings?limit=2");
    const second = await list(`/findings?limit=2&cursor=${first.next_cursor}`);
    expect([...first.items, ...second.items].map(({ fingerprint, to }) => [fingerprint, to?.status])).toEqual([
      ["same", "FAIL"],
      ["moved", "FAIL"],
      ["back", "FAIL"],
    ]);
    expect(second.next_cursor).toBeNull();
  });
});
