import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { denoProgram } from "../test/runtimes/programs.ts";
import { streamPath, type Backends } from "./backends.ts";
import type { BenchServer } from "./bench_server.ts";
import { startProcess } from "./measured_process.ts";

const root = join(import.meta.dirname, "..");

export type GatewayVariant =
  | "node"
  | "node, 2 processes"
  | "node, 6 processes"
  | "node, portable sink"
  | "deno"
  | "deno, portable sink";

export interface GatewayServerOptions {
  readonly variant?: GatewayVariant;
  readonly env?: Readonly<Record<string, string>>;
}

/** The whole gateway as users start it, on real Postgres and Redis; a stream shows a JWT. */
export async function startGatewayServer(backends: Backends, options: GatewayServerOptions = {}): Promise<BenchServer> {
  const { variant = "node", env = {} } = options;
  const folder = await mkdtemp(join(tmpdir(), "scanstream-bench-"));
  const token = await backends.sign(0);
  const server = await startProcess({
    command: commandOf(variant),
    env: { ...backends.environment, HOST: "127.0.0.1", PORT: "0", DRAIN_DELAY_SECONDS: "0", ...env },
    cwd: folder,
    until: /listens on http:\/\/127\.0\.0\.1:(\d+)/,
  });
  return {
    name: `gateway (${variant})`,
    host: "127.0.0.1",
    port: Number(server.match[1]),
    path: (channels) => (channels === 1 ? streamPath("000000000000") : streamPath()),
    headers: [`Authorization: Bearer ${token}`],
    process: server,
    publish: (publishOptions) => backends.publish(publishOptions),
    async stop() {
      await server.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function commandOf(variant: GatewayVariant): readonly string[] {
  const node = [process.execPath];
  const serve = [...node, join(root, "scanstream.ts"), "serve"];
  const portable = join(import.meta.dirname, "portable_main.ts");
  const commands: Readonly<Record<GatewayVariant, readonly string[]>> = {
    node: serve,
    "node, 2 processes": [...serve, "--processes", "2"],
    "node, 6 processes": [...serve, "--processes", "6"],
    "node, portable sink": [...node, portable],
    deno: [denoProgram(), "run", "-A", join(root, "gateway/runtime/main_deno.ts")],
    "deno, portable sink": [denoProgram(), "run", "-A", portable],
  };
  return commands[variant];
}
