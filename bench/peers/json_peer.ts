import type { BenchServer } from "../bench_server.ts";
import type { MeasuredProcess } from "../measured_process.ts";
import { createHttpPublisher } from "./http_publisher.ts";

export interface JsonPeer {
  readonly name: string;
  readonly port: number;
  /** For the one stream. */
  readonly path: string;
  readonly process: MeasuredProcess;
}

/** A peer that takes an event's JSON at `POST /publish`, for all of its streams. */
export function toBenchServer({ name, port, path, process }: JsonPeer): BenchServer {
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
    path: () => path,
    headers: [],
    process,
    publish: (options) => publisher.publish(options),
    async stop() {
      publisher.stop();
      await process.stop();
    },
  };
}
