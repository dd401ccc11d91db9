import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pause } from "../shared/abortable.ts";
import { builtPackage } from "../test/support/built_package.ts";
import { createTestDatabase, startPostgres } from "../test/support/postgres.ts";
import { buildPackage } from "../tools/build.ts";
import { startProcess } from "./measured_process.ts";
import { medians, text, type Table } from "./report.ts";

const settleMs = 1000;

/** `serve` as it is published, next to a real Postgres, with the in-process broker: until it listens, and its memory a second later. */
export async function benchStart(_progress: unknown, rounds: number): Promise<Table> {
  await buildPackage(builtPackage);
  const folder = await mkdtemp(join(tmpdir(), "scanstream-bench-"));
  const postgres = await startPostgres();
  try {
    const { appUrl } = await createTestDatabase(postgres.adminUrl);
    const measured = [];
    for (let round = 0; round < rounds; round += 1) measured.push(await measureServe(appUrl, folder));
    const { readyMs, residentBytes } = medians(measured);
    const row = ["`serve`", `${readyMs.toFixed(0)} ms`, text.mib(residentBytes)];
    return { head: ["", "ready after", "resident"], rows: [row] };
  } finally {
    await postgres.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

async function measureServe(databaseUrl: string, cwd: string) {
  const startedMs = performance.now();
  const server = await startProcess({
    command: [process.execPath, join(builtPackage, "scanstream.js"), "serve"],
    env: {
      HOME: cwd,
      PORT: "0",
      DATABASE_URL: databaseUrl,
      STREAM_TOKEN_SECRET: "0123456789abcdef0123456789abcdef",
      DRAIN_DELAY_SECONDS: "0",
    },
    cwd,
    until: /listens on http/,
  });
  const readyMs = performance.now() - startedMs;
  await pause(settleMs, []);
  const residentBytes = await server.residentBytes();
  await server.stop();
  return { readyMs, residentBytes };
}
