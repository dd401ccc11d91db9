import { execFile } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import packageJson from "../../package.json" with { type: "json" };
import type { Report } from "../../shared/schemas/report.ts";
import { catalog } from "../../scanner/catalog/catalog.ts";
import { buildExecutables } from "../../tools/build_executable.ts";
import { executableNode, type Platform } from "../../tools/node_binaries.ts";
import { builtPackage, type Running, startBinary, temporaryFolder } from "../support/command_line.ts";
import { createTestDatabase } from "../support/postgres.ts";

/** The program for machines without Node and npm: in an empty folder, with nothing on the PATH. */

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let program: string;
const running: Running[] = [];
beforeAll(async () => {
  folder = await temporaryFolder();
  const platform = `linux-${process.arch}` as Platform;
  const [built = ""] = await buildExecutables(join(folder.path, "built"), [platform], { built: builtPackage });
  program = built;
});
afterAll(async () => {
  await Promise.all(running.map((each) => each.stop("SIGKILL")));
  await folder[Symbol.asyncDispose]();
});

function start(args: readonly string[], given: { readonly cwd: string; readonly env?: Record<string, string> }) {
  const { cwd, env = {} } = given;
  const started = startBinary(program, args, { cwd, env: { PATH: "", ...env } });
  running.push(started);
  return started;
}

async function run(args: readonly string[], given: Parameters<typeof start>[1]) {
  const outcome = await start(args, given).finished;
  expect(outcome.stderr).not.toMatch(/bug of scanstream/);
  return outcome;
}

test("says its version and every check", async () => {
  await using empty = await temporaryFolder();
  expect(await run(["--version"], { cwd: empty.path })).toEqual({
    code: 0,
    stdout: `${packageJson.version}\n`,
    stderr: "",
  });
  const { code, stdout } = await run(["checks"], { cwd: empty.path });
  expect(code).toBe(0);
  expect(stdout.match(/^V-\d{6}/gm)).toHaveLength(catalog.length);
  const completion = await run(["completion", "bash"], { cwd: empty.path });
  expect(completion).toMatchObject({ code: 0, stdout: expect.stringContaining("complete ") });
  expect(await readdir(empty.path)).toEqual([]);
});

test("scans a practice org, and judges on a machine without network what was collected here", async () => {
  await using stage = await temporaryFolder();
  const cwd = stage.path;
  const org = start(["practice-org", "--port", "0"], { cwd });
  await org.until("stdout", /IDP_PRIVATE_KEY_FILE=.*\n/);
  const env = Object.fromEntries(
    [...org.output.stdout.matchAll(/^(IDP_\w+)=(.*)$/gm)].map(([, name, value]) => [name, value]),
  );
  const scan = await run(["scan", "--format", "json,cklb,html,xccdf,csv", "--output", "scanned"], { cwd, env });
  expect(scan.code).toBe(1);
  expect((await run(["collect", "--save-artifacts", "evidence.json"], { cwd, env })).code).toBe(0);
  await org.stop();

  // README says so of machines that are cut off: no variable, no provider.
  const offline = ["evaluate", "--from-artifacts", "evidence.json", "--format", "json", "--output", "evaluated"];
  expect((await run(offline, { cwd })).code).toBe(1);
  const [online, later] = await Promise.all(
    ["scanned", "evaluated"].map(
      async (name) => JSON.parse(await readFile(join(cwd, name, "scan.json"), "utf8")) as Report,
    ),
  );
  if (online === undefined || later === undefined) throw new Error("A report is missing");
  const verdicts = ({ checks }: Report) =>
    checks.flatMap(({ findings }) => findings.map(({ fingerprint, status }) => [fingerprint, status]));
  expect(verdicts(later)).toEqual(verdicts(online));
  expect(verdicts(later).length).toBeGreaterThanOrEqual(catalog.length);
});

describe("serve", () => {
  async function expectGateway(gateway: Running): Promise<void> {
    const [, url = ""] = await gateway.until("stdout", /listens on (http:\S+)/);
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
    const page = await fetch(`${url}/`);
    expect(page.headers.get("content-type")).toContain("text/html");
    const [, script = ""] = /<script[^>]* src="([^"]+)"/.exec(await page.text()) ?? [];
    const loaded = await fetch(new URL(script, `${url}/`));
    expect(loaded.status).toBe(200);
    expect(loaded.headers.get("content-type")).toContain("javascript");
    expect((await loaded.text()).length).toBeGreaterThan(10_000);
    expect((await fetch(`${url}/../package.json`)).status).toBe(404);
    expect((await gateway.stop()).code).toBe(0);
  }

  test("runs on the embedded database, with the page, and keeps its state", async () => {
    await using stage = await temporaryFolder();
    const options = { cwd: stage.path, env: { PORT: "0" } };
    const gateway = start(["serve"], options);
    await gateway.until("stdout", /listens on/);
    expect(await run(["admin", "tenant", "create", "--name", "acme"], options)).toMatchObject({ code: 0 });
    await expectGateway(gateway);
    expect(await run(["admin", "tenant", "list"], options)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("acme"),
    });
  });

  test("migrates a Postgres database and runs on it", async () => {
    await using stage = await temporaryFolder();
    const database = await createTestDatabase(inject("postgresAdminUrl"), "empty");
    try {
      const env = { DATABASE_URL: database.ownerUrl, STREAM_TOKEN_SECRET: "s".repeat(32), PORT: "0" };
      expect(await run(["migrate"], { cwd: stage.path, env })).toMatchObject({ code: 0 });
      await expectGateway(start(["serve"], { cwd: stage.path, env }));
    } finally {
      await database.drop();
    }
  });
});

test("needs the libraries that docs/install.md names, and glibc", async () => {
  const { stdout } = await promisify(execFile)("ldd", [program]);
  const glibc = /^(?:lib(?:c|m|dl|pthread)\.so|linux-vdso|\/lib.*ld-linux)/;
  const needed = stdout.split("\n").map((line) => line.trim().split(" ")[0] ?? "");
  const others = needed.filter((library) => library !== "" && !glibc.test(library));
  const page = await readFile(join(import.meta.dirname, "../../docs/install.md"), "utf8");
  expect(others).toContain("libstdc++.so.6");
  expect(others.filter((library) => !page.includes(`\`${library}\``))).toEqual([]);
});

test("has a checksum, and the licences of all that is inside", async () => {
  const { stdout } = await promisify(execFile)("sha256sum", ["--check", "SHA256SUMS"], {
    cwd: join(folder.path, "built"),
  });
  expect(stdout).toBe(`${basename(dirname(program))}/scanstream: OK\n`);
  expect(await readFile(join(dirname(program), "scanstream.1"), "utf8")).toMatch(/^\.TH /m);
  const licenses = await readFile(join(dirname(program), "LICENSES.txt"), "utf8");
  for (const name of ["commander", "undici", "preact", "@electric-sql/pglite"]) {
    expect(licenses).toMatch(new RegExp(`^${name} \\d`, "m"));
  }
  expect(licenses).toContain(`Node.js ${executableNode}`);
});
