import { expect, test } from "vitest";
import { runUpgrade } from "../../soak/upgrade.ts";

test("two gateways behind nginx are replaced one after the other, and no stream misses an event while it is open", async () => {
  const streams = 200;
  const report = await runUpgrade({ streams, holdMs: 1000, log: () => undefined });
  expect(report).toMatchObject({
    open_at_start: streams,
    open_at_end: streams,
    lost: 0,
    repeated: 0,
    failed: {},
    publish_problem: null,
    gateway_exit_codes: [0, 0],
  });
  // Each stream was on one of the two, and was closed at least once by its drain, and by nothing else.
  expect(Object.keys(report.closed)).toEqual(["drain"]);
  expect(report.reconnects).toBeGreaterThanOrEqual(streams);
  expect(report.events + report.missed_while_reconnecting).toBe(streams * (report.published ?? 0));
  expect(report.published).toBeGreaterThan(20);
}, 180_000);
