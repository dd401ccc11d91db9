import { join } from "node:path";
import type { BenchServer } from "../bench_server.ts";
import { startProcess } from "../measured_process.ts";
import { createHttpPublisher } from "./http_publisher.ts";

/** A peer that is a program of this folder on Node: `GET /events` is a stream, `POST /publish` an event for all of them. */
export async function startNodePeer(name: string, program: string): Promise<BenchServer> {
  const server = await startProcess({
    command: [process.execPath, join(import.meta.dirname, program)],
    until: /^LISTEN (\d+)$/,
  });
  const port = Number(server.match[1]);
  const publisher = createHttpPublisher({
    port,
    path: "/publish",
    headers: ["Content-Type: application/json"],
    body: (payload) => payload,
  });
  return {
    name,
    host: "127.0.0.1",
    port,
    path: () => "/events",
    headers: [],
    process: server,
    publish: (options) => publisher.publish(options),
    async stop() {
      publisher.stop();
      await server.stop();
    },
  };
}
