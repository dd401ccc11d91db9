import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { releaseNotes } from "./notes.ts";

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly private?: boolean;
  readonly homepage?: string;
  readonly bugs?: { readonly url?: string };
  readonly repository?: { readonly url?: string };
}

export interface Release {
  readonly manifest: Manifest;
  readonly changelog: string;
  /** `v1.2.3`, where a tag is what is released. */
  readonly tag?: string;
  /** `owner/name`, as the workflow that releases knows it. */
  readonly repository?: string;
}

/** A domain of RFC 6761, which nobody can register: until there is a repository, no link leads to a stranger. */
const placeholderHost = "repository.invalid";

/** Why this must not be published, one sentence each; none: it may. */
export function releaseProblems({ manifest, changelog, tag, repository }: Release): readonly string[] {
  const { version, homepage = "", bugs, repository: { url = "" } = {} } = manifest;
  const address = url.replace(/^git\+/, "").replace(/\.git$/, "");
  const problems: string[] = [];
  if (manifest.private === true) problems.push('package.json: "private" is true: expected no such field');
  if (address.includes(placeholderHost)) {
    problems.push(
      `package.json: repository.url is the placeholder "${url}": expected the repository's address, ` +
        "git+https://github.com/OWNER/NAME.git, in homepage and bugs.url too",
    );
  } else {
    if (!/^https:\/\/github\.com\/[\w.-]+\/[\w.-]+$/.test(address)) {
      problems.push(`package.json: repository.url is "${url}": expected git+https://github.com/OWNER/NAME.git`);
    }
    for (const [field, link] of [
      ["homepage", homepage],
      ["bugs.url", bugs?.url ?? ""],
    ]) {
      if (!link?.startsWith(address)) problems.push(`package.json: ${field} is "${link}": expected ${address}…`);
    }
    if (repository !== undefined && address !== `https://github.com/${repository}`) {
      problems.push(`package.json: repository.url is "${url}", but this is ${repository}: npm refuses its provenance`);
    }
  }
  if (tag !== undefined && tag !== `v${version}`) {
    problems.push(`The tag is ${tag}, but package.json says ${version}: expected v${version}`);
  }
  if (releaseNotes(changelog, version) === null) {
    problems.push(`CHANGELOG.md: no section of ${version}: expected "## [${version}] - YYYY-MM-DD" with what changed`);
  }
  return problems;
}

if (import.meta.main) {
  const root = dirname(dirname(import.meta.dirname));
  const { values } = parseArgs({ options: { tag: { type: "string" }, repository: { type: "string" } } });
  const [manifest = "", changelog = ""] = await Promise.all(
    ["package.json", "CHANGELOG.md"].map((file) => readFile(join(root, file), "utf8")),
  );
  const problems = releaseProblems({ manifest: JSON.parse(manifest) as Manifest, changelog, ...values });
  for (const problem of problems) process.stderr.write(`${problem}\n`);
  if (problems.length > 0) process.exitCode = 2;
}
