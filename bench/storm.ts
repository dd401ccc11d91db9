import type { BenchServer } from "./bench_server.ts";
import { startLoadClient } from "./load_client.ts";

export interface StormFigures {
  readonly streams: number;
  readonly seconds: number;
  readonly refused: number;
  readonly residentBeforeMiB: number;
  readonly residentAfterMiB: number;
}

/** Every stream is cut at once and all come back as fast as they can: what a client library's jitter avoids. */
export async function measureStorm(client: string, server: BenchServer, streams: number): Promise<StormFigures> {
  const open = () =>
    startLoadClient(client, {
      host: server.host,
      port: server.port,
      path: server.path(1),
      headers: server.headers,
      streams,
      eventsPerStream: 1,
      timeoutSeconds: 90,
      step: 0,
    });
  const first = open();
  await first.opened;
  const before = await server.process.residentBytes();
  await first.stop();
  const second = open();
  try {
    const { seconds, failed } = await second.opened;
    return {
      streams,
      seconds,
      refused: failed,
      residentBeforeMiB: before / 2 ** 20,
      residentAfterMiB: (await server.process.residentBytes()) / 2 ** 20,
    };
  } finally {
    await second.stop();
  }
}
