import { expect, test } from "vitest";
import { createSteadyClock } from "../../shared/steady_clock.ts";

test("a steady clock goes on where its clock is set back, and with it where that is set forward", () => {
  let nowMs = 1000;
  const clock = createSteadyClock(() => nowMs);
  const at = (ms: number) => {
    nowMs = ms;
    return clock();
  };
  expect([at(1000), at(1010), at(10), at(25), at(5), at(65), at(1065)]).toEqual([
    1000, 1010, 1010, 1025, 1025, 1085, 2085,
  ]);
});
