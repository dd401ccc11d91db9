import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";
import { promisify } from "node:util";
import { build } from "esbuild";
import packageJson from "../package.json" with { type: "json" };
import { buildPackage } from "./build.ts";
import { nodeBundle } from "./node_bundle.ts";
import { executableNode, nodeBinary, platforms, type Platform } from "./node_binaries.ts";
import { thirdPartyLicenses } from "./third_party_licenses.ts";

const run = promisify(execFile);
const root = dirname(import.meta.dirname);

/**
 * Builds one program for each platform that needs neither Node nor npm: Node's single-executable form, with the page, the
 * migrations and the embedded database inside. In `folder` there are then a program with its licences, and `SHA256SUMS`.
 * Run as `node tools/build_executable.ts [--archive] [PLATFORM…]`; with `--archive` each becomes a `.tar.gz`.
 */
async function buildExecutables(
  folder: string,
  chosen: readonly Platform[] = platforms,
  options: { readonly archive?: boolean } = {},
): Promise<readonly string[]> {
  await mkdir(folder, { recursive: true });
  const work = await mkdtemp(join(folder, "building-"));
  try {
    const contents = await buildContents(work);
    const files: string[] = [];
    // One after another: each takes as much memory as Node is large.
    for (const platform of chosen) {
      const name = `scanstream-${packageJson.version}-${platform}`;
      const target = join(work, name);
      await mkdir(target);
      const binary = await nodeBinary(platform);
      await inject(contents, binary.file, join(target, "scanstream"));
      await writeFile(join(target, "LICENSES.txt"), await licenses(contents, binary.license));
      files.push(await place(folder, target, name, options.archive === true));
    }
    await writeFile(join(folder, "SHA256SUMS"), (await Promise.all(files.map((file) => sumOf(folder, file)))).join(""));
    return files.map((file) => join(folder, file));
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

interface Contents {
  readonly main: string;
  /** Files by the name under which the program asks for them. */
  readonly assets: Readonly<Record<string, string>>;
  readonly thirdParty: string;
}

async function buildContents(work: string): Promise<Contents> {
  const dist = join(work, "dist");
  const main = join(work, "main.mjs");
  await buildPackage(dist);
  // One file: the executable's own code can import nothing but Node's modules.
  const { metafile } = await build({ ...nodeBundle, entryPoints: ["command_line/scanstream.ts"], outfile: main });
  const pglite = dirname(new URL(import.meta.resolve("@electric-sql/pglite")).pathname);
  const files = [
    ...(await filesIn(dist, "web")),
    ...(await filesIn(dist, "migrations")),
    ...["pglite.wasm", "initdb.wasm", "pglite.data"].map((name) => [`pglite/${name}`, join(pglite, name)] as const),
  ];
  const page = await readFile(join(dist, "THIRD_PARTY_LICENSES.txt"), "utf8");
  const program = await thirdPartyLicenses(root, [metafile]);
  return {
    main,
    assets: Object.fromEntries(files),
    thirdParty: `${page}\n${program}`,
  };
}

async function filesIn(dist: string, folder: string) {
  const entries = await readdir(join(dist, folder), { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .map((file) => [relative(dist, file), file] as const);
}

/** The Node of this machine's platform writes the program, into a copy of the other platform's Node. */
async function inject({ main, assets }: Contents, executable: string, output: string): Promise<void> {
  const config = `${output}.json`;
  const form = { main, mainFormat: "module", executable, output, assets, disableExperimentalSEAWarning: true };
  await writeFile(config, JSON.stringify({ ...form, useCodeCache: false, useSnapshot: false }));
  const builder = await nodeBinary(`linux-${process.arch}` as Platform);
  await run(builder.file, ["--build-sea", config], { env: {} });
  await rm(config);
}

async function licenses({ thirdParty }: Contents, nodeLicense: string): Promise<string> {
  const [own, node] = await Promise.all([join(root, "LICENSE"), nodeLicense].map((file) => readFile(file, "utf8")));
  const rule = `\n${"=".repeat(80)}\n\n`;
  return [own, `Packages inside:\n\n${thirdParty}`, `Node.js ${executableNode}:\n\n${node}`].join(rule);
}

async function place(folder: string, target: string, name: string, isArchive: boolean): Promise<string> {
  if (isArchive) {
    const args = [
      "--sort=name",
      "--owner=0",
      "--group=0",
      "--numeric-owner",
      "--mtime=@0",
      "-C",
      dirname(target),
      name,
    ];
    await run("tar", ["-czf", join(folder, `${name}.tar.gz`), ...args]);
    return `${name}.tar.gz`;
  }
  await rm(join(folder, name), { recursive: true, force: true });
  await run("mv", [target, join(folder, name)]);
  return `${name}/scanstream`;
}

/** A line as `sha256sum --check` reads it. */
async function sumOf(folder: string, file: string): Promise<string> {
  const hash = createHash("sha256").update(await readFile(join(folder, file)));
  return `${hash.digest("hex")}  ${file}\n`;
}

if (import.meta.main) {
  const args = process.argv.slice(2);
  const wanted = args.filter((arg) => arg !== "--archive");
  const unknown = wanted.find((arg) => !(platforms as readonly string[]).includes(arg));
  if (unknown !== undefined) {
    process.stderr.write(`Unknown platform "${unknown}": known are ${platforms.join(", ")}\n`);
    process.exitCode = 2;
  } else {
    const chosen = wanted.length === 0 ? platforms : (wanted as readonly Platform[]);
    const archive = args.includes("--archive");
    const files = await buildExecutables(resolve(root, "executables"), chosen, { archive });
    for (const file of files) process.stdout.write(`${relative(process.cwd(), file)}\n`);
  }
}
