import { once } from "node:events";
import { connect } from "node:net";
import { makePayload, type BenchServer } from "./bench_server.ts";
import { startProcess } from "./measured_process.ts";

/** The least that a server can do here: one `write` for each stream and event, in C. */
export async function startRawServer(binary: string): Promise<BenchServer> {
  const server = await startProcess({ command: [binary], until: /^LISTEN (\d+) (\d+)$/ });
  const publisher = connect(Number(server.match[2]), "127.0.0.1");
  await once(publisher, "connect");
  publisher.setNoDelay();
  return {
    name: "raw C",
    host: "127.0.0.1",
    port: Number(server.match[1]),
    path: () => "/",
    headers: [],
    process: server,
    async publish({ channels, burst, payloadBytes }) {
      if (channels !== 1) throw new TypeError("The raw server has one channel only");
      const frames = Array.from(
        { length: burst },
        () => `event: scan.progress\ndata: ${makePayload(payloadBytes)}\n\n`,
      );
      publisher.write(frames.join(""));
    },
    async stop() {
      publisher.destroy();
      await server.stop();
    },
  };
}
