import { describe, expect, it } from "vitest";
import { createWatchedTime } from "../../../scanner/follow/watched_time.ts";

const second = 1000;

/** Lines that are written for looks at these times; a pair is a look that did not read the log, and when. */
function watched(looks: readonly (number | readonly ["failed", number])[]): readonly string[] {
  const lines: string[] = [];
  const time = createWatchedTime(10 * second, ({ from, to }) =>
    lines.push(`${Date.parse(from) / second}-${Date.parse(to) / second}`),
  );
  for (const look of looks) {
    if (typeof look === "number") time.polled(look * second, look * second);
    else time.polled(null, look[1] * second);
  }
  time.end();
  return lines;
}

describe("createWatchedTime", () => {
  it("is one time until its end, and a new one after a gap of more than a minute", () => {
    expect(watched([0, 10, 20])).toEqual(["0-20"]);
    expect(watched([0, 60, 120])).toEqual(["0-120"]);
    expect(watched([0, 10, 71, 80])).toEqual(["0-10", "71-80"]);
    expect(watched([])).toEqual([]);
    expect(watched([5])).toEqual(["5-5"]);
  });

  it("goes on over a failure that is shorter, and ends with the last look before a longer one", () => {
    expect(watched([0, 10, ["failed", 20], 30])).toEqual(["0-30"]);
    expect(watched([0, 10, ["failed", 40], ["failed", 71]])).toEqual(["0-10"]);
  });

  it("is written every ten minutes, without a hole", () => {
    const looks = Array.from({ length: 61 }, (_, index) => index * 10);
    expect(watched(looks)).toEqual(["0-600"]);
    expect(watched([...looks, 610])).toEqual(["0-600", "600-610"]);
  });

  it("begins anew where the clock was set back", () => {
    expect(watched([100, 110, 50, 60])).toEqual(["100-110", "50-60"]);
  });
});
