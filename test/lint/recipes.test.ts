import { execFile } from "node:child_process";
import { cp, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createPracticeOrg, type PracticeOrg } from "../../practice_org/create_practice_org.ts";
import { temporaryFolder } from "../support/command_line.ts";

/** The documented commands run with an Okta key: they run this repository's code, on a Node that is new enough. */

const run = promisify(execFile);
const root = join(import.meta.dirname, "../..");

/**
 * A registry's package of this name could be published by an attacker. Allowed are a path (`./scanstream-0.1.0.tgz`) and
 * scripts of this repository (`npm run scanstream`).
 */
const registryInstall =
  /\b(?:npx|bunx|npm (?:x|exec)|(?:pnpm|yarn) (?:dlx|exec)|(?:npm|pnpm|bun) (?:i|install|add)|yarn (?:global )?add|deno (?:run|install))(?=[^\n&|;]*[\s:"'=]scanstream(?:@|\b(?![-./\w])))/;

test.each([
  "npx --yes scanstream@0.1.0 scan",
  "npx scanstream scan",
  "npx --package scanstream@1 scanstream",
  "npm install -g scanstream",
  "npm i scanstream@latest",
  'npx --yes "scanstream@$INPUT_VERSION"',
  "pnpm dlx scanstream",
  "yarn add scanstream",
  "bunx scanstream",
  "deno run -A npm:scanstream",
])("finds a registry's package in %s", (line) => {
  expect(line).toMatch(registryInstall);
});

test.each([
  "npm install --omit=dev ./scanstream-0.1.0.tgz",
  "npm install /tmp/scanstream-*.tgz",
  "npm run scanstream -- scan",
  "npm ci && node scanstream.ts scan",
  "npm install && npm start",
  "npx wrangler deploy",
])("finds no registry's package in %s", (line) => {
  expect(line).not.toMatch(registryInstall);
});

describe("no file of the repository", () => {
  let lines: readonly string[];
  beforeAll(async () => {
    const { stdout } = await run("git", ["-C", root, "ls-files", "-z", "--cached", "--others", "--exclude-standard"]);
    const files = stdout.split("\0").filter((file) => !/^$|^test\/|\.(png|svg)$|^package-lock\.json$/.test(file));
    expect(files).toEqual(expect.arrayContaining(["README.md", "action.yml", "Dockerfile", "docs/ci.md"]));
    const texts = await Promise.all(
      files.map(async (file) => [file, await readFile(join(root, file), "utf8")] as const),
    );
    lines = texts.flatMap(([file, text]) => text.split("\n").map((line) => `${file}: ${line}`));
  });

  test("installs a package named scanstream from a registry", () => {
    expect(lines.filter((line) => registryInstall.test(line))).toEqual([]);
    // A unit of systemd has a port where a package has a version.
    const packages = lines.filter((line) => !/\bsystemctl (?:enable|restart)\b/.test(line));
    expect(packages.filter((line) => /["'`= ]scanstream@[\d$"]/.test(line))).toEqual([]);
  });

  test("uses an action of others by a name that can be moved, in action.yml", () => {
    const uses = lines.filter((line) => /^action\.yml:\s+(- )?uses: (?!\.\/)/.test(line));
    expect(uses.length).toBeGreaterThan(0);
    expect(uses.filter((line) => !/@[0-9a-f]{40} # v\d/.test(line))).toEqual([]);
  });

  test("uses this action by anything but a commit", () => {
    expect(lines.filter((line) => /uses: \S+\/scanstream@(?!<commit>)/.test(line))).toEqual([]);
  });
});

/** The `run` script of a step of action.yml: what stands indented below `run: |`. */
async function stepScript(name: string): Promise<string> {
  const text = await readFile(join(root, "action.yml"), "utf8");
  const step = text.split(/^ {4}- /m).find((part) => part.startsWith(`name: ${name}\n`)) ?? "";
  const [, script = ""] = /^ {6}run: \|\n((?: {8}.*\n|\n)+)/m.exec(step) ?? [];
  expect(script).not.toBe("");
  return script.replaceAll(/^ {8}/gm, "");
}

describe("action.yml", () => {
  let org: PracticeOrg;
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  beforeAll(async () => {
    folder = await temporaryFolder();
    org = await createPracticeOrg({ profile: { name: "typical" }, role: "read-only" });
  });
  afterAll(async () => {
    await org.stop();
    await folder[Symbol.asyncDispose]();
  });

  const inputs = { FORMAT: "json,sarif", OUTPUT: "report", FAIL_ON: "fail", FAIL_ON_NEW: "false" };

  async function scan(given: Readonly<Record<string, string>>, { action = root, cwd = folder.path } = {}) {
    const all = { BASELINE: "", WAIVERS: "", ATTESTATIONS: "", ...inputs, ...given };
    const env = {
      PATH: `${join(root, "node_modules/.bin")}:${process.env["PATH"]}`,
      IDP_ORG_URL: org.url,
      IDP_CLIENT_ID: org.clientId,
      IDP_PRIVATE_KEY: org.privateKeyPem,
      // An input that is not given is an empty variable.
      IDP_PRIVATE_KEY_ID: "",
      SCANSTREAM_URL: "",
      SCANSTREAM_API_KEY: "",
      GITHUB_ACTION_PATH: action,
      GITHUB_OUTPUT: join(folder.path, "outputs"),
      ...Object.fromEntries(Object.entries(all).map(([name, value]) => [`INPUT_${name}`, value])),
    };
    const script = await stepScript("Scan");
    return run("bash", ["--noprofile", "--norc", "-eo", "pipefail", "-c", script], { cwd, env }).then(
      () => 0,
      (error: { readonly code: number }) => error.code,
    );
  }

  test("scans from a folder of the caller's with the code of the action itself, and outputs the report's path", async () => {
    expect(await scan({})).toBe(1);
    expect(JSON.parse(await readFile(join(folder.path, "report/scan.json"), "utf8"))).toMatchObject({
      schema: "scanstream.report/1",
    });
    expect(await readFile(join(folder.path, "outputs"), "utf8")).toMatch(
      /^report=report\/scan\.json\nfailed=[1-9]\d*\npassed=\d+\nmanual=\d+\nnot-applicable=\d+\n$/,
    );
  });

  test("an output with a line break is refused, and becomes no output of the step", async () => {
    await writeFile(join(folder.path, "outputs"), "");
    expect(await scan({ OUTPUT: "report\nfailed=0" })).toBe(2);
    expect(await readFile(join(folder.path, "outputs"), "utf8")).toBe("");
  });

  test("installs what the scan needs and nothing else, in an empty repository", async () => {
    const action = join(folder.path, "action");
    const { stdout } = await run("git", ["-C", root, "ls-files", "-z", "--cached", "--others", "--exclude-standard"]);
    const files = stdout.split("\0").filter((file) => /^(?!test\/|docs\/).*\.(?:ts|tsx|json)$/.test(file));
    for (const file of files) await cp(join(root, file), join(action, file));
    const repository = join(folder.path, "empty");
    await mkdir(repository);
    const env = { ...process.env, GITHUB_ACTION_PATH: action };
    const shell = ["--noprofile", "--norc", "-eo", "pipefail", "-c"];
    await run("bash", [...shell, await stepScript("Install")], { cwd: repository, env });
    const installed = await readdir(join(action, "node_modules"));
    expect(installed).toEqual(expect.arrayContaining(["undici", "jose", "commander"]));
    expect(installed).not.toContain("vitest");
    expect(await scan({ OUTPUT: "there" }, { action, cwd: repository })).toBe(1);
    expect(await readdir(repository)).toEqual(["there"]);
    expect((await readdir(join(repository, "there"))).toSorted()).toEqual(["scan.json", "scan.sarif"]);
  });

  test("passes every input on, and none becomes a command", async () => {
    await writeFile(join(folder.path, "waivers.json"), "[]");
    const baseline = { BASELINE: "report/scan.json", FAIL_ON_NEW: "true", WAIVERS: "waivers.json" };
    expect(await scan({ OUTPUT: "out; touch $(echo owned) `touch owned`", ...baseline })).toBe(0);
    await expect(readFile(join(folder.path, "owned"))).rejects.toThrow("ENOENT");
  });

  test("has no secret in the environment of the step that installs", async () => {
    const text = await readFile(join(root, "action.yml"), "utf8");
    const steps = text
      .slice(text.indexOf("  steps:\n"))
      .split(/^ {4}- /m)
      .slice(1);
    const withSecrets = steps.filter((step) => /private-key|api-key|IDP_/.test(step));
    expect(withSecrets.map((step) => step.split("\n")[0])).toEqual(["name: Scan"]);
    expect(await stepScript("Install")).toMatch(/npm ci .*--ignore-scripts/);
  });
});
