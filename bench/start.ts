import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pause } from "../shared/abortable.ts";
import { builtPackage } from "../test/support/built_package.ts";
import { freePort } from "../test/support/free_port.ts";
import { createTestDatabase, startPostgres } from "../test/support/postgres.ts";
import { buildPackage } from "../tools/build.ts";
import { residentBytes } from "./measured_process.ts";
import { medians, type Table } from "./report.ts";

/** Start and memory of `serve` as it is published. */
export async function benchStart(_progress: unknown, rounds: number): Promise<Table> {
  await buildPackage(builtPackage);
  const folder = await mkdtemp(join(tmpdir(), "scanstream-bench-"));
  const postgres = await startPostgres();
  try {
    const { appUrl } = await createTestDatabase(postgres.adminUrl);
    const measured = [];
    for (let round = 0; round < rounds; round += 1) measured.push(await measureServe(appUrl, folder));
    const { readyMs, residentMiB } = medians(measured);
    const row = ["`serve`", `${readyMs.toFixed(0)} ms`, `${residentMiB.toFixed(0)} MiB`];
    return { head: ["", "ready after", "resident"], rows: [row] };
  } finally {
    await postgres.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

const settleMs = 1000;

/** Next to a real Postgres, with the in-process broker: the time to its first answer, and its memory a second later. */
async function measureServe(databaseUrl: string, cwd: string) {
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
  const program = join(builtPackage, "scanstream.js");
  const child = spawn(process.execPath, [program, "serve"], { cwd, env, stdio: "ignore" });
  const exited = once(child, "exit");
  const isReady = () =>
    fetch(`http://127.0.0.1:${port}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
  try {
    while (!(await isReady())) {
      if (child.exitCode !== null) throw new Error(`serve ended with ${child.exitCode}`);
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
