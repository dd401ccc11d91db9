import { once } from "node:events";
import { startLoadClient } from "./load_client.ts";
import type { BenchServer } from "./bench_server.ts";

export interface HeapFigures {
  readonly streams: number;
  /** V8's heap and array buffers that open streams added after a garbage collection, for each; workerd's own objects are not in it. */
  readonly bytesPerStream: number;
  /** Without streams. */
  readonly emptyMiB: number;
}

interface HeapUsage {
  readonly usedSize: number;
  readonly backingStorageSize?: number;
}

interface HeapOptions {
  readonly client: string;
  readonly inspectorPort: number;
  readonly streams: number;
}

/**
 * By the runtime's inspector (https://chromedevtools.github.io/devtools-protocol/v8/Runtime/#method-getHeapUsage). workerd runs the Worker
 * and its objects in one isolate, so both sides of a stream are in it.
 */
export async function measureHeap(
  server: BenchServer,
  { client, inspectorPort, streams }: HeapOptions,
): Promise<HeapFigures> {
  const open = (count: number) =>
    startLoadClient(client, {
      host: server.host,
      port: server.port,
      path: server.path(1),
      headers: server.headers,
      streams: count,
      eventsPerStream: 1,
      timeoutSeconds: 90,
      step: 0,
    });
  const warm = open(100);
  await warm.opened;
  const few = await usedBytes(inspectorPort);
  const load = open(streams);
  try {
    const { failed, status } = await load.opened;
    if (failed > 0) throw new Error(`${server.name}: ${failed} streams were refused (${status})`);
    const bytesPerStream = ((await usedBytes(inspectorPort)) - few) / streams;
    return { streams, bytesPerStream, emptyMiB: (few - 100 * bytesPerStream) / 2 ** 20 };
  } finally {
    await warm.stop();
    await load.stop();
  }
}

async function usedBytes(port: number): Promise<number> {
  const [target] = (await (await fetch(`http://127.0.0.1:${port}/json`)).json()) as readonly {
    readonly webSocketDebuggerUrl: string;
  }[];
  if (target === undefined) throw new Error("The runtime has no inspector");
  const socket = new WebSocket(target.webSocketDebuggerUrl);
  await once(socket, "open");
  try {
    await call(socket, 1, "HeapProfiler.enable");
    await call(socket, 2, "HeapProfiler.collectGarbage");
    const { usedSize, backingStorageSize = 0 } = (await call(socket, 3, "Runtime.getHeapUsage")) as HeapUsage;
    return usedSize + backingStorageSize;
  } finally {
    socket.close();
  }
}

async function call(socket: WebSocket, id: number, method: string): Promise<unknown> {
  const answer = Promise.withResolvers<unknown>();
  const listener = ({ data }: MessageEvent) => {
    const message = JSON.parse(String(data)) as { readonly id?: number; readonly result?: unknown };
    if (message.id === id) answer.resolve(message.result);
  };
  socket.addEventListener("message", listener);
  socket.send(JSON.stringify({ id, method }));
  try {
    return await answer.promise;
  } finally {
    socket.removeEventListener("message", listener);
  }
}
