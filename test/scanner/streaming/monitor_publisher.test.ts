import { randomUUID } from "node:crypto";
import { afterEach, describe, expect, test } from "vitest";
import { openGateway } from "../../../shared/client/gateway_client.ts";
import {
  createMonitorPublisher,
  type FollowedMonitor,
  type MonitorPublisherOptions,
} from "../../../scanner/streaming/monitor_publisher.ts";
import type { NewChange } from "../../../shared/schemas/change.ts";
import type { MonitorUpdate } from "../../../shared/schemas/monitor.ts";
import { aChange } from "../../support/change_builders.ts";
import { cleanUp } from "../../support/clean_up.ts";
import { startTcpProxy } from "../../support/tcp_proxy.ts";
import { openTestGateway } from "../../support/test_gateway.ts";

/** The follower's side of a monitor against a real gateway, with a network between the two that breaks. */

const gateway = await openTestGateway();
const network = await startTcpProxy({ host: "127.0.0.1", port: Number(new URL(gateway.url).port) });
cleanUp(() => network.close());
afterEach(() => network.restore());

const registration = {
  org_url: "https://acme.okta.com",
  client_id: "0oa1",
  benchmark: "okta-idaas-stig-v1r2",
  interval_seconds: 10,
  checks_total: 29,
};

type Changes = Partial<MonitorPublisherOptions & Pick<FollowedMonitor, "monitorId">>;

/** A registered monitor; `changed` adds to the queue that it stores from, and `requests` are methods and paths below its own. */
async function startMonitor({ monitorId = randomUUID(), ...changes }: Changes = {}) {
  const warnings: string[] = [];
  const requests: string[] = [];
  const registrations: (string | null)[] = [];
  const registered = Promise.withResolvers<void>();
  const send: typeof fetch = async (input, init) => {
    const { pathname } = new URL(new Request(input).url);
    requests.push(`${init?.method} ${pathname.replace(/.*\/(?:monitors|channels)\/[^/]*/, "")}`.trim());
    return fetch(input, init);
  };
  const url = `http://127.0.0.1:${network.port}`;
  const client = openGateway({ url, apiKey: gateway.acme.apiKey, timeoutMs: 60_000, fetch: send });
  let queue: readonly NewChange[] = [];
  const publisher = createMonitorPublisher(
    { gateway: client, warn: (message) => warnings.push(message), ...changes },
    {
      monitorId,
      registration,
      changes: {
        first: (max) => queue.slice(0, max),
        acknowledge(stored) {
          queue = queue.filter((change) => !stored.includes(change));
        },
      },
      onRegistered({ last_look_at }) {
        registrations.push(last_look_at);
        registered.resolve();
      },
    },
  );
  cleanUp(() => publisher.end(null));
  await registered.promise;
  return {
    ...publisher,
    changed(added: readonly NewChange[]) {
      queue = [...queue, ...added];
      publisher.changed();
    },
    waiting: () => queue,
    monitorId,
    warnings,
    requests,
    registrations,
  };
}

function aLook(changes: MonitorUpdate = {}): MonitorUpdate {
  const counts = { pass: 20, fail: 5, manual: 3, not_applicable: 1 };
  return { last_look_at: new Date().toISOString(), lag_seconds: 1.5, ...counts, log_status: "reading", ...changes };
}

const read = (monitorId: string) => gateway.read<Record<string, unknown>>(`/monitors/${monitorId}`);

async function countStored(monitorId: string): Promise<number> {
  return (await gateway.read<{ items: readonly object[] }>(`/monitors/${monitorId}/changes?limit=200`)).items.length;
}

describe("createMonitorPublisher", () => {
  test("registers, stores changes before the counts, and stops with the process", async () => {
    const monitor = await startMonitor();
    expect(await read(monitor.monitorId)).toMatchObject({
      status: "running",
      org_url: registration.org_url,
      interval_seconds: 10,
    });
    monitor.changed([aChange()]);
    monitor.polled(aLook());
    await expect.poll(async () => (await read(monitor.monitorId))["fail"]).toBe(5);
    expect(monitor.requests).toEqual(["PUT", "POST /events", "PATCH"]);
    expect(await countStored(monitor.monitorId)).toBe(1);
    await monitor.end(null);
    expect(await read(monitor.monitorId)).toMatchObject({ status: "stopped", fail: 5 });
    expect(monitor.warnings).toEqual([]);
  });

  test("the first of two followers with one state stops publishing, and says why", async () => {
    const first = await startMonitor({ heartbeatMs: 3_600_000 });
    const second = await startMonitor({ monitorId: first.monitorId, heartbeatMs: 3_600_000 });
    // As after a registration that the network delivered late.
    first.polled(aLook());
    await expect.poll(() => first.requests).toEqual(["PUT", "PATCH", "PUT", "PATCH"]);
    second.polled(aLook());
    await expect.poll(() => second.requests).toEqual(["PUT", "PATCH", "PUT", "PATCH"]);
    first.polled(aLook({ fail: 4 }));
    await expect.poll(() => first.warnings).toEqual([expect.stringMatching(/a copy of its --state/)]);
    first.changed([aChange()]);
    expect(first.waiting()).toEqual([]);
    expect(await countStored(first.monitorId)).toBe(0);
    expect(second.warnings).toEqual([]);
  });

  test("a look without news waits for the heartbeat; news and the heartbeat send it", async () => {
    const resting = await startMonitor({ heartbeatMs: 3_600_000 });
    resting.polled(aLook());
    await expect.poll(() => resting.requests).toEqual(["PUT", "PATCH"]);
    await expect.poll(async () => (await read(resting.monitorId))["lag_seconds"]).toBe(1.5);
    resting.polled(aLook({ lag_seconds: 2 }));
    resting.polled(
      aLook({ lag_seconds: 3, log_status: "unreadable", error_code: "forbidden", error_detail: "No\nscope" }),
    );
    await expect.poll(async () => (await read(resting.monitorId))["error_detail"]).toBe("No scope");
    expect(resting.requests).toEqual(["PUT", "PATCH", "PATCH"]);
    expect(await read(resting.monitorId)).toMatchObject({
      log_status: "unreadable",
      error_code: "forbidden",
      lag_seconds: 3,
    });

    const beating = await startMonitor({ heartbeatMs: 20 });
    await expect.poll(() => beating.requests.filter((request) => request === "PATCH").length).toBeGreaterThan(3);
  });

  test("an outage is one warning, costs no change, and is said to be over", async () => {
    const monitor = await startMonitor();
    network.refuse();
    for (let index = 0; index < 20; index += 1) monitor.changed([aChange({ fingerprint: `f${index}` })]);
    expect(monitor.waiting()).toHaveLength(20);
    monitor.polled(aLook());
    await expect.poll(() => monitor.warnings.length).toBe(1);
    expect(monitor.warnings[0]).toMatch(/continues without its live view/);
    network.restore();
    await expect.poll(() => countStored(monitor.monitorId)).toBe(20);
    await expect.poll(() => monitor.warnings.at(-1)).toMatch(/^The gateway answers again/);
    expect(monitor.warnings).toHaveLength(2);
    expect(monitor.waiting()).toEqual([]);
  });

  test("a gateway whose database was restored from a backup stores what follows, and is handed the state again", async () => {
    const monitor = await startMonitor();
    monitor.changed([aChange({ fingerprint: "before" })]);
    monitor.polled(aLook());
    await expect.poll(async () => (await read(monitor.monitorId))["last_look_at"]).not.toBeNull();
    await gateway.owner("delete from published where channel like $1", `%${monitor.monitorId}`);
    monitor.changed([aChange({ fingerprint: "after" })]);
    await expect.poll(() => countStored(monitor.monitorId)).toBe(2);
    expect(monitor.registrations).toEqual([null, null]);
    expect(monitor.warnings).toEqual([]);
  });

  test("a gateway that lost its newest changes with a backup is handed the state at the next heartbeat", async () => {
    const monitor = await startMonitor({ heartbeatMs: 20 });
    const updates = () => monitor.requests.filter((request) => request === "PATCH").length;
    // The clock may be set back between two changes, and nothing is lost then.
    for (const [index, seen_at] of ["2026-11-22T14:00:00.000Z", "2026-11-22T13:00:00.000Z"].entries()) {
      monitor.changed([aChange({ seen_at })]);
      await expect.poll(() => countStored(monitor.monitorId)).toBe(index + 1);
      const before = updates();
      await expect.poll(updates).toBeGreaterThan(before + 1);
    }
    // Nor with a change that the gateway refuses: it takes no check of another form.
    const refused = aChange({ seen_at: "2026-11-22T12:30:00.000Z", check: "x".repeat(201) });
    monitor.changed([aChange({ seen_at: "2026-11-22T12:00:00.000Z" }), refused]);
    await expect.poll(() => monitor.warnings).toEqual([expect.stringContaining("was not stored")]);
    const before = updates();
    await expect.poll(updates).toBeGreaterThan(before + 1);
    expect(monitor.registrations).toEqual([null]);
    await gateway.owner("update runs set last_change_at = null where id = $1", monitor.monitorId);
    await expect.poll(() => monitor.registrations).toEqual([null, null]);
    expect(monitor.warnings).toHaveLength(1);
  });

  test("a monitor that is deleted at the gateway goes on without it; a later process makes a new one under its id", async () => {
    const monitor = await startMonitor();
    await gateway.send("DELETE", `/monitors/${monitor.monitorId}`);
    monitor.changed([aChange()]);
    await expect.poll(() => monitor.waiting()).toEqual([]);
    expect(monitor.warnings).toEqual([expect.stringMatching(/takes no more of this monitor.*No such monitor/)]);
    expect(monitor.requests.filter((request) => request === "PUT")).toHaveLength(1);
    await startMonitor({ monitorId: monitor.monitorId });
    expect(await read(monitor.monitorId)).toMatchObject({ status: "running" });
  });

  test("a proxy's 404 ends no monitor, and its changes wait", async () => {
    const proxied: typeof fetch = async (input, init) =>
      init?.method === "POST" ? new Response("No such page", { status: 404 }) : fetch(input, init);
    const options = { url: gateway.url, apiKey: gateway.acme.apiKey, timeoutMs: 60_000, fetch: proxied };
    const monitor = await startMonitor({ gateway: openGateway(options) });
    monitor.changed([aChange()]);
    await expect.poll(() => monitor.warnings).toEqual([expect.stringMatching(/continues without its live view/)]);
    expect(monitor.waiting()).toHaveLength(1);
  });
});
