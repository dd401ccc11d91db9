/** Compares by code units, so the order is the same in every locale. */
export function compareTexts(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

export interface Pairing<Item> {
  readonly pairs: readonly (readonly [before: Item, after: Item])[];
  readonly removed: readonly Item[];
  readonly added: readonly Item[];
}

/** Pairs what has the same id; of the rest what has the same name, where only one on each side has it. */
export function pairUp<Item>(
  before: readonly Item[],
  after: readonly Item[],
  keys: { readonly idOf: (item: Item) => string; readonly nameOf: (item: Item) => string },
): Pairing<Item> {
  const byId = pairBy(before, after, { keyOf: keys.idOf, ofSeveral: "in_order" });
  const byName = pairBy(byId.removed, byId.added, { keyOf: keys.nameOf, ofSeveral: "none" });
  return { pairs: [...byId.pairs, ...byName.pairs], removed: byName.removed, added: byName.added };
}

interface PairOptions<Item> {
  readonly keyOf: (item: Item) => string;
  /** Treatment of several items with one key. */
  readonly ofSeveral: "in_order" | "none";
}

function pairBy<Item>(
  before: readonly Item[],
  after: readonly Item[],
  { keyOf, ofSeveral }: PairOptions<Item>,
): Pairing<Item> {
  const now = Map.groupBy(after, keyOf);
  const pairs: (readonly [Item, Item])[] = [];
  const paired = new Set<Item>();
  for (const [key, old] of Map.groupBy(before, keyOf)) {
    const others = now.get(key) ?? [];
    if (ofSeveral === "none" && (old.length > 1 || others.length > 1)) continue;
    for (const [index, one] of old.entries()) {
      const other = others[index];
      if (other === undefined) break;
      pairs.push([one, other]);
      paired.add(one).add(other);
    }
  }
  const isLeft = (item: Item) => !paired.has(item);
  return { pairs, removed: before.filter(isLeft), added: after.filter(isLeft) };
}
