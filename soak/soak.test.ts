import { expect, test } from "vitest";
import { runSoak } from "./soak.ts";

test("a short soak: comings, goings, faults and a restart leave nothing behind, and no client missed an event", async () => {
  const { problems, counts, faults } = await runSoak({ durationMs: 4000, clients: 40, say: () => undefined });
  expect(problems).toEqual([]);
  expect(counts.streams).toBeGreaterThan(100);
  expect(counts.events).toBeGreaterThan(1000);
  expect(Object.keys(faults).length).toBeGreaterThan(3);
}, 180_000);
