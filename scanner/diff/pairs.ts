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
  const byId = pairBy(before, after, { keyOf: keys.idOf, most: Infinity });
  const byName = pairBy(byId.removed, byId.added, { keyOf: keys.nameOf, most: 1 });
  return { ...byName, pairs: [...byId.pairs, ...byName.pairs] };
}

/** Pairs those of one key in their order, where no side has more than `most` of them. */
function pairBy<Item>(
  before: readonly Item[],
  after: readonly Item[],
  { keyOf, most }: { readonly keyOf: (item: Item) => string; readonly most: number },
): Pairing<Item> {
  const now = Map.groupBy(after, keyOf);
  const pairs = [...Map.groupBy(before, keyOf)].flatMap(([key, old]) => {
    const others = now.get(key) ?? [];
    return Math.max(old.length, others.length) > most
      ? []
      : old.slice(0, others.length).map((one, index) => [one, others[index] as Item] as const);
  });
  const paired = new Set(pairs.flat());
  const isLeft = (item: Item) => !paired.has(item);
  return { pairs, removed: before.filter(isLeft), added: after.filter(isLeft) };
}
