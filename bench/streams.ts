import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pause } from "../shared/abortable.ts";
import { streamPath, type Backends } from "./backends.ts";
import type { BenchServer } from "./bench_server.ts";
import { startLoadClient } from "./load_client.ts";

/** Costs of one more open stream: its memory, and its opening. */

/** Two rounds of heartbeats. */
const idleMs = 20_000;

/** Opens the streams and leaves them idle for a while. Resident bytes for each; the kernel's for a socket are not among them. */
export async function measureMemory(client: string, server: BenchServer, streams: number): Promise<number> {
  const before = await server.process.residentBytes();
  await using load = startLoadClient(client, {
    server,
    path: server.path,
    streams,
    eventsPerStream: 1,
    timeoutSeconds: 90,
  });
  const { failed, status } = await load.opened;
  if (failed > 0) throw new Error(`${server.name}: ${failed} streams were refused (${status})`);
  await pause(idleMs, []);
  return ((await server.process.residentBytes()) - before) / streams;
}

/** Credentials of the streams. */
export const credentials = ["one JWT", "one API key"] as const;

export interface OpeningFigures {
  readonly opensPerSecond: number;
  /** CPU time of the gateway for one stream. */
  readonly cpuMicroseconds: number;
}

/** Opens streams of different scans, 200 concurrently, until all have their head. */
export async function measureOpening(
  client: string,
  server: BenchServer,
  options: {
    readonly backends: Backends;
    readonly streams: number;
    readonly credential: (typeof credentials)[number];
  },
): Promise<OpeningFigures> {
  const { backends, streams, credential } = options;
  const folder = await mkdtemp(join(tmpdir(), "scanstream-bench-"));
  try {
    const paths = Array.from({ length: streams }, (_, index) => streamPath(index));
    await writeFile(join(folder, "paths"), `${paths.join("\n")}\n`);
    const apiKey = [`Authorization: Api-Key ${backends.apiKey}`];
    const headers = credential === "one JWT" ? server.headers : apiKey;
    const cpuBefore = await server.process.cpuSeconds();
    const path = `@${join(folder, "paths")}`;
    await using load = startLoadClient(client, {
      server,
      path,
      headers,
      streams,
      eventsPerStream: 1,
      timeoutSeconds: 60,
    });
    const { ready, failed, status, seconds } = await load.opened;
    if (failed > 0) throw new Error(`${server.name}: ${failed} streams were refused (${status})`);
    const cpuSeconds = (await server.process.cpuSeconds()) - cpuBefore;
    return { opensPerSecond: ready / seconds, cpuMicroseconds: (cpuSeconds / streams) * 1e6 };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
