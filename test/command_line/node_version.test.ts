import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { explainUnsupportedNode } from "../../command_line/node_version.ts";
import packageJson from "../../package.json" with { type: "json" };
import { productPackages } from "../../tools/product_manifest.ts";
import { builtPackage } from "../support/command_line.ts";

const run = promisify(execFile);
const root = join(import.meta.dirname, "../..");

test.each(["22.19.0", "24.0.0", "26.0.0", "27.1.0"])("Node %s is supported", (version) => {
  expect(explainUnsupportedNode(version)).toBeNull();
});

test.each(["0.10.48", "20.20.2", "22.18.9"])("Node %s is too old", (version) => {
  expect(explainUnsupportedNode(version)).toBe(`scanstream needs Node 22.19 or later; this is v${version}`);
});

test.each(["23.11.1", "25.2.0"])("Node %s is of a line that ended", (version) => {
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
test("the bundle on an older Node names the version it needs, and exits with 2", async () => {
  const args = [`--import=data:text/javascript,${oldNode}`, join(builtPackage, "scanstream.js"), "scan"];
  const outcome = await run(process.execPath, args).then(
    () => null,
    (error: { readonly code: number; readonly stdout: string; readonly stderr: string }) => error,
  );
  expect(outcome?.stderr).toMatch(/^scanstream needs Node 22\.19 or later; this is v[\d.]+\n$/);
  expect(outcome).toMatchObject({ code: 2, stdout: "" });
});
