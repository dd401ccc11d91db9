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
  if (isLoaded) list.replace(items.slice(0, 2), { items, nextCursor: null });
  return list;
}

const idsOf = (list: ReturnType<typeof aList>) => list.items.map(({ id }) => id);

describe("resume", () => {
  test("goes on with what is known where no end was missed, and takes what is new", () => {
    const list = aList();
    expect(list.resume([anItem("s4"), anItem("s3"), anItem("s2")], "s1")).toBe(true);
    expect(idsOf(list)).toEqual(["s4", "s3", "s2", "s1"]);
  });

  test("goes on where nothing has ever ended", () => {
    const list = aList({ isLoaded: false });
    list.replace([anItem("s1")], { items: [anItem("s1")], nextCursor: null });
    expect(list.resume([anItem("s1")], null)).toBe(true);
  });

  test.each([
    ["one came and ended", ["s3", "s2"], "s4"],
    ["a known one ended", ["s3"], "s2"],
    ["a known one is there no more", ["s3"], "s1"],
  ])("asks for the newest page where %s", (_, unended, newestEndedId) => {
    const list = aList();
    const present = unended.map((id) => anItem(id));
    expect(list.resume(present, newestEndedId)).toBe(false);
    expect(idsOf(list)).toEqual(["s3", "s2", "s1"]);
  });

  test("asks for the newest page before the list was read once", () => {
    expect(aList({ isLoaded: false }).resume([], null)).toBe(false);
  });
});
