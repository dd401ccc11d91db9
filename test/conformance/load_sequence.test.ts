import { expect, test } from "vitest";
import { createSequence } from "../../conformance/load/sequence.ts";

/** What one stream counts: opened after an event, these received, closed after another. */
interface Opening {
  readonly after: number;
  readonly received: readonly number[];
}

function count(openings: readonly Opening[], last: number): { lost: number; missed: number; repeated: number } {
  const counts = { lost: 0, missed: 0, repeated: 0 };
  const sequence = createSequence({
    lost: (number) => (counts.lost += number),
    missed: (number) => (counts.missed += number),
    repeated: () => (counts.repeated += 1),
  });
  for (const { after, received } of openings) {
    sequence.open(after);
    received.forEach(sequence.receive);
  }
  sequence.close(last);
  return counts;
}

const nothing = { lost: 0, missed: 0, repeated: 0 };

const cases: readonly (readonly [
  name: string,
  openings: readonly Opening[],
  last: number,
  expected: typeof nothing,
])[] = [
  ["every event, in order", [{ after: 0, received: [1, 2, 3] }], 3, nothing],
  ["an event that is not there", [{ after: 0, received: [1, 3, 4] }], 4, { ...nothing, lost: 1 }],
  ["no first event", [{ after: 0, received: [3] }], 3, { ...nothing, lost: 2 }],
  ["no last event", [{ after: 0, received: [1, 2] }], 4, { ...nothing, lost: 2 }],
  ["no event at all", [{ after: 0, received: [] }], 2, { ...nothing, lost: 2 }],
  ["an event twice", [{ after: 0, received: [1, 1, 2] }], 2, { ...nothing, repeated: 1 }],
  ["what was published before it was opened", [{ after: 5, received: [6, 7] }], 7, nothing],
  ["what was under way when it was opened, and came", [{ after: 5, received: [5, 6] }], 6, nothing],
  [
    "what passed between two openings",
    [
      { after: 0, received: [1, 2] },
      { after: 5, received: [6] },
    ],
    6,
    { ...nothing, missed: 3 },
  ],
  [
    "a second opening that receives nothing more",
    [
      { after: 0, received: [1] },
      { after: 3, received: [] },
    ],
    3,
    { ...nothing, missed: 2 },
  ],
  [
    "a second opening that loses one",
    [
      { after: 0, received: [1] },
      { after: 3, received: [5] },
    ],
    5,
    { missed: 2, lost: 1, repeated: 0 },
  ],
];

test.each(cases)("counts %s", (_, openings, last, expected) => {
  expect(count(openings, last)).toEqual(expected);
});

test("knows whether the last event has come", () => {
  const sequence = createSequence({ lost() {}, missed() {}, repeated() {} });
  expect(sequence.hasReceived(0)).toBe(false);
  sequence.open(0);
  expect(sequence.hasReceived(0)).toBe(true);
  sequence.receive(1);
  expect(sequence.hasReceived(1)).toBe(true);
  expect(sequence.hasReceived(2)).toBe(false);
});
