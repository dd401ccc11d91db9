import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import packageJson from "../../package.json" with { type: "json" };

/** What `CHANGELOG.md` says of a version that has a date, without the heading; null where it says nothing. */
export function releaseNotes(changelog: string, version: string): string | null {
  const section = changelog
    .split(/^## /m)
    .find((part) => part.startsWith(`[${version}] - `) && /^\[[^\]]+\] - \d{4}-\d{2}-\d{2}\n/.test(part));
  const text = section?.slice(section.indexOf("\n")).trim() ?? "";
  return text === "" ? null : `${text}\n`;
}

if (import.meta.main) {
  const root = dirname(dirname(import.meta.dirname));
  const notes = releaseNotes(await readFile(join(root, "CHANGELOG.md"), "utf8"), packageJson.version);
  if (notes === null) {
    process.stderr.write(`CHANGELOG.md: no section "## [${packageJson.version}] - YYYY-MM-DD"\n`);
    process.exitCode = 2;
  } else {
    process.stdout.write(notes);
  }
}
