import { expect, test } from "vitest";
import { runUpgrade } from "../../soak/upgrade.ts";

test("two gateways behind nginx are replaced one after the other, and every client knows every event", async () => {
  const streams = 200;
  const report = await runUpgrade({ streams, eventsPerSecond: 10, holdMs: 1000, say: () => {} });
  expect(report).toMatchObject({ missed: 0, stale_clients: 0, repeated: 0, gateway_exit_codes: [0, 0] });
  expect(report.known_by_event + report.known_by_snapshot).toBe(streams * report.published);
  // Each stream was on one of the two, and was closed at least once by its drain, and by nothing else.
  expect(Object.keys(report.ended)).toEqual(["closed: drain"]);
  expect(report.openings).toBeGreaterThan(streams);
  expect(report.published).toBeGreaterThan(20);
}, 180_000);
