import { join } from "node:path";
import { denoProgram } from "../test/support/deno_gateway.ts";
import { compileProgram } from "./c_program.ts";
import { startProcess } from "./measured_process.ts";
import { measureMemory } from "./memory.ts";

const ways = [
  "Deno.serve, ReadableStream",
  "Deno.serve, byte stream",
  "Deno.serve, TransformStream",
  "Deno.serve, async iterable",
  "Deno.serve, readable of a Unix socket",
  "node:http",
  "node:net",
];
const streams = 5000;

/** Resident bytes of an idle stream on Deno, by how the least possible server holds it. */
export async function benchDenoMemory(say: (line: string) => void): Promise<Readonly<Record<string, number>>> {
  const client = await compileProgram("ssebench");
  if (client === null) throw new Error("Cannot measure Deno: no C compiler here: install gcc");
  const figures: Record<string, number> = {};
  for (const name of ways) {
    const server = await startProcess({
      command: [denoProgram(), "run", "-A", "--no-lock", join(import.meta.dirname, "deno_servers.ts"), name],
      until: /^PORT (\d+)$/,
    });
    try {
      const target = {
        name,
        host: "127.0.0.1",
        port: Number(server.match[1]),
        path: () => "/",
        // As long as a JWT is.
        headers: [`Authorization: Bearer ${"x".repeat(350)}`],
        process: server,
        publish: () => Promise.resolve(),
        stop: () => server.stop(),
      };
      // What the process allocates once is there before.
      await measureMemory(client, target, { streams: 300, idleMs: 500 });
      const { bytesPerStream } = await measureMemory(client, target, { streams, idleMs: 2000 });
      figures[name] = bytesPerStream;
      say(`${name}: ${(bytesPerStream / 1024).toFixed(1)} KiB a stream`);
    } finally {
      await server.stop();
    }
  }
  return figures;
}
