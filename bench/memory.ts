import type { BenchServer } from "./bench_server.ts";
import { startLoadClient } from "./load_client.ts";

export interface MemoryFigures {
  readonly streams: number;
  /** Resident memory that the open streams added, for each of them. The kernel's own for a socket is not in it. */
  readonly bytesPerStream: number;
  readonly residentMiB: number;
  /** CPU time of the idle server, its heartbeats included, as a share of one core. */
  readonly idleCpuShare: number;
}

/** Opens the streams and leaves them idle for a round of heartbeats. */
export async function measureMemory(
  client: string,
  server: BenchServer,
  { streams, idleMs }: { readonly streams: number; readonly idleMs: number },
): Promise<MemoryFigures> {
  const before = await server.process.residentBytes();
  const load = startLoadClient(client, {
    host: server.host,
    port: server.port,
    path: server.path(1),
    headers: server.headers,
    streams,
    eventsPerStream: 1,
    timeoutSeconds: 60 + idleMs / 1000,
    step: 0,
  });
  try {
    const { failed, status } = await load.opened;
    if (failed > 0) throw new Error(`${server.name}: ${failed} streams were refused (${status})`);
    const cpuBefore = await server.process.cpuSeconds();
    await new Promise((resolve) => setTimeout(resolve, idleMs));
    const cpuSeconds = (await server.process.cpuSeconds()) - cpuBefore;
    const resident = await server.process.residentBytes();
    return {
      streams,
      bytesPerStream: (resident - before) / streams,
      residentMiB: resident / 2 ** 20,
      idleCpuShare: cpuSeconds / (idleMs / 1000),
    };
  } finally {
    await load.stop();
  }
}
