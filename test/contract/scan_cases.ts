import assert from "node:assert/strict";
import { call, createScan, gatewayCase, keyOf, openStream, refused, type GatewayCase } from "./harness.ts";
import { numbered } from "../support/published.ts";

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
    const bad = numbered([progress(1000), { type: "scan.begin", data: {} }]);
    await refused(await call(gateway, path, { as, json: bad }), 422);
    await refused(await call(gateway, path, { as, json: { events: [] } }), 422);
    const tooMany = numbered(Array.from({ length: 501 }, (_, n) => progress(n)));
    await refused(await call(gateway, path, { as, json: tooMany }), 422);
    const sent = Array.from({ length: 500 }, (_, n) => progress(n));
    const good = numbered(sent);
    assert.equal((await call(gateway, path, { as, json: good })).status, 202);
    await stream.until('{"n":499}');
    stream.leave();
    assert.deepEqual(
      numbersIn(stream.text()),
      sent.map(({ data }) => data.n),
    );
  }),
  gatewayCase(
    "stores and passes on an event once that its producer sent again under the same delivery id",
    async (gateway) => {
      const as = keyOf(gateway.tenant);
      const scan = await createScan(gateway);
      const stream = await openStream(gateway, scan.event_stream, as);
      const path = `/api/v1/channels/${scan.channel}/events`;
      const withId = (n: number) => ({ ...progress(n), delivery_id: `producer.${n}` });
      for (const events of [[1, 2], [1, 2, 3], [3], [4]]) {
        const sent = await call(gateway, path, { as, json: { events: events.map(withId) } });
        assert.equal(sent.status, 202, await sent.text());
      }
      await stream.until('{"n":4}');
      stream.leave();
      assert.deepEqual(numbersIn(stream.text()), [1, 2, 3, 4]);
    },
  ),
  gatewayCase(
    "refuses events of a scan that has ended, or is not there, and says which come first",
    async (gateway) => {
      const as = keyOf(gateway.tenant);
      const scan = await createScan(gateway);
      const publish = (channel: string, events: readonly ReturnType<typeof progress>[]) =>
        call(gateway, `/api/v1/channels/${channel}/events`, { as, json: numbered(events) });
      const early = { ...progress(1), delivery_id: "producer.3" };
      const detail = await refused(
        await call(gateway, `/api/v1/channels/${scan.channel}/events`, { as, json: { events: [early] } }),
        409,
      );
      assert.match(detail, /expected producer\.1/);
      await refused(await publish(scan.channel.replace(scan.id, crypto.randomUUID()), [progress(1)]), 404);
      const end = { method: "PATCH", as, json: { status: "failed" } };
      assert.equal((await call(gateway, `/api/v1/scans/${scan.id}`, end)).status, 200);
      await refused(await publish(scan.channel, [progress(1)]), 409);
    },
  ),
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
