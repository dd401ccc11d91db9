import assert from "node:assert/strict";
import { call, createScan, gatewayCase, keyOf, openStream, refused, type GatewayCase } from "./harness.ts";
import { numbered } from "../support/published.ts";

const progress = (n: number) => ({ type: "scan.progress", data: { n } });
const numbersIn = (text: string) => [...text.matchAll(/data: \{"n":(\d+)\}/g)].map(([, n]) => Number(n));

/** Producers rely on these when answers are lost: requests may be sent again. */
export const scanCases: readonly GatewayCase[] = [
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
];
