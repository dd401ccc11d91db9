/** The name that a misspelt one most likely means; null where none is near enough to be worth a guess. */
export function nearestName(wanted: string, names: readonly string[]): string | null {
  if (wanted.length > maxLength) return null;
  let best: string | null = null;
  let bestDistance = Math.max(2, Math.floor(wanted.length / 3)) + 1;
  for (const name of names) {
    // Letters that are too many or too few have to be put in or taken out: nothing is counted for far longer names.
    if (Math.abs(name.length - wanted.length) >= bestDistance && !name.includes(wanted)) continue;
    // The shortest name that has all of it: "streams" for "stream", not "streamTokenSecret".
    const isPart = name.includes(wanted) && wanted.length >= 4;
    const distance = isPart ? 1 - 1 / (1 + name.length - wanted.length) : editDistance(wanted, name);
    if (distance >= bestDistance) continue;
    best = name;
    bestDistance = distance;
  }
  return best;
}

/** Advice for a person who wrote another name than these. */
export function adviceFor(wanted: string, names: readonly string[]): string {
  const nearest = nearestName(wanted, names);
  return nearest === null ? `expected one of ${names.join(", ")}` : `did you mean ${JSON.stringify(nearest)}?`;
}

/** Longer than any name that somebody could have meant. */
const maxLength = 100;

/** Levenshtein's: the fewest insertions, deletions and replacements that make one of the other. */
function editDistance(one: string, other: string): number {
  let previous = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (const [row, letter] of Array.from(one).entries()) {
    const current = [row + 1];
    for (const [column, against] of Array.from(other).entries()) {
      const replaced = (previous[column] ?? 0) + (letter === against ? 0 : 1);
      current.push(Math.min(replaced, (previous[column + 1] ?? 0) + 1, (current[column] ?? 0) + 1));
    }
    previous = current;
  }
  return previous[other.length] ?? 0;
}
