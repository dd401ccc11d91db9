import { expect, test } from "vitest";
import { whatStayed, whatStillRises, type Held } from "./held.ts";
import type { Sample } from "./samples.ts";

const nothing: Held = {
  descriptors: 40,
  timers: 0,
  streams: 0,
  unended: 0,
  subscriptions: 0,
  liveMiB: 22,
  rssMiB: 295,
};

function sample(atSeconds: number, values: Partial<Sample> = {}): Sample {
  return {
    atSeconds,
    rssMiB: 320,
    anonymousMiB: 260,
    heapUsedMiB: 60,
    heapTotalMiB: 160,
    externalMiB: 14,
    arrayBuffersMiB: 3,
    liveMiB: 24,
    descriptors: 200,
    timers: 10,
    ...values,
  };
}

/** Five minutes of samples; what rises does so over the 200 s after the warm-up. */
function life(valuesAt: (shareOfTheRise: number) => Partial<Sample>): { readonly samples: readonly Sample[] } {
  return { samples: Array.from({ length: 61 }, (_, n) => sample(n * 5, valuesAt((n * 5 - 100) / 200))) };
}

test.each(["streams", "unended", "subscriptions"] as const)("whatStayed allows not one of %s", (name) => {
  expect(whatStayed(nothing, nothing)).toEqual([]);
  expect(whatStayed(nothing, { ...nothing, [name]: 1 })).toEqual([`${name}: 1 after every client had left`]);
  // Fewer closings than openings, or more: one of the two counts is wrong.
  expect(whatStayed(nothing, { ...nothing, [name]: -1 })).toHaveLength(1);
});

test.each([
  ["descriptors", 56],
  ["timers", 16],
  ["liveMiB", 46],
] as const)("whatStayed allows %s up to %d, and no more", (name, most) => {
  expect(whatStayed(nothing, { ...nothing, [name]: most })).toEqual([]);
  expect(whatStayed(nothing, { ...nothing, [name]: most + 1 })).toEqual([
    `${name}: ${most + 1}, and ${nothing[name]} before`,
  ]);
});

test.each([
  ["liveMiB", 6],
  ["externalMiB", 8],
  ["rssMiB", 24],
] as const)("whatStillRises allows a steady rise of %s by %d MiB, and no more", (name, most) => {
  expect(whatStillRises(life(() => ({})))).toEqual([]);
  expect(whatStillRises(life((share) => ({ [name]: 100 + share * (most - 0.5) })))).toEqual([]);
  const [problem, ...others] = whatStillRises(life((share) => ({ [name]: 100 + share * (most + 0.5) })));
  expect(problem).toContain(`${name}: still rises after the warm-up`);
  expect(problem).toContain(`at most ${most} are allowed`);
  expect(others).toEqual([]);
});

test("whatStillRises judges the heap by the samples that were collected", () => {
  const rare = life((share) => ({ liveMiB: 100 + share * 50 })).samples.map((one, n) =>
    n % 4 === 0 ? one : { ...one, liveMiB: null },
  );
  expect(whatStillRises({ samples: rare })).toHaveLength(1);
});

test("whatStillRises takes a life of less than 100 s for warm-up", () => {
  const rising = (seconds: number) =>
    Array.from({ length: 41 }, (_, n) => sample((n / 40) * seconds, { rssMiB: 300 + n * 10 }));
  expect(whatStillRises({ samples: rising(99) })).toEqual([]);
  expect(whatStillRises({ samples: rising(100) })).toHaveLength(1);
});
