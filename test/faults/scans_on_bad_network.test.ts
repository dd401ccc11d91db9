import { expect, test } from "vitest";
import { runScansOnBadNetwork } from "./scans_on_bad_network.ts";
import { recordFault } from "./reliability_table.ts";

/** `npm run test:bad-network` runs three hundred of them. */
const scans = 6;

test("on networks that are slow, lose answers and break, each scan is stored as reported and its end is received once", async () => {
  const result = await runScansOnBadNetwork({ scans, lanes: 6, seed: 20_261_122 });
  expect(result.complaints).toEqual([]);
  expect(result.scans).toBe(scans);
  // Each of three followers, by its event or, when its stream was lost just then, by the 204 of its next try.
  expect(result.heardEnd + result.told204).toBe(scans * 3);
  expect(result.heardEnd).toBeGreaterThan(scans / 2);
  expect(result.connections).toBeGreaterThan(scans * 6);
  recordFault(
    {
      fault: "up to 300 ms round trip, 2 % of all answers lost and 1 % of connections cut, between all parts at once",
      client: "followers reconnect; the scanner says nothing, or warns once",
      soon: "each scan ends by itself",
      recovers: "what was lost is sent again, and counts once",
      lost: "live events at most; `scan.end` is received once, the stored scan is the report",
    },
    "test/faults/scans_on_bad_network.test.ts",
  );
});
