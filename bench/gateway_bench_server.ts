import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { denoProgram } from "../test/support/runtime_programs.ts";
import { streamPath, type Backends } from "./backends.ts";
import type { BenchServer } from "./bench_server.ts";
import { startProcess } from "./measured_process.ts";

const root = join(import.meta.dirname, "..");

export type GatewayVariant = "node" | "deno";

/** The whole gateway as users start it, on real Postgres and Redis; a stream shows a JWT. */
export async function startGatewayServer(backends: Backends, variant: GatewayVariant): Promise<BenchServer> {
  const folder = await mkdtemp(join(tmpdir(), "scanstream-bench-"));
  const server = await startProcess({
    command: {
      node: [process.execPath, join(root, "command_line/scanstream.ts"), "serve"],
      deno: [denoProgram(), "run", "-A", join(root, "gateway/runtime/main_deno.ts")],
    }[variant],
    env: { ...backends.environment, HOST: "127.0.0.1", PORT: "0", DRAIN_DELAY_SECONDS: "0" },
    cwd: folder,
    until: /listens on http:\/\/127\.0\.0\.1:(\d+)/,
  });
  return {
    name: `gateway (${variant})`,
    host: "127.0.0.1",
    port: Number(server.match[1]),
    path: streamPath(0),
    headers: [`Authorization: Bearer ${backends.token}`],
    process: server,
    publish: (burst) => backends.publish(burst),
    async stop() {
      await server.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
