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
    path: (channels) => (channels === 1 ? "/" : "/%d"),
    headers: [],
    process: server,
    async publish({ channels, burst, payloadBytes }) {
      const frames: string[] = [];
      for (let channel = 0; channel < channels; channel += 1) {
        for (let event = 0; event < burst; event += 1) {
          frames.push(
            `${channels === 1 ? "" : `@${channel} `}event: scan.progress\ndata: ${makePayload(payloadBytes)}\n\n`,
          );
        }
      }
      publisher.write(frames.join(""));
    },
    async stop() {
      publisher.destroy();
      await server.stop();
    },
  };
}
