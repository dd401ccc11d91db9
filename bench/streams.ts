import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pause } from "../shared/abortable.ts";
import { streamPath, type Backends } from "./backends.ts";
import type { BenchServer } from "./bench_server.ts";
import { startLoadClient } from "./load_client.ts";

/** What one more open stream costs: its memory, and to open it. */

export interface MemoryFigures {
  /** Resident memory that the open streams added, for each of them. The kernel's for a socket is not in it. */
  readonly bytesPerStream: number;
  /** CPU time of the idle server, its heartbeats included, as a share of one core. */
  readonly idleCpuShare: number;
}

/** Two rounds of heartbeats. */
const idleMs = 20_000;

/** Opens the streams and leaves them idle for a while. */
export async function measureMemory(client: string, server: BenchServer, streams: number): Promise<MemoryFigures> {
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
  const cpuBefore = await server.process.cpuSeconds();
  await pause(idleMs, []);
  const cpuSeconds = (await server.process.cpuSeconds()) - cpuBefore;
  return {
    bytesPerStream: ((await server.process.residentBytes()) - before) / streams,
    idleCpuShare: cpuSeconds / (idleMs / 1000),
  };
}

/** What authenticates the streams. */
export const credentials = ["one JWT", "a JWT each", "one API key"] as const;

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
    const paths: string[] = [];
    for (let index = 0; index < streams; index += 1) {
      const token = credential === "a JWT each" ? `?access_token=${await backends.sign(index)}` : "";
      paths.push(`${streamPath(index)}${token}`);
    }
    await writeFile(join(folder, "paths"), `${paths.join("\n")}\n`);
    const apiKey = [`Authorization: Api-Key ${backends.apiKey}`];
    const headers = { "one JWT": server.headers, "a JWT each": [], "one API key": apiKey }[credential];
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
