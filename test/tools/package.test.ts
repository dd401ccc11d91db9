import { execFile } from "node:child_process";
import { cp, mkdir, readdir, readFile, stat } from "node:fs/promises";
import { isBuiltin } from "node:module";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import type { Metafile } from "esbuild";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import packageJson from "../../package.json" with { type: "json" };
import { keepProductPackages, productFolders, productPackages } from "../../tools/product_manifest.ts";
import { parseDocument } from "../../tools/docs/document.ts";
import { deadLinks } from "../../tools/docs/links.ts";
import { writeSboms } from "../../tools/release/sbom.ts";
import { bundleMetafile, temporaryFolder } from "../support/command_line.ts";
import { installTarball, packTarball } from "../support/tarball.ts";

/** What is published: the tarball of `npm pack`, installed into an empty folder. */

const run = promisify(execFile);
const root = join(import.meta.dirname, "../..");

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
const metafile = JSON.parse(await readFile(bundleMetafile, "utf8")) as Metafile;
let installed: string;
let tarball: string;
beforeAll(async () => {
  folder = await temporaryFolder();
  tarball = await packTarball(join(folder.path, "package"));
  installed = join(folder.path, "installed");
  await installTarball(tarball, installed);
});
afterAll(() => folder[Symbol.asyncDispose]());

describe("the tarball", () => {
  const maxInstalledBytes = 12_000_000;

  test("installs as one package without scripts, in at most 12 MB", async () => {
    const entries = await readdir(join(installed, "node_modules"), { recursive: true, withFileTypes: true });
    const files = entries.filter((entry) => entry.isFile() && entry.name !== ".package-lock.json");
    const others = files.filter(({ parentPath }) => !parentPath.startsWith(join(installed, "node_modules/scanstream")));
    expect(others).toEqual([]);
    const sizes = await Promise.all(
      files.map(async ({ parentPath, name }) => (await stat(join(parentPath, name))).size),
    );
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(maxInstalledBytes);
    const { scripts } = packageJson;
    // npm asks for an approval of each package that has one of these.
    for (const name of ["preinstall", "install", "postinstall", "prepare"]) expect(scripts).not.toHaveProperty(name);
  });

  test("has the licence of every package that is in the bundle", async () => {
    const text = await readFile(join(installed, "node_modules/scanstream/dist/THIRD_PARTY_LICENSES.txt"), "utf8");
    for (const [name, version] of Object.entries(await productPackages(root))) {
      if (isBundled(name)) expect(text).toContain(`${name} ${version} (`);
    }
    expect(text).toContain("Permission is hereby granted, free of charge");
  });

  test("has the documents that its README leads to, and none of their links is dead", async () => {
    const package_ = join(installed, "node_modules", packageJson.name);
    const files = (await readdir(package_, { recursive: true })).filter((file) => /^(?:docs\/)?[^/]+\.md$/.test(file));
    expect(files).toEqual(expect.arrayContaining(["README.md", "CHANGELOG.md", "docs/install.md", "docs/ci.md"]));
    const documents = await Promise.all(
      files.map(async (file) => parseDocument(file, await readFile(join(package_, file), "utf8"))),
    );
    const dead = await deadLinks(documents, package_);
    // Sources and figures of the repository, which a reader of the package has no use for.
    const isSource = (line: string) => / leads to (?:bench\/|vitest\.config\.ts)/.test(line);
    expect(dead.filter((line) => !isSource(line))).toEqual([]);
    expect(dead.filter((line) => line.startsWith("README.md: "))).toEqual([]);
  });

  test("works as its user would use it, on this Node", async () => {
    await cp(join(import.meta.dirname, "try_package.mjs"), join(installed, "try_package.mjs"));
    const { stdout } = await run(process.execPath, ["try_package.mjs"], { cwd: installed });
    expect(stdout).toBe(`${packageJson.name} ${packageJson.version} works on Node ${process.versions.node}\n`);
  });

  test("runs, and its help comes from it", async () => {
    const { stdout } = await run(process.execPath, [program(), "scan", "--help"], { cwd: installed });
    expect(stdout).toContain("scan an Okta org against the STIG and report the results");
  });

  test("has all that its chunks load, but the embedded database", async () => {
    const dist = join(installed, "node_modules/scanstream/dist");
    // Those three run when they are loaded.
    const chunks = (await readdir(dist)).filter(
      (name) => name.endsWith(".js") && !/^(?:scanstream|start|main-)/.test(name),
    );
    const load = `for (const chunk of ${JSON.stringify(chunks)}) await import("./" + chunk).catch((error) => console.log(error.message));`;
    const { stdout } = await run(process.execPath, ["--input-type=module", "-e", load], { cwd: dist });
    const missing = stdout.split("\n").filter((line) => !/^Cannot find package '@electric-sql\/pglite'|^$/.test(line));
    expect(missing).toEqual([]);
    expect(chunks.length).toBeGreaterThan(20);
  });

  test("installed for the whole machine, has its manual where man looks", async () => {
    const prefix = join(folder.path, "global");
    await run("npm", ["install", "-g", "--prefix", prefix, "--offline", "--ignore-scripts", "--no-audit", tarball]);
    const { stdout } = await run(join(prefix, "bin/scanstream"), ["completion", "bash"]);
    expect(stdout).toContain("complete -F _scanstream scanstream");
    expect(await readFile(join(prefix, "share/man/man1/scanstream.1"), "utf8")).toMatch(/^\.TH SCANSTREAM 1 /m);
  });

  test.each([["serve"], ["admin", "tenant", "list"]])(
    "says how to install the embedded database where `%s` needs it",
    async (...args) => {
      const outcome = await run(process.execPath, [program(), ...args], { cwd: installed, env: { PORT: "0" } }).then(
        () => null,
        (error: unknown) => error,
      );
      const version = packageJson.peerDependencies["@electric-sql/pglite"];
      expect(outcome).toMatchObject({
        code: 2,
        stdout: "",
        stderr: expect.stringMatching(
          `^(Cannot use the configuration: )?DATABASE_URL: unset, and the embedded database is not installed: run \`npm install @electric-sql/pglite@${version}\`, or set DATABASE_URL to a Postgres database\n$`,
        ),
      });
    },
  );

  function program(): string {
    return join(installed, "node_modules/scanstream/dist/scanstream.js");
  }
});

function isBundled(name: string): boolean {
  return Object.values(metafile.outputs).some(({ inputs }) =>
    Object.keys(inputs).some((file) => file.includes(`node_modules/${name}/`)),
  );
}

describe("the bundle", () => {
  /** What is loaded with the files of this name: they, and what they import statically. */
  function loadedWith(name: RegExp) {
    const loaded = new Map<string, Metafile["outputs"][string]>();
    const load = (path: string) => {
      const output = metafile.outputs[path];
      if (output === undefined || loaded.has(path)) return;
      loaded.set(path, output);
      for (const { path: next, kind } of output.imports) if (kind === "import-statement") load(next);
    };
    for (const path of Object.keys(metafile.outputs)) if (name.test(basename(path))) load(path);
    const outputs = [...loaded.values()];
    const statics = outputs.flatMap(({ imports }) => imports.filter(({ kind }) => kind === "import-statement"));
    const externals = new Set(statics.flatMap(({ path, external }) => (external === true ? [path] : [])));
    const inputs = outputs.flatMap((output) => Object.keys(output.inputs));
    const packages = inputs.flatMap((file) => /.*\bnode_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1] ?? []);
    return { packages: new Set(packages), externals, bytes: outputs.reduce((sum, { bytes }) => sum + bytes, 0) };
  }

  test("loads no package before the version of Node is checked", () => {
    const { packages, bytes } = loadedWith(/^scanstream\.js$/);
    expect([...packages]).toEqual([]);
    expect(bytes).toBeGreaterThan(1000);
  });

  test("loads little for --help: neither database, broker nor HTTP clients", () => {
    const { packages, bytes } = loadedWith(/^main-/);
    expect(packages).toContain("commander");
    expect(
      [...packages].filter((name) =>
        /^(?:drizzle-orm|pg|undici|ioredis|hono|parse5|xmlbuilder2|jose|valibot|jsonc-parser)$/.test(name),
      ),
    ).toEqual([]);
    expect(bytes).toBeLessThan(250_000);
  });

  test("loads the embedded database only where it is opened", () => {
    const { packages, externals } = loadedWith(/^main_node-/);
    expect(packages).toContain("drizzle-orm");
    expect(packages).not.toContain("undici");
    expect([...externals].filter((path) => !isBuiltin(path))).toEqual([]);
  });
});

test("the bills of materials name what is in the bundle, and none of the tools", async () => {
  const target = join(folder.path, "sboms");
  const files = await writeSboms(target);
  expect(files.map((file) => basename(file))).toEqual(["sbom.cdx.json", "sbom.spdx.json"]);
  const [cyclonedx, spdx] = await Promise.all(files.map(async (file) => JSON.parse(await readFile(file, "utf8"))));
  expect(cyclonedx).toMatchObject({
    bomFormat: "CycloneDX",
    metadata: { component: { name: packageJson.name, version: packageJson.version } },
  });
  const names = cyclonedx.components.map(({ group, name }: { readonly group?: string; readonly name: string }) =>
    group === undefined ? name : `${group}/${name}`,
  );
  const inside = Object.keys(await productPackages(root)).filter(isBundled);
  expect(inside.filter((name) => !names.includes(name))).toEqual([]);
  expect(names).toContain("@electric-sql/pglite");
  for (const tool of ["vitest", "esbuild", "oxlint"]) expect(names).not.toContain(tool);
  expect(spdx).toMatchObject({ spdxVersion: "SPDX-2.3" });
  expect(spdx.packages.map(({ name }: { readonly name: string }) => name)).toEqual(expect.arrayContaining(inside));
});

describe("keepProductPackages", () => {
  test("leaves in package.json and the lock file what the product imports, and none of the tools", async () => {
    const source = join(folder.path, "product");
    await mkdir(source);
    const files = ["package.json", "package-lock.json", "main.ts", "program.ts", "start.ts", "scanstream.ts"];
    for (const name of [...files, ...productFolders])
      await cp(join(root, name), join(source, name), { recursive: true });
    await keepProductPackages(source);
    // As when a job uses the action twice.
    await keepProductPackages(source);
    const [manifest, lock] = await Promise.all(
      ["package.json", "package-lock.json"].map(async (file) => JSON.parse(await readFile(join(source, file), "utf8"))),
    );
    expect(Object.keys(manifest.dependencies)).toEqual(expect.arrayContaining(["undici", "jose", "commander"]));
    expect(manifest.dependencies).not.toHaveProperty("esbuild");
    expect(manifest).not.toHaveProperty("devDependencies");
    expect(lock.packages[""].dependencies).toEqual(manifest.dependencies);
  });

  test("finds every package that is in the bundle", async () => {
    const found = Object.keys(await productPackages(root));
    const imported = Object.entries(metafile.inputs)
      .filter(([file]) => !file.includes("node_modules/"))
      .flatMap(([, { imports }]) => imports.map(({ path, original }) => ({ path, original: original ?? "" })))
      .filter(({ path }) => path.includes("node_modules/"))
      .map(({ original }) => /^(?:@[^/]+\/)?[^/]+/.exec(original)?.[0] ?? "");
    expect(imported.length).toBeGreaterThan(10);
    expect([...new Set(imported)].filter((name) => !found.includes(name))).toEqual([]);
  });
});
