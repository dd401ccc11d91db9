import { join } from "node:path";
import type { BenchServer } from "../bench_server.ts";
import { startProcess } from "../measured_process.ts";
import { toBenchServer } from "./json_peer.ts";

/** A peer that is a program of this folder on Node: `GET /events` is a stream, `POST /publish` an event for all of them. */
export async function startNodePeer(name: string, program: string): Promise<BenchServer> {
  const server = await startProcess({
    command: [process.execPath, join(import.meta.dirname, program)],
    until: /^LISTEN (\d+)$/,
  });
  return toBenchServer({ name, port: Number(server.match[1]), path: "/events", process: server });
}
