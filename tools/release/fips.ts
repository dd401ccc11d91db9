import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { access, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { availableParallelism, tmpdir } from "node:os";
import type { Readable } from "node:stream";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { probes } from "./fips_probes.ts";

/**
 * `npm run fips`: builds OpenSSL's FIPS provider from the distribution's source, and runs algorithms, commands and tests with nothing
 * but it. The result says what is compatible with the provider. A provider built here is not a validated module.
 */

const run = promisify(execFile);
const root = dirname(dirname(import.meta.dirname));
const cache = join(root, "node_modules/.cache/scanstream/fips");
const provider = join(cache, "fips.so");

/** Files of the fast suite in which something is signed, verified, hashed or derived. */
const tests: readonly string[] = [
  "test/scanner/okta/token.test.ts",
  "test/scanner/okta/connection.test.ts",
  "test/scanner/signing",
  "test/gateway/auth",
  "test/gateway/features/webhooks",
  "test/gateway/features/team/api_keys.test.ts",
  "test/practice_org/token_endpoint.test.ts",
  "test/practice_org/openid_provider.test.ts",
  "test/shared/sha1.test.ts",
];

export interface Row {
  readonly what: string;
  readonly result: string;
}

/** The provider, its configuration for Node, and where it comes from. */
async function buildProvider(): Promise<{ readonly config: string; readonly source: string }> {
  const sourceFile = join(cache, "source.txt");
  if (!(await exists(provider))) {
    const work = join(cache, "work");
    await rm(work, { recursive: true, force: true });
    await mkdir(join(work, "lists/partial"), { recursive: true });
    await mkdir(join(work, "archives/partial"), { recursive: true });
    await writeFile(join(work, "src.sources"), await sourcesOfMachine());
    const apt = [
      `Dir::Etc::sourcelist=${work}/src.sources`,
      "Dir::Etc::sourceparts=/dev/null",
      `Dir::State::lists=${work}/lists`,
      `Dir::Cache=${work}`,
      "APT::Sandbox::User=root",
    ].flatMap((option) => ["-o", option]);
    const step = (file: string, args: readonly string[], cwd = work) => {
      process.stderr.write(`> ${file} ${args.slice(-2).join(" ")}\n`);
      return run(file, args, { cwd, maxBuffer: 1e9, env: { ...process.env, NODE_OPTIONS: "" } });
    };
    await step("apt-get", [...apt, "update"]);
    await downloadSource(apt, (args) => step("apt-get", args));
    const dsc = (await readdir(work)).find((file) => file.endsWith(".dsc")) ?? "";
    await step("dpkg-source", ["--no-check", "-x", dsc, "src"]);
    const src = join(work, "src");
    await step("./Configure", ["enable-fips", "no-tests"], src);
    await step("make", ["build_generated"], src);
    await step("make", [`-j${availableParallelism()}`, "providers/fips.so"], src);
    await step("cp", [join(src, "providers/fips.so"), provider]);
    await writeFile(sourceFile, dsc.replace(/\.dsc$/, ""));
    await rm(work, { recursive: true, force: true });
  }
  // Runs the provider's self-tests and writes its checksum.
  await run("openssl", ["fipsinstall", "-out", join(cache, "fipsmodule.cnf"), "-module", provider]);
  const section = await readFile(join(cache, "fipsmodule.cnf"), "utf8");
  const config = join(cache, "node.cnf");
  await writeFile(config, nodeConfig(section));
  return { config, source: await readFile(sourceFile, "utf8") };
}

/** The newest version whose files the mirror has: one that lags behind lists a version before it holds all of its files. */
async function downloadSource(
  apt: readonly string[],
  aptGet: (args: readonly string[]) => Promise<unknown>,
): Promise<void> {
  const { stdout } = await run("apt-cache", [...apt, "showsrc", "openssl"], { maxBuffer: 1e8 });
  const found = new Set([...stdout.matchAll(/^Version: (.+)$/gm)].map(([, version = ""]) => version));
  const versions = [...found].toSorted((one, other) => other.localeCompare(one, "en", { numeric: true }));
  let last: unknown = new Error("No version of the source package openssl was found");
  for (const version of versions) {
    try {
      await aptGet([...apt, "source", "--download-only", `openssl=${version}`]);
      return;
    } catch (error) {
      last = error;
    }
  }
  throw last;
}

/** Node reads `nodejs_conf` alone, and its own libcrypto does not look in the distribution's folder: the module is named by its path. */
function nodeConfig(section: string): string {
  return `nodejs_conf = node_init
[node_init]
providers = provider_sect
alg_section = algorithm_sect
[provider_sect]
fips = fips_sect
base = base_sect
[base_sect]
activate = 1
[algorithm_sect]
default_properties = fips=yes
${section.replace("[fips_sect]", `[fips_sect]\nmodule = ${provider}`)}`;
}

/** The machine's own sources, with their signing keys, as sources of source packages. */
async function sourcesOfMachine(): Promise<string> {
  const folder = "/etc/apt/sources.list.d";
  const name = (await readdir(folder)).find((file) => /^(?:debian|ubuntu)\.sources$/.test(file));
  if (name === undefined) throw new Error(`${folder}: expected debian.sources or ubuntu.sources`);
  return (await readFile(join(folder, name), "utf8")).replaceAll(/^Types: .*$/gm, "Types: deb-src");
}

async function runCommands(env: Readonly<Record<string, string>>): Promise<readonly Row[]> {
  const folder = await mkdtemp(join(tmpdir(), "scanstream-fips-"));
  const program = join(root, "scanstream.ts");
  const started = (args: readonly string[], more: Readonly<Record<string, string>>) =>
    spawn(process.execPath, [program, ...args], {
      cwd: folder,
      env: { PATH: process.env["PATH"], HOME: folder, ...more },
      stdio: ["ignore", "pipe", "ignore"],
    });
  // The org stands for Okta, which is not part of what is tried.
  const org = started(["practice-org", "--port", "0", "--state", "org"], {});
  const gateway = started(["serve"], { ...env, PORT: "0", DRAIN_DELAY_SECONDS: "0" });
  try {
    const orgText = await textUntil(org.stdout, /PRIVATE_KEY_FILE=.*\n/);
    const variables = Object.fromEntries(orgText.match(/^\w+=.*$/gm)?.map((line) => splitOnce(line)) ?? []);
    const url = /http:\S+/.exec(await textUntil(gateway.stdout, /listens on .*\n/))?.[0] ?? "";
    const rows: Row[] = [{ what: "`serve`", result: (await fetch(`${url}/readyz`)).ok ? "works" : "not ready" }];
    for (const [what, args, expected] of [
      ["`keygen` (P-256)", ["keygen", "--output", "p256"], 0],
      ["`keygen --algorithm ed25519`", ["keygen", "--output", "ed25519", "--algorithm", "ed25519"], 0],
      ["`doctor`", ["doctor"], 0],
      ["`scan`, all 16 formats", ["scan", "-f", "all", "-o", "report", "--save-artifacts", "e.json", "-q"], 1],
      [
        "`evaluate --sign` (P-256)",
        ["evaluate", "--from-artifacts", "e.json", "-f", "json", "-o", "a", "--sign", "p256"],
        1,
      ],
      ["`verify` (P-256)", ["verify", "a", "--key", "p256.pub"], 0],
      [
        "`package --sign` (Ed25519)",
        ["package", "--from-artifacts", "e.json", "--output", "b.zip", "--sign", "ed25519"],
        0,
      ],
      ["`verify` (Ed25519)", ["verify", "b.zip", "--key", "ed25519.pub"], 0],
      ["`admin tenant create`", ["admin", "tenant", "create", "--name", "Acme"], 0],
    ] as const) {
      const options = { cwd: folder, env: { PATH: process.env["PATH"], HOME: folder, ...variables, ...env } };
      const { code, stderr } = await run(process.execPath, [program, ...args], options).then(
        () => ({ code: 0, stderr: "" }),
        (error: { readonly code: number; readonly stderr: string }) => error,
      );
      rows.push({ what, result: code === expected ? "works" : `exit ${code}: ${stderr.trim().slice(0, 120)}` });
    }
    return rows;
  } finally {
    gateway.kill("SIGINT");
    org.kill("SIGINT");
    await Promise.all([once(gateway, "close"), once(org, "close")]);
    await rm(folder, { recursive: true, force: true });
  }
}

async function textUntil(stream: Readable, pattern: RegExp): Promise<string> {
  let text = "";
  for await (const chunk of stream.iterator({ destroyOnReturn: false })) {
    text += String(chunk);
    if (pattern.test(text)) return text;
  }
  throw new Error(`The program ended before it wrote ${pattern}`);
}

function splitOnce(line: string): readonly [string, string] {
  const at = line.indexOf("=");
  return [line.slice(0, at), line.slice(at + 1)];
}

async function runTests(env: Readonly<Record<string, string>>): Promise<Row> {
  const file = join(cache, "tests.json");
  await rm(file, { force: true });
  const reporter = ["--reporter", "json", `--outputFile=${file}`, "--typecheck.enabled=false"];
  const options = { cwd: root, maxBuffer: 1e9, env: { ...process.env, ...env } };
  // Exit code 1 says that tests failed; the file says which.
  await run("npx", ["vitest", "run", "--project", "fast", ...reporter, ...tests], options).catch(() => undefined);
  const report = JSON.parse(await readFile(file, "utf8")) as TestReport;
  const { numPassedTests, numFailedTests, numFailedTestSuites, testResults } = report;
  const failed = testResults
    .flatMap(({ assertionResults }) => assertionResults)
    .filter(({ status }) => status === "failed");
  const names = failed.map(({ fullName }) => fullName).join("; ");
  const failures = Math.max(numFailedTests, numFailedTestSuites);
  return {
    what: `${tests.length} groups of fast tests`,
    result: `${numPassedTests} pass, ${failures} fail ${names}`.trim(),
  };
}

interface TestReport {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly numFailedTestSuites: number;
  readonly testResults: readonly {
    readonly assertionResults: readonly { readonly status: string; readonly fullName: string }[];
  }[];
}

async function exists(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}

if (import.meta.main) {
  const { config, source } = await buildProvider();
  const env = { OPENSSL_CONF: config, NODE_OPTIONS: "--force-fips" };
  const print = (title: string, rows: readonly Row[]) => {
    process.stdout.write(`\n| ${title} | with the FIPS provider alone |\n|---|---|\n`);
    for (const { what, result } of rows) process.stdout.write(`| ${what} | ${result} |\n`);
  };
  const { node, openssl } = process.versions;
  const date = new Date().toISOString().slice(0, 10);
  process.stdout.write(`${date}: Node ${node} with OpenSSL ${openssl}; provider from ${source}\n`);
  const { stdout } = await run(process.execPath, [join(import.meta.dirname, "fips_probes.ts")], {
    env: { ...process.env, ...env },
  });
  const algorithms = JSON.parse(stdout) as readonly Row[];
  print("algorithm", algorithms);
  const commands = await runCommands(env);
  print("command", commands);
  const suite = await runTests(env);
  print("tests", [suite]);
  const unexpected = [
    ...algorithms.filter(({ what, result }) => result.startsWith("works") === (probes[what]?.isRefused ?? false)),
    ...commands.filter(({ result }) => result !== "works"),
    ...(/^[1-9]\d* pass, 0 fail$/.test(suite.result) ? [] : [suite]),
  ];
  for (const { what, result } of unexpected) process.stderr.write(`Not as expected: ${what}: ${result}\n`);
  process.exitCode = unexpected.length === 0 ? 0 : 1;
}
