import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import lockFile from "../../package-lock.json" with { type: "json" };
import packageJson from "../../package.json" with { type: "json" };
import { releaseProblems } from "../../tools/release/check.ts";
import { releaseNotes } from "../../tools/release/notes.ts";

/** What is published says the same name and version everywhere, and the workflows that publish it can be trusted. */

const root = join(import.meta.dirname, "../..");
const read = (file: string) => readFile(join(root, file), "utf8");
const { name, version } = packageJson;

async function documents(): Promise<readonly (readonly [string, string])[]> {
  const docs = (await readdir(join(root, "docs"))).filter((file) => file.endsWith(".md")).map((file) => `docs/${file}`);
  const top = (await readdir(root)).filter((file) => file.endsWith(".md"));
  return Promise.all([...docs, ...top].map(async (file) => [file, await read(file)] as const));
}

describe("one version", () => {
  test("the lock file has that of package.json", () => {
    expect([lockFile.version, lockFile.packages[""].version]).toEqual([version, version]);
  });

  test("the documents name the files of this version", async () => {
    const tarball = `${name.replace(/^@/, "").replace("/", "-")}-${version}.tgz`;
    const texts = await documents();
    const tarballs = texts.flatMap(([, text]) => text.match(/[\w@.-]+-\d+\.\d+\.\d+\.tgz/g) ?? []);
    expect([...new Set(tarballs)]).toEqual([tarball]);
    const executables = texts.flatMap(([, text]) => text.match(/scanstream-[\d.]+-linux/g) ?? []);
    expect([...new Set(executables)]).toEqual([`scanstream-${version}-linux`]);
  });

  test("charts have it as the version of the application", async () => {
    const files = await readdir(root, { recursive: true, withFileTypes: true }).then((entries) =>
      entries.filter(({ name: file, parentPath }) => file === "Chart.yaml" && !parentPath.includes("node_modules")),
    );
    const charts = await Promise.all(files.map(({ parentPath }) => readFile(join(parentPath, "Chart.yaml"), "utf8")));
    for (const chart of charts) expect(parse(chart)).toMatchObject({ appVersion: version });
  });

  test("the changelog has a section of it, or what is unreleased", async () => {
    const changelog = await read("CHANGELOG.md");
    const headings = changelog.match(/^## .*$/gm) ?? [];
    for (const heading of headings) {
      expect(heading).toMatch(/^## \[(?:Unreleased|\d+\.\d+\.\d+\] - \d{4}-\d{2}-\d{2})\]?$/);
    }
    expect(headings[0]).toMatch(new RegExp(`^## \\[(?:Unreleased|${version.replaceAll(".", "\\.")})\\]`));
    const kinds = new Set(changelog.match(/^### .*$/gm));
    expect(
      [...kinds].filter((kind) => !/^### (?:Added|Changed|Deprecated|Removed|Fixed|Security)$/.test(kind)),
    ).toEqual([]);
  });
});

test("one name: documents and examples import what package.json exports", async () => {
  const exported = Object.keys(packageJson.exports).map((path) => path.replace(/^\./, name));
  const clients = await readdir(join(root, "examples/clients"));
  const examples = await Promise.all(clients.map((file) => read(`examples/clients/${file}`)));
  const texts = [...(await documents()).map(([, text]) => text), ...examples];
  const imported = texts.flatMap((text) =>
    [...text.matchAll(/(?:from|import\() ?"((?:@[\w-]+\/)?scanstream(?:\/[^"]*)?)"/g)].map(([, path]) => path),
  );
  expect(imported.length).toBeGreaterThan(3);
  expect(imported.filter((path) => !exported.includes(path ?? ""))).toEqual([]);
});

test("package.json says what a registry shows, and publishes with provenance", () => {
  expect(packageJson).not.toHaveProperty("private");
  expect(packageJson.publishConfig).toEqual({ access: "public", provenance: true });
  expect(packageJson.scripts.prepublishOnly).toBe("npm run -s release:check");
  expect(packageJson.keywords).toEqual(expect.arrayContaining(["okta", "stig", "fedramp"]));
  const address = packageJson.repository.url.replace(/^git\+|\.git$/g, "");
  expect([packageJson.homepage, packageJson.bugs.url].filter((link) => !link.startsWith(address))).toEqual([]);
});

describe("releaseProblems", () => {
  const changelog =
    "# Changelog\n\n## [1.2.3] - 2026-11-22\n\n### Added\n\n- All of it.\n\n## [1.2.2] - 2026-11-01\n\n- Less.\n";
  const manifest = {
    name: "@acme/scanstream",
    version: "1.2.3",
    homepage: "https://github.com/acme/scanstream#readme",
    bugs: { url: "https://github.com/acme/scanstream/issues" },
    repository: { url: "git+https://github.com/acme/scanstream.git" },
  };

  test("has none where repository, tag and changelog agree", () => {
    const release = { manifest, changelog, tag: "v1.2.3", repository: "acme/scanstream" };
    expect(releaseProblems(release)).toEqual([]);
    expect(releaseNotes(changelog, "1.2.3")).toBe("### Added\n\n- All of it.\n");
  });

  test.each([
    [
      "the placeholder",
      { manifest: { ...manifest, repository: { url: "git+https://repository.invalid/scanstream.git" } } },
      /placeholder/,
    ],
    [
      "a repository of another host",
      { manifest: { ...manifest, repository: { url: "git+https://example.com/a/b.git" } } },
      /expected git\+https:\/\/github/,
    ],
    ["no repository", { manifest: { ...manifest, repository: {} } }, /repository\.url is ""/],
    ["a homepage elsewhere", { manifest: { ...manifest, homepage: "https://example.com" } }, /homepage is/],
    ["another repository's workflow", { repository: "mallory/scanstream" }, /npm refuses/],
    ["a private package", { manifest: { ...manifest, private: true } }, /private/],
    ["another tag", { tag: "v1.2.4" }, /expected v1\.2\.3/],
    ["a version without notes", { manifest: { ...manifest, version: "2.0.0" } }, /no section of 2\.0\.0/],
    ["notes without a date", { changelog: "## [1.2.3]\n\n- Text\n" }, /no section of 1\.2\.3/],
    [
      "a section that says nothing",
      { changelog: "## [1.2.3] - 2026-11-22\n\n## [1.2.2] - 2026-11-01\n\n- Less.\n" },
      /no section/,
    ],
  ])("names %s", (_, changed, expected) => {
    expect(releaseProblems({ manifest, changelog, ...changed })).toContainEqual(expect.stringMatching(expected));
  });
});

interface Step {
  readonly name?: string;
  readonly uses?: string;
  readonly run?: string;
  readonly with?: Readonly<Record<string, unknown>>;
}

interface Job {
  readonly uses?: string;
  readonly permissions?: Readonly<Record<string, string>>;
  readonly steps?: readonly Step[];
  readonly "timeout-minutes"?: number;
  readonly strategy?: { readonly matrix?: Readonly<Record<string, readonly string[]>> };
}

interface Workflow {
  readonly permissions?: Readonly<Record<string, string>>;
  readonly concurrency?: unknown;
  readonly on: Readonly<Record<string, unknown>>;
  readonly jobs: Readonly<Record<string, Job>>;
}

const workflowFolder = join(root, ".github/workflows");
const workflows = await Promise.all(
  (await readdir(workflowFolder)).map(
    async (file) => [file, await readFile(join(workflowFolder, file), "utf8")] as const,
  ),
);
const jobs = workflows.flatMap(([file, text]) =>
  Object.entries((parse(text) as Workflow).jobs).map(([job, content]) => [`${file}: ${job}`, content] as const),
);

describe.each(workflows)("%s", (_, text) => {
  const workflow = parse(text) as Workflow;

  test("gives no permission to all jobs, and runs once at a time", () => {
    expect(workflow.permissions).toEqual({});
    expect(workflow.concurrency).toBeDefined();
    expect(Object.keys(workflow.on)).not.toContain("pull_request_target");
    expect(Object.keys(workflow.on)).not.toContain("workflow_run");
  });

  test("uses actions by commit, with the version beside it", () => {
    const uses = text.split("\n").filter((line) => /^\s*(?:- )?uses: (?!\.\/)/.test(line));
    expect(uses.length).toBeGreaterThan(0);
    expect(uses.filter((line) => !/uses: [\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(line))).toEqual([]);
  });
});

describe.each(jobs)("%s", (name, job) => {
  const steps = job.steps ?? [];

  test("has the permissions that it needs, and a limit of time", () => {
    expect(job.permissions).toBeDefined();
    // The nightly job generates input and mutations for hours; a hosted runner ends any job after six.
    const mostMinutes = name.startsWith("nightly.yml") ? 350 : 60;
    if (job.uses === undefined) expect(job["timeout-minutes"]).toBeLessThanOrEqual(mostMinutes);
  });

  test("leaves no token in the checkout", () => {
    const checkouts = steps.filter(({ uses }) => uses?.startsWith("actions/checkout@"));
    expect(checkouts.filter((step) => step.with?.["persist-credentials"] !== false)).toEqual([]);
  });

  test("installs what system tests need before it runs them", () => {
    const runs = steps.map(({ run = "" }) => run);
    const tests = runs.findIndex((run) => /npm (?:test|run (?:check|test:nightly))|vitest run/.test(run));
    const install = runs.indexOf('sudo "$(command -v node)" test/support/machine_tools_main.ts');
    if (tests >= 0) expect(install).toBeGreaterThanOrEqual(0);
    expect(install).toBeLessThan(Math.max(tests, 0));
  });

  test("has no expression in a script: a title or a branch could be a command", () => {
    expect(steps.filter(({ run }) => run?.includes("${{"))).toEqual([]);
  });

  test("runs scripts of package.json that exist", () => {
    const scripts = steps.flatMap(({ run = "" }) =>
      [...run.matchAll(/npm run (?:-s )?([\w:-]+)/g)].map(([, script]) => script),
    );
    expect(scripts.filter((script) => !(script !== undefined && script in packageJson.scripts))).toEqual([]);
  });
});

test("may write only where something is published", () => {
  const writing = jobs.flatMap(([job, { permissions = {} }]) =>
    Object.entries(permissions).flatMap(([scope, access]) => (access === "write" ? [`${job}: ${scope}`] : [])),
  );
  expect(writing.toSorted()).toEqual([
    "codeql.yml: analyze: security-events",
    "docs.yml: publish: id-token",
    "docs.yml: publish: pages",
    "release.yml: attest: attestations",
    "release.yml: attest: id-token",
    "release.yml: github: contents",
    "release.yml: image: attestations",
    "release.yml: image: id-token",
    "release.yml: image: packages",
    "release.yml: npm: id-token",
    "scorecard.yml: analyze: id-token",
    "scorecard.yml: analyze: security-events",
    "vulnerabilities.yml: vex: issues",
  ]);
});

test("the package is tried on the oldest and the newest Node of each line of `engines`", () => {
  const ranges = packageJson.engines.node.split(" || ").map((range) => range.replace(/^(?:\^|>=)/, ""));
  const wanted = ranges.flatMap((oldest) => [oldest, oldest.split(".")[0]]);
  const matrix = jobs.find(([job]) => job === "ci.yml: node")?.[1].strategy?.matrix?.["node"];
  expect(matrix).toEqual(wanted);
});

test("workflows, action.yml and the documents' recipes use one commit of each action, and never a name that can be moved", async () => {
  const recipes = (await documents()).map(([, text]) => text);
  const texts = [await read("action.yml"), ...workflows.map(([, text]) => text), ...recipes].join("\n");
  const uses = texts.match(/\buses: (?!\.\/)\S+/g) ?? [];
  expect(uses.filter((use) => !/@(?:[0-9a-f]{40}|<commit>)$/.test(use))).toEqual([]);
  const commits = new Map<string, Set<string>>();
  for (const [, action = "", commit = ""] of texts.matchAll(/uses: ([\w-]+\/[\w-]+)\S*@([0-9a-f]{40})/g)) {
    commits.set(action, (commits.get(action) ?? new Set()).add(commit));
  }
  expect([...commits].filter(([, found]) => found.size !== 1)).toEqual([]);
  expect(commits.size).toBeGreaterThan(5);
});
