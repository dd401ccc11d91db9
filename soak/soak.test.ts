import { expect, test } from "vitest";
import { runSoak } from "./soak.ts";

test("a short soak: comings, goings, faults and a restart leave nothing behind, and no client missed an event", async () => {
  const { problems, streams, faults } = await runSoak({
    durationMs: 30_000,
    clients: 40,
    hasFaults: true,
    log: () => undefined,
  });
  expect(problems).toEqual([]);
  expect(streams.opened).toBeGreaterThan(100);
  expect(streams.events).toBeGreaterThan(1000);
  expect(Object.keys(faults).length).toBeGreaterThan(3);
}, 240_000);
