import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { pause } from "../shared/abortable.ts";
import { builtPackage } from "../test/support/command_line.ts";
import { freePort } from "../test/support/free_port.ts";
import { createTestDatabase, startPostgres } from "../test/support/postgres.ts";
import { installTarball, packTarball } from "../test/support/tarball.ts";
import { buildPackage } from "../tools/build.ts";
import { residentBytes } from "./measured_process.ts";
import { medians, text, type Table } from "./report.ts";

const run = promisify(execFile);
const source = join(import.meta.dirname, "../scanstream.ts");

/** Start, memory and size of what is published, and of the same from source. Nothing is compared with a limit here. */
export async function benchStart(_progress: unknown, rounds: number): Promise<Table> {
  await buildPackage(builtPackage);
  const folder = await mkdtemp(join(tmpdir(), "scanstream-bench-"));
  const postgres = await startPostgres();
  try {
    const tarball = await packTarball(join(folder, "package"));
    const installed = join(folder, "installed");
    const installMs = await msOf(() => installTarball(tarball, installed));
    const bundle = join(installed, "node_modules/scanstream/dist/scanstream.js");
    const { appUrl } = await createTestDatabase(postgres.adminUrl);
    const rows: (readonly string[])[] = [];
    for (const [name, program] of [
      ["`serve`, installed", bundle],
      ["`serve`, from source", source],
    ] as const) {
      const measured = [];
      for (let round = 0; round < rounds; round += 1) measured.push(await measureServe(program, appUrl, folder));
      const { readyMs, residentMiB } = medians(measured);
      rows.push([name, `ready after ${readyMs.toFixed(0)} ms, ${residentMiB.toFixed(0)} MiB resident`]);
    }
    // A command is short: it runs ten times as often as a server is started.
    const commands = [];
    for (let round = 0; round < rounds * 10; round += 1) {
      commands.push({
        help: await msOf(() => run(process.execPath, [bundle, "scan", "--help"])),
        node: await msOf(() => run(process.execPath, ["-e", "0"])),
      });
    }
    const { help, node } = medians(commands);
    const sizeMB = (bytes: number) => (bytes / 1e6).toFixed(1);
    const [packed, unpacked] = [(await stat(tarball)).size, await sizeOf(join(installed, "node_modules"))];
    rows.push(["`scan --help`, installed", `${help.toFixed(0)} ms (Node alone: ${node.toFixed(0)} ms)`]);
    rows.push([
      "tarball",
      `${sizeMB(packed)} MB, installed ${sizeMB(unpacked)} MB in ${text.seconds(installMs / 1000)}`,
    ]);
    return { head: ["", "measured"], rows };
  } finally {
    await postgres.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

async function msOf(work: () => Promise<unknown>): Promise<number> {
  const startedMs = performance.now();
  await work();
  return performance.now() - startedMs;
}

async function sizeOf(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const stats = await Promise.all(files.map(({ parentPath, name }) => stat(join(parentPath, name))));
  return stats.reduce((sum, { size }) => sum + size, 0);
}

const settleMs = 1000;

/** Next to a real Postgres, with the in-process broker: the time to its first answer, and its memory a second later. */
async function measureServe(program: string, databaseUrl: string, cwd: string) {
  const port = await freePort();
  const env = {
    PATH: process.env["PATH"],
    HOME: cwd,
    PORT: String(port),
    DATABASE_URL: databaseUrl,
    STREAM_TOKEN_SECRET: "0123456789abcdef0123456789abcdef",
    DRAIN_DELAY_SECONDS: "0",
  };
  const startedMs = performance.now();
  const child = spawn(process.execPath, [program, "serve"], { cwd, env, stdio: "ignore" });
  const exited = once(child, "exit");
  const isReady = () =>
    fetch(`http://127.0.0.1:${port}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
  try {
    while (!(await isReady())) {
      if (child.exitCode !== null) throw new Error(`${program} serve ended with ${child.exitCode}`);
      await pause(2, []);
    }
    const readyMs = performance.now() - startedMs;
    await pause(settleMs, []);
    return { readyMs, residentMiB: (await residentBytes(child.pid ?? 0)) / 2 ** 20 };
  } finally {
    child.kill("SIGTERM");
    await exited;
  }
}
