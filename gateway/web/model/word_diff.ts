/** A piece of a text, and whether the other text lacks it. */
export interface DiffPart {
  readonly text: string;
  readonly isOther: boolean;
}

/** Longer texts are shown as they are. */
const maxWords = 200;

/** Both texts in pieces, by the longest sequence of words that they share. */
export function diffWords(expected: string, actual: string): readonly [readonly DiffPart[], readonly DiffPart[]] {
  const a = expected.split(/(\s+)/);
  const b = actual.split(/(\s+)/);
  if (a.length > maxWords || b.length > maxWords) return [[same(expected)], [same(actual)]];
  // lengths[i][j]: how many words the texts from i and from j on share.
  const lengths = Array.from({ length: a.length + 1 }, () => Array.from({ length: b.length + 1 }, () => 0));
  const at = (i: number, j: number) => lengths[i]?.[j] ?? 0;
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      const row = lengths[i];
      if (row !== undefined) row[j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  const left: DiffPart[] = [];
  const right: DiffPart[] = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    const [one, other] = [a[i], b[j]];
    if (one !== undefined && one === other) {
      add(left, one, false);
      add(right, one, false);
      i += 1;
      j += 1;
    } else if (other === undefined || (one !== undefined && at(i + 1, j) >= at(i, j + 1))) {
      add(left, one ?? "", true);
      i += 1;
    } else {
      add(right, other, true);
      j += 1;
    }
  }
  return [left, right];
}

function same(text: string): DiffPart {
  return { text, isOther: false };
}

function add(parts: DiffPart[], text: string, isOther: boolean): void {
  const last = parts.at(-1);
  if (last?.isOther === isOther) parts[parts.length - 1] = { text: last.text + text, isOther };
  else parts.push({ text, isOther });
}
