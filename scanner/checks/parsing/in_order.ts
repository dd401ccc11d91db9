import { shorten } from "../../../shared/text.ts";

/**
 * The same items in an order of their own, by a text: what a finding picks or lists must not depend on the order in
 * which the provider happens to answer.
 */
export function inOrder<Item>(items: readonly Item[], textOf: (item: Item) => string): readonly Item[] {
  if (items.length < 2) return items;
  const keyed = items.map((item) => ({ item, text: textOf(item) }));
  keyed.sort((one, other) => (one.text === other.text ? 0 : one.text < other.text ? -1 : 1));
  return keyed.map(({ item }) => item);
}

export function textsInOrder(texts: readonly string[]): readonly string[] {
  return inOrder(texts, (text) => text);
}

/** The first five of them, as a finding lists them. */
export function firstTexts(texts: readonly string[]): string {
  const first = textsInOrder(texts).slice(0, 5);
  return first.map((text) => shorten(text, 100)).join(", ");
}
