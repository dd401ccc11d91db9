import assert from "node:assert/strict";
import { call, createScan, gatewayCase, keyOf, openStream, refused, type GatewayCase } from "./harness.ts";

const progress = (n: number) => ({ type: "scan.progress", data: { n } });
const numbersIn = (text: string) => [...text.matchAll(/data: \{"n":(\d+)\}/g)].map(([, n]) => Number(n));

/** What a producer rests on when answers are lost: requests that may be sent again, and an end that the gateway publishes. */
export const scanCases: readonly GatewayCase[] = [
  gatewayCase(
    "registers a scan under the client's UUID, and the same request again is the same scan",
    async (gateway) => {
      const as = keyOf(gateway.tenant);
      const path = `/api/v1/scans/${crypto.randomUUID()}`;
      const json = { org_url: "https://acme.okta.com", client_id: "0oa1", checks_total: 29 };
      const first = await call(gateway, path, { method: "PUT", as, json });
      assert.equal(first.status, 201);
      const scan = (await first.json()) as Record<string, unknown>;
      await call(gateway, path, { method: "PATCH", as, json: { status: "running", checks_done: 3 } });
      const again = await call(gateway, path, { method: "PUT", as, json });
      assert.equal(again.status, 200);
      assert.equal(((await again.json()) as Record<string, unknown>)["id"], scan["id"]);
      const other = { ...json, client_id: "0oa2" };
      await refused(await call(gateway, path, { method: "PUT", as, json: other }), 409);
      const stranger = `Api-Key ${gateway.strangerApiKey}`;
      // Nothing tells another tenant that the id is in use here.
      assert.equal((await call(gateway, path, { method: "PUT", as: stranger, json: other })).status, 201);
      assert.equal((await call(gateway, path, { method: "PUT", as, json })).status, 200);
    },
  ),
  gatewayCase("publishes a batch of events in its order, and all of it or nothing", async (gateway) => {
    const as = keyOf(gateway.tenant);
    const scan = await createScan(gateway);
    const stream = await openStream(gateway, scan.event_stream, as);
    const path = `/api/v1/channels/${scan.channel}/events`;
    const bad = { events: [progress(1000), { type: "scan.begin", data: {} }] };
    await refused(await call(gateway, path, { as, json: bad }), 422);
    await refused(await call(gateway, path, { as, json: { events: [] } }), 422);
    const tooMany = { events: Array.from({ length: 501 }, (_, n) => progress(n)) };
    await refused(await call(gateway, path, { as, json: tooMany }), 422);
    const good = { events: Array.from({ length: 500 }, (_, n) => progress(n)) };
    assert.equal((await call(gateway, path, { as, json: good })).status, 202);
    await stream.until('{"n":499}');
    stream.leave();
    assert.deepEqual(
      numbersIn(stream.text()),
      good.events.map(({ data }) => data.n),
    );
  }),
  gatewayCase("passes an event on once that its producer sent again under the same delivery id", async (gateway) => {
    const as = keyOf(gateway.tenant);
    const scan = await createScan(gateway);
    const stream = await openStream(gateway, scan.event_stream, as);
    const path = `/api/v1/channels/${scan.channel}/events`;
    const numbered = (n: number) => ({ ...progress(n), delivery_id: `producer.${n}` });
    for (const events of [[1, 2], [1, 2, 3], [3], [4]]) {
      const sent = await call(gateway, path, { as, json: { events: events.map(numbered) } });
      assert.equal(sent.status, 202);
    }
    await stream.until('{"n":4}');
    stream.leave();
    assert.deepEqual(numbersIn(stream.text()), [1, 2, 3, 4]);
  }),
  gatewayCase(
    "publishes the end of a scan itself, with the stored counts, and refuses counts that cannot be",
    async (gateway) => {
      const as = keyOf(gateway.tenant);
      const scan = await createScan(gateway);
      const patch = (json: unknown) => call(gateway, `/api/v1/scans/${scan.id}`, { method: "PATCH", as, json });
      assert.equal(
        (await patch({ status: "running", checks_done: 3, pass: 1, fail: 1, manual: 0, not_applicable: 1 })).status,
        200,
      );
      const stream = await openStream(gateway, scan.event_stream, as);
      await refused(await patch({ status: "completed", fail: 2 }), 422);
      assert.equal((await patch({ status: "completed" })).status, 200);
      const text = await stream.untilEnd();
      const ends = [...text.matchAll(/event: scan\.end\ndata: (\{[^\n]*\})\n\n/g)].map(([, data = ""]) =>
        JSON.parse(data),
      );
      assert.deepEqual(ends, [
        { scan_id: scan.id, status: "completed", pass: 1, fail: 1, manual: 0, not_applicable: 1 },
      ]);
      await refused(await patch({ status: "completed" }), 409);
    },
  ),
];
