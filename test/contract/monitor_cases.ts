import assert from "node:assert/strict";
import { call, gatewayCase, keyOf, openStream, refused, type GatewayCase, type GatewayUnderTest } from "./harness.ts";
import { aChange, anExplanation } from "../support/change_builders.ts";
import { changeEvents } from "../support/published.ts";

const newMonitor = { org_url: "https://acme.okta.com", client_id: "0oa1", interval_seconds: 10 };

const change = (fingerprint: string) =>
  aChange({
    fingerprint,
    explained_by: [anExplanation({ actor: { id: null, type: null, login: null, name: "Ada Admin" } })],
  });

async function startMonitor(gateway: GatewayUnderTest) {
  const as = keyOf(gateway.tenant);
  const path = `/api/v1/monitors/${crypto.randomUUID()}`;
  const send = (method: string, suffix = "", json?: unknown) =>
    call(gateway, path + suffix, { method, as, ...(json === undefined ? {} : { json }) });
  const read = async (suffix = "") => (await (await send("GET", suffix)).json()) as Record<string, unknown>;
  const started = await send("PUT", "", newMonitor);
  assert.equal(started.status, 201, await started.text());
  return { as, path, send, read };
}

const fingerprintsIn = ({ items }: Record<string, unknown>) =>
  (items as readonly { readonly fingerprint: string }[]).map(({ fingerprint }) => fingerprint);

/** Monitors: what outlives the process that reports. */
export const monitorCases: readonly GatewayCase[] = [
  gatewayCase(
    "keeps a monitor over a restart of its producer until it is deleted; then its id is another monitor's",
    async (gateway) => {
      const { as, path, send, read } = await startMonitor(gateway);
      assert.equal((await send("PATCH", "", { status: "stopped", pass: 2, log_status: "reading" })).status, 200);
      const again = await send("PUT", "", { ...newMonitor, interval_seconds: 20 });
      assert.equal(again.status, 200);
      await again.body?.cancel();
      const monitor = await read();
      assert.deepEqual([monitor["status"], monitor["interval_seconds"], monitor["pass"]], ["running", 20, 2]);
      const stranger = `Api-Key ${gateway.strangerApiKey}`;
      assert.equal((await call(gateway, path, { method: "PUT", as: stranger, json: newMonitor })).status, 201);
      assert.equal((await send("DELETE")).status, 204);
      await refused(await call(gateway, path, { as }), 404);
      assert.equal((await send("PUT", "", newMonitor)).status, 201);
    },
  ),
  gatewayCase(
    "stores a change once, lists it, and publishes it before the end that closes the stream",
    async (gateway) => {
      const { as, path, send, read } = await startMonitor(gateway);
      const stream = await openStream(gateway, `${path}/event-stream`, as);
      const { channel, monitor_id: id } = (await read()) as { readonly channel: string; readonly monitor_id: string };
      const publish = (json: unknown) => call(gateway, `/api/v1/channels/${channel}/events`, { as, json });
      const batch = changeEvents(id, [change("f1"), change("f2")]);
      for (const stored of [2, 0]) assert.deepEqual(await (await publish(batch)).json(), { stored, live: true });
      await refused(await publish(changeEvents(id, [{ ...change("f3"), from: null, to: null }])), 422);
      const gone = { ...change("f1"), from: { status: "FAIL", reason: null }, to: null } as const;
      assert.equal((await publish(changeEvents(id, [gone]))).status, 202);
      assert.deepEqual(fingerprintsIn(await read("/changes")), ["f1", "f2", "f1"]);
      assert.deepEqual(fingerprintsIn(await read("/changes?fingerprint=f2")), ["f2"]);
      assert.deepEqual(fingerprintsIn(await read("/findings")), ["f2"]);
      assert.equal((await send("PATCH", "", { status: "ended" })).status, 200);
      const text = await stream.untilEnd();
      const types = [...text.matchAll(/event: (\S+)/g)].map(([, type]) => type);
      assert.deepEqual(types, [...Array<string>(3).fill("finding.updated"), "monitor.updated", "monitor.end"]);
      assert.match(text, /"event_types":\["policy\.rule\.update"\],"event_objects":\[""\],"actors":\["Ada Admin"\]/);
      await refused(await send("PATCH", "", {}), 409);
      assert.equal((await send("GET", "/event-stream")).status, 204);
    },
  ),
];
