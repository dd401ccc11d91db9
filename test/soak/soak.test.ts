import { expect, test } from "vitest";
import { runSoak } from "./soak.ts";

test("twenty seconds of comings, goings and faults leave nothing behind, and nobody missed an event", async () => {
  const figures = await runSoak({ durationMs: 20_000, clients: 40, say: () => undefined });
  expect(figures.problems).toEqual([]);
  expect(figures.streams).toBeGreaterThan(100);
  expect(figures.events).toBeGreaterThan(1000);
  expect(figures.lost).toBeGreaterThan(0);
  expect(figures.scans).toBeGreaterThan(0);
}, 120_000);
