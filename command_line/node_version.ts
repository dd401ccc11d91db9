import packageJson from "../package.json" with { type: "json" };

/** Null where `engines` of package.json has the version, as `22.19.0`; else one line for a person. */
export function explainUnsupportedNode(version: string): string | null {
  const ranges = packageJson.engines.node.split(" || ").map((range) => ({
    lowest: parseVersion(range.replace(/^\D+/, "")),
    isOneMajor: range.startsWith("^"),
  }));
  const actual = parseVersion(version);
  if (ranges.some(({ lowest, isOneMajor }) => isAtLeast(actual, lowest) && (!isOneMajor || actual[0] === lowest[0]))) {
    return null;
  }
  const [oldest = [0, 0]] = ranges.map(({ lowest }) => lowest);
  const inBetween = isAtLeast(actual, oldest) ? ", of an even-numbered release line" : "";
  return `scanstream needs Node ${oldest.join(".")} or later${inBetween}; this is v${version}`;
}

type Version = readonly [major: number, minor: number];

function parseVersion(text: string): Version {
  const [major = 0, minor = 0] = text.split(".").map(Number);
  return [major, minor];
}

function isAtLeast(version: Version, lowest: Version): boolean {
  return version[0] > lowest[0] || (version[0] === lowest[0] && version[1] >= lowest[1]);
}
