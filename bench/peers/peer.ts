import { Agent, request } from "node:http";
import { setTimeout } from "node:timers/promises";
import { makePayload, type BenchServer } from "../bench_server.ts";
import type { MeasuredProcess } from "../measured_process.ts";

/** A server that takes an event in the body of a `POST`, for all streams of its one channel. */
export interface Peer {
  readonly name: string;
  readonly port: number;
  /** For the one stream. */
  readonly path: string;
  readonly process: MeasuredProcess;
  readonly publish: {
    readonly path: string;
    readonly headers: Readonly<Record<string, string>>;
    body(payload: string): string;
  };
  /** An open stream discards events for so long; default 0. */
  readonly settleMs?: number;
}

/** Four keep-alive connections each send an event and wait for its answer before the next: as fast as the server takes them. */
export function startPeer({ name, port, path, process, publish, settleMs = 0 }: Peer): BenchServer {
  const agent = new Agent({ keepAlive: true, maxSockets: 4, timeout: 2000 });
  let failure: Error | null = null;
  const send = (payloadBytes: number) => {
    const body = publish.body(makePayload(payloadBytes));
    const headers = { ...publish.headers, "content-length": Buffer.byteLength(body) };
    const posted = request({ agent, host: "127.0.0.1", port, method: "POST", path: publish.path, headers });
    posted.on("error", (error) => (failure = error));
    posted.on("response", (answer) => {
      if ((answer.statusCode ?? 500) >= 300) failure = new Error(`${name} refused an event: ${answer.statusCode}`);
      answer.resume();
    });
    posted.end(body);
  };
  return {
    name,
    host: "127.0.0.1",
    port,
    path: () => path,
    headers: [],
    process,
    async publish({ burst, payloadBytes, isFirst }) {
      if (failure !== null) throw failure;
      if (isFirst) await setTimeout(settleMs);
      for (let event = 0; event < burst; event += 1) send(payloadBytes);
    },
    async stop() {
      agent.destroy();
      await process.stop();
    },
  };
}
