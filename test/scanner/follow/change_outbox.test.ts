import { expect, test } from "vitest";
import type { ChangeLine } from "../../../scanner/follow/changes.ts";
import { ChangeOutbox } from "../../../scanner/follow/change_outbox.ts";
import { aChange } from "../../support/change_builders.ts";

const max = 20_000;
const aLine = (): ChangeLine => aChange() as ChangeLine;
const lines = (count: number) => Array.from({ length: count }, aLine);

function setUp() {
  const said: string[] = [];
  return { said, waiting: new ChangeOutbox(null, (text) => void said.push(text)) };
}

test("ChangeOutbox gives nothing to store before it is written, and keeps it until it is settled", () => {
  const { waiting } = setUp();
  const [one, two] = [aLine(), aLine()];
  waiting.add([one]);
  expect(waiting.first(10)).toEqual([]);
  expect(waiting.toSave()).toEqual({ pending: [one], unwritten: 1 });
  expect(waiting.takeUnwritten()).toEqual([one]);
  expect(waiting.takeUnwritten()).toEqual([]);
  waiting.add([two]);
  expect(waiting.first(10)).toEqual([one]);
  waiting.settle([one]);
  expect(waiting.isUnsaved).toBe(true);
  expect(waiting.toSave()).toEqual({ pending: [two], unwritten: 1 });
  expect(waiting.isUnsaved).toBe(false);
});

test("ChangeOutbox goes on from what was saved", () => {
  const pending = lines(3);
  const waiting = new ChangeOutbox({ pending, unwritten: 1 }, () => {});
  expect(waiting.first(10)).toEqual(pending.slice(0, 2));
  expect(waiting.takeUnwritten()).toEqual(pending.slice(2));
});

test("ChangeOutbox keeps the newest 20,000 and says once that older ones are left out", () => {
  const { waiting, said } = setUp();
  const first = lines(max);
  waiting.add(first);
  waiting.takeUnwritten();
  expect(said).toEqual([]);
  for (const line of lines(2)) {
    waiting.add([line]);
    waiting.takeUnwritten();
  }
  expect(waiting.count).toBe(max);
  expect(waiting.first(1)).toEqual([first[2]]);
  expect(said).toEqual([expect.stringMatching(/oldest are dropped/)]);
});

test("ChangeOutbox leaves out nothing that is not written", () => {
  const { waiting } = setUp();
  waiting.add(lines(max + 5));
  expect(waiting.takeUnwritten()).toHaveLength(max + 5);
});
