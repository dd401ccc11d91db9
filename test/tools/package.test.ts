import { execFile } from "node:child_process";
import { cp, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import packageJson from "../../package.json" with { type: "json" };
import { ownFolder } from "../support/clean_up.ts";
import { copyInstalled } from "../support/tarball.ts";

/** Tarball of `npm pack`, installed into an empty folder. */

const run = promisify(execFile);
const installed = await ownFolder();
await copyInstalled(installed);

test("installed tarball says its version, scans, evaluates offline and exports subscribe", async () => {
  await cp(join(import.meta.dirname, "try_package.mjs"), join(installed, "try_package.mjs"));
  const { stdout } = await run(process.execPath, ["try_package.mjs"], { cwd: installed });
  expect(stdout).toBe(`${packageJson.name} ${packageJson.version} works on Node ${process.versions.node}\n`);
});

test("tarball contains the licenses of the packages in its bundle, and no Worker", async () => {
  const dist = join(installed, "node_modules/scanstream/dist");
  expect(await readdir(dist)).not.toContain("worker");
  const text = await readFile(join(dist, "THIRD_PARTY_LICENSES.txt"), "utf8");
  for (const name of ["commander", "undici", "preact", "hono"]) expect(text).toMatch(new RegExp(`^${name} \\d`, "m"));
});

test("serve without DATABASE_URL says how to install the embedded database", async () => {
  const program = join(installed, "node_modules/scanstream/dist/scanstream.js");
  const outcome = await run(process.execPath, [program, "serve"], { cwd: installed, env: { PORT: "0" } }).catch(
    (error: unknown) => error,
  );
  const version = packageJson.peerDependencies["@electric-sql/pglite"];
  expect(outcome).toMatchObject({
    code: 2,
    stdout: "",
    stderr: expect.stringContaining(`npm install @electric-sql/pglite@${version}`),
  });
});
