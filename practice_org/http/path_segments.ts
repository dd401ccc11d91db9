/** Segments where the path has `*`; null where it is another path. */
export function segmentsOf(path: string, asked: readonly string[]): readonly string[] | null {
  const wanted = path.split("/");
  if (wanted.length !== asked.length) return null;
  const isMatch = wanted.every(
    (segment, index) => segment === asked[index] || (segment === "*" && asked[index] !== ""),
  );
  return isMatch ? asked.filter((_, index) => wanted[index] === "*") : null;
}
