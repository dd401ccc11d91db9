import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { explainUnsupportedNode } from "../../command_line/node_version.ts";
import { builtPackage } from "../support/command_line.ts";

const run = promisify(execFile);

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
