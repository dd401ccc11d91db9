import assert from "node:assert/strict";
import { call, createScan, keyOf, openStream, patch, refused, send, type GatewayCases } from "./harness.ts";
import { eventsIn } from "../support/published.ts";
import type { Scan } from "../../shared/schemas/scan.ts";

const tenantStream = "/api/v1/event-stream";
const streamOf = (scans: readonly Pick<Scan, "id">[], more = "") =>
  `${tenantStream}?${scans.map(({ id }) => `scan_id=${id}`).join("&")}${more}`;

const typesOf = (text: string, id: string) =>
  eventsIn(text)
    .filter(({ data }) => data["scan_id"] === id)
    .map(({ type }) => type);

/** The stream of a tenant, several scans on one stream, snapshots, and tokens for any stream. */
export const tenantCases: GatewayCases = {
  "the tenant's stream follows its scans: created, updated with the last state at most once a second, ended": async (
    gateway,
  ) => {
    const as = keyOf(gateway.tenant);
    const stream = await openStream(gateway, tenantStream, as);
    const scan = await createScan(gateway);
    const startedMs = Date.now();
    for (let n = 1; n <= 12; n += 1) await patch(gateway, scan, { status: "running", checks_done: n });
    const cancel = `/api/v1/scans/${scan.id}/cancel`;
    assert.equal((await call(gateway, cancel, { method: "POST", as })).status, 202);
    await stream.until(
      new RegExp(`event: scan.updated\\ndata: \\{"scan_id":"${scan.id}"[^\\n]*"cancel_requested":true`),
    );
    const seconds = (Date.now() - startedMs) / 1000;
    const read = (await (await call(gateway, `/api/v1/scans/${scan.id}`, { as })).json()) as object;
    const updates = eventsIn(stream.text()).filter((e) => e.type === "scan.updated" && e.data["id"] === scan.id);
    assert.deepEqual(updates.at(-1)?.data, { scan_id: scan.id, ...read });
    assert.ok(updates.length <= seconds + 2, `${updates.length} updates in ${seconds} s`);
    await patch(gateway, scan, { status: "completed", pass: 12 });
    const next = await createScan(gateway);
    await stream.until(`"id":"${next.id}"`);
    stream.leave();
    assert.deepEqual(
      typesOf(stream.text(), scan.id).filter((type) => type !== "scan.updated"),
      ["scan.created", "scan.end"],
    );
    assert.equal(typesOf(stream.text(), scan.id).at(-1), "scan.end");
    const end = eventsIn(stream.text()).find((e) => e.type === "scan.end" && e.data["scan_id"] === scan.id);
    assert.deepEqual(end?.data, {
      scan_id: scan.id,
      status: "completed",
      pass: 12,
      fail: 0,
      manual: 0,
      not_applicable: 0,
    });
  },
  "S3: the tenant's stream and its snapshot show nothing of another tenant": async (gateway) => {
    const stranger = { apiKey: gateway.strangerApiKey };
    const before = await createScan(gateway);
    const stream = await openStream(gateway, `${tenantStream}?snapshot=1`, keyOf(stranger));
    const after = await createScan(gateway);
    const own = await createScan(gateway, stranger);
    await stream.until(`"id":"${own.id}"`);
    stream.leave();
    for (const { id } of [before, after]) assert.ok(!stream.text().includes(id), "another tenant's scan is shown");
    assert.ok(!stream.text().includes(gateway.tenant.id), "another tenant is shown");
    await refused(await call(gateway, streamOf([own, before]), { as: keyOf(stranger) }), 404);
  },
  "several scans share a stream, which ends with the last of them": async (gateway) => {
    const as = keyOf(gateway.tenant);
    const [over, first, second] = [await createScan(gateway), await createScan(gateway), await createScan(gateway)];
    await patch(gateway, over, { status: "failed" });
    const stream = await openStream(gateway, streamOf([over, first, second, first]), as);
    await send(gateway, first, { type: "scan.progress", data: { scan_id: first.id, n: 1 } });
    await send(gateway, second, { type: "scan.progress", data: { scan_id: second.id, n: 2 } });
    await patch(gateway, first, { status: "completed" });
    await stream.until(`event: scan.end\ndata: {"scan_id":"${first.id}"`);
    await send(gateway, second, { type: "scan.progress", data: { scan_id: second.id, n: 3 } });
    await patch(gateway, second, { status: "cancelled" });
    const text = await stream.untilEnd();
    assert.match(text, /: close ended\n $/);
    assert.deepEqual(typesOf(text, first.id), ["scan.progress", "scan.end"]);
    assert.deepEqual(typesOf(text, second.id), ["scan.progress", "scan.progress", "scan.end"]);
    assert.equal((await call(gateway, streamOf([first, over, second]), { as })).status, 204);
  },
  "a snapshot comes after `open` and before every event: what has not ended, newest first": async (gateway) => {
    const as = keyOf(gateway.tenant);
    const [older, over, newer] = [await createScan(gateway), await createScan(gateway), await createScan(gateway)];
    await patch(gateway, over, { status: "completed" });
    await patch(gateway, older, { status: "running", checks_done: 3 });
    const monitorId = crypto.randomUUID();
    const json = { org_url: "https://acme.okta.com", interval_seconds: 10 };
    assert.equal((await call(gateway, `/api/v1/monitors/${monitorId}`, { method: "PUT", as, json })).status, 201);
    const stream = await openStream(gateway, `${tenantStream}?snapshot=1`, as);
    const text = await stream.until(": snapshot complete\n");
    stream.leave();
    const [head = "", rest = ""] = text.split(": open\n");
    assert.equal(head, "retry: 2000\n");
    assert.match(rest, /^: terminal tenant\.end 1\nevent: tenant\.snapshot\n/);
    const [first, ...others] = eventsIn(rest.slice(0, rest.indexOf(": snapshot complete\n")));
    const scans = others.filter(({ type }) => type === "scan.snapshot");
    const monitors = others.filter(({ type }) => type === "monitor.snapshot");
    const organizations = others.filter(({ type }) => type === "organization.snapshot");
    assert.deepEqual(first?.data, {
      tenant_id: gateway.tenant.id,
      count: scans.length,
      monitors: monitors.length,
      organizations: organizations.length,
    });
    // In this order: who knows nothing of organizations reads scans and monitors and may stop there.
    assert.deepEqual(others, [...scans, ...monitors, ...organizations]);
    const ids = scans.map(({ data }) => data["id"]);
    assert.ok(ids.indexOf(newer.id) !== -1 && ids.indexOf(newer.id) < ids.indexOf(older.id));
    assert.ok(!ids.includes(over.id));
    const read = (await (await call(gateway, `/api/v1/scans/${older.id}`, { as })).json()) as object;
    assert.deepEqual(scans.find(({ data }) => data["id"] === older.id)?.data, { scan_id: older.id, ...read });
    const monitor = (await (await call(gateway, `/api/v1/monitors/${monitorId}`, { as })).json()) as object;
    assert.deepEqual(monitors.find(({ data }) => data["id"] === monitorId)?.data, monitor);
    assert.ok(organizations.some(({ data }) => data["org_url"] === json.org_url));
    await call(gateway, `/api/v1/monitors/${monitorId}`, { method: "DELETE", as });
  },
  "a snapshot of scans has each that is followed": async (gateway) => {
    const as = keyOf(gateway.tenant);
    const [running, over] = [await createScan(gateway), await createScan(gateway)];
    await patch(gateway, over, { status: "completed" });
    const snapshotOf = async (path: string) => {
      const stream = await openStream(gateway, path, as);
      const text = await stream.until(": snapshot complete\n");
      stream.leave();
      return eventsIn(text).map(({ type, data }) => [type, data["scan_id"], data["status"]]);
    };
    const one = ["scan.snapshot", running.id, "pending"];
    assert.deepEqual(await snapshotOf(`${running.event_stream}?snapshot=1`), [one]);
    assert.deepEqual(await snapshotOf(streamOf([running, over], "&snapshot=1")), [
      ["scan.snapshot", over.id, "completed"],
      one,
    ]);
    assert.equal((await call(gateway, `${over.event_stream}?snapshot=1`, { as })).status, 204);
    await refused(await call(gateway, `${tenantStream}?snapshot=2`), 401);
  },
  "a stream token opens the stream it was issued for, of any feature, and no other": async (gateway) => {
    const as = keyOf(gateway.tenant);
    const [scan, other] = [await createScan(gateway), await createScan(gateway)];
    const issue = (json: unknown) => call(gateway, "/api/v1/stream-tokens", { as, json });
    const withToken = (path: string, token: string) => `${path}${path.includes("?") ? "&" : "?"}access_token=${token}`;
    const paths = [tenantStream, streamOf([scan, other]), scan.event_stream, other.event_stream];
    const tokens = await Promise.all(
      paths.map(
        async (path) => ((await (await issue({ event_stream: path })).json()) as { access_token: string }).access_token,
      ),
    );
    for (const [index, token] of tokens.entries()) {
      const [path = "", next = ""] = [paths[index], paths[(index + 1) % paths.length]];
      await refused(await call(gateway, withToken(next, token)), 403, [token]);
      const snapshot = withToken(`${path}${path.includes("?") ? "&" : "?"}snapshot=1`, token);
      const stream = await openStream(gateway, snapshot, null);
      await stream.until(": snapshot complete\n");
      stream.leave();
    }
    const issued = (await (await issue({ scan_id: scan.id })).json()) as { access_token: string; expires_in: number };
    const { access_token: token, expires_in: seconds } = issued;
    assert.equal(seconds, 60);
    (await openStream(gateway, scan.event_stream, `Bearer ${token}`)).leave();
    await refused(await call(gateway, "/api/v1/scans", { as: `Bearer ${token}` }), 401, [token]);
    await patch(gateway, scan, { status: "completed" });
    const late = (await (await issue({ event_stream: scan.event_stream })).json()) as { access_token: string };
    assert.equal((await call(gateway, withToken(scan.event_stream, late.access_token))).status, 204);
  },
};
