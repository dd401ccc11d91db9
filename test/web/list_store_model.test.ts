import { describe, expect, test } from "vitest";
import { createListStore } from "../../gateway/web/model/list_store.ts";

interface Item {
  readonly id: string;
  readonly createdAtMs: number;
  readonly isEnded: boolean;
}

function anItem(id: string, isEnded = false): Item {
  return { id, createdAtMs: Number(id.slice(1)), isEnded };
}

/** `s1` has ended, `s2` and `s3` have not. */
function aList({ isLoaded = true } = {}) {
  const list = createListStore<Item>(
    {
      list: () => Promise.reject(new Error("no request is expected")),
      isEnded: (item) => item.isEnded,
      merge: (_, next) => next,
    },
    () => undefined,
    new AbortController().signal,
  );
  const items = [anItem("s3"), anItem("s2"), anItem("s1", true)];
  if (isLoaded) list.replace(items.slice(0, 2), { items, nextCursor: null }, 7);
  return list;
}

const idsOf = (list: ReturnType<typeof aList>) => list.items.map(({ id }) => id);

const ends = (newestEndedId: string | null, deletedCount = 7) => ({ newestEndedId, deletedCount });

describe("resume", () => {
  test("goes on with what is known where no end was missed, and takes what is new", () => {
    const list = aList();
    expect(list.resume([anItem("s4"), anItem("s3"), anItem("s2")], ends("s1"))).toBe(true);
    expect(idsOf(list)).toEqual(["s4", "s3", "s2", "s1"]);
  });

  test("goes on where nothing has ever ended", () => {
    const list = aList({ isLoaded: false });
    list.replace([anItem("s1")], { items: [anItem("s1")], nextCursor: null }, 7);
    expect(list.resume([anItem("s1")], ends(null))).toBe(true);
  });

  test.each([
    ["one came and ended", ["s3", "s2"], "s4"],
    ["a known one ended", ["s3"], "s2"],
    ["a known one is there no more", ["s3"], "s1"],
  ])("asks for the newest page where %s", (_, unended, newestEndedId) => {
    const list = aList();
    const present = unended.map((id) => anItem(id));
    expect(list.resume(present, ends(newestEndedId))).toBe(false);
    expect(idsOf(list)).toEqual(["s3", "s2", "s1"]);
  });

  test("asks for the newest page before the list was read once", () => {
    expect(aList({ isLoaded: false }).resume([], ends(null))).toBe(false);
  });

  test.each<readonly [name: string, events: readonly (number | null)[], deletedCount: number, isKnown: boolean]>([
    ["one was deleted unseen", [], 8, false],
    ["two were deleted, and the event of one is missing", [8], 9, false],
    ["the later of two was heard first, and the earlier one never", [9], 9, false],
    ["several were deleted together", [null], 8, false],
    ["the event of each was heard", [8, 9], 9, true],
    ["an event came of what the snapshot had counted", [7, 8], 8, true],
  ])("where %s: the newest page is read again unless nothing was missed", (_, events, deletedCount, isKnown) => {
    const list = aList();
    for (const count of events) list.remove("s0", count);
    expect(list.resume([anItem("s3"), anItem("s2")], ends("s1", deletedCount))).toBe(isKnown);
  });

  test("older pages are read again where one of them was deleted unseen", () => {
    const list = aList();
    list.replace([], { items: [anItem("s3", true)], nextCursor: "older" }, 8);
    expect(idsOf(list)).toEqual(["s3"]);
    expect(list.hasMore).toBe(true);
  });
});
