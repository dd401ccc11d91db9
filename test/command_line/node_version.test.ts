import { execFile, execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { explainUnsupportedNode } from "../../command_line/node_version.ts";
import packageJson from "../../package.json" with { type: "json" };
import { productPackages } from "../../tools/product_manifest.ts";
import { builtPackage } from "../support/command_line.ts";

const run = promisify(execFile);
const root = join(import.meta.dirname, "../..");

test.each(["22.19.0", "22.30.1", "24.0.0", "24.21.0", "26.0.0", "27.1.0", "100.0.0"])(
  "Node %s is supported",
  (version) => {
    expect(explainUnsupportedNode(version)).toBeNull();
  },
);

test.each(["0.10.48", "8.0.0", "18.20.8", "20.20.2", "22.0.0", "22.12.0", "22.18.9"])(
  "Node %s is too old",
  (version) => {
    expect(explainUnsupportedNode(version)).toBe(`scanstream needs Node 22.19 or later; this is v${version}`);
  },
);

test.each(["23.0.0", "23.11.1", "25.2.0"])("Node %s is of a line that ended", (version) => {
  expect(explainUnsupportedNode(version)).toBe(
    `scanstream needs Node 22.19 or later, of an even-numbered release line; this is v${version}`,
  );
});

interface LockFile {
  readonly packages: Readonly<Record<string, { readonly engines?: { readonly node?: string } }>>;
}

test("every package of the bundle supports the oldest Node that package.json names", async () => {
  const oldest = packageJson.engines.node.replace(/^\^(\S+).*/, "$1");
  const { packages } = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")) as LockFile;
  const bounds = Object.keys(await productPackages(root)).flatMap((name) => {
    const range = packages[`node_modules/${name}`]?.engines?.node ?? "";
    const bound = /^>= ?(\d+(?:\.\d+)*)$/.exec(range)?.[1];
    return bound === undefined ? [] : [{ name, bound }];
  });
  expect(bounds.length).toBeGreaterThan(5);
  expect(bounds.filter(({ bound }) => oldest.localeCompare(bound, "en", { numeric: true }) < 0)).toEqual([]);
  expect(packages[""]?.engines).toEqual(packageJson.engines);
});

const oldNode = encodeURIComponent(
  'Object.defineProperty(process, "versions", { value: { ...process.versions, node: "20.1.0" } })',
);
const commands: readonly (readonly [name: string, file: string, ...args: readonly string[]])[] = [
  ["that says it is one", process.execPath, `--import=data:text/javascript,${oldNode}`],
  ...["/usr/bin/node", "/usr/local/bin/node"].filter(isTooOld).map((file) => [`at ${file}`, file] as const),
];

test.each(commands)(
  "the bundle on an older Node %s names the version it needs, and exits with 2",
  async (_, file, ...args) => {
    const outcome = await run(file, [...args, join(builtPackage, "scanstream.js"), "scan"]).then(
      () => null,
      (error: { readonly code: number; readonly stdout: string; readonly stderr: string }) => error,
    );
    expect(outcome?.stderr).toMatch(/^scanstream needs Node 22\.19 or later; this is v[\d.]+\n$/);
    expect(outcome).toMatchObject({ code: 2, stdout: "" });
  },
);

function isTooOld(file: string): boolean {
  return (
    existsSync(file) &&
    explainUnsupportedNode(execFileSync(file, ["-p", "process.versions.node"]).toString().trim()) !== null
  );
}
