import packageJson from "../package.json" with { type: "json" };

/** Null where `engines` of package.json has the version, as `22.19.0`; else one line for a person. */
export function explainUnsupportedNode(version: string): string | null {
  const ranges = packageJson.engines.node.split(" || ");
  const lowestOf = (range = "") => range.replace(/^\D+/, "");
  const isFrom = (range = "") => version.localeCompare(lowestOf(range), "en", { numeric: true }) >= 0;
  const isOfMajor = (range: string) => Number.parseInt(version, 10) === Number.parseInt(lowestOf(range), 10);
  if (ranges.some((range) => isFrom(range) && (!range.startsWith("^") || isOfMajor(range)))) return null;
  const [oldest] = ranges;
  const inBetween = isFrom(oldest) ? ", of an even-numbered release line" : "";
  return `scanstream needs Node ${lowestOf(oldest).replace(/\.0$/, "")} or later${inBetween}; this is v${version}`;
}
