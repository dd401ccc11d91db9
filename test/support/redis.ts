import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { Redis } from "ioredis";
import { freePort } from "./free_port.ts";
import { requireProgram } from "./machine_tools.ts";
import { untilLine } from "./until_line.ts";

export type RedisServer = Awaited<ReturnType<typeof startRedis>>;

export interface RedisServerOptions {
  readonly password?: string;
  /** Read first, and written by a sentinel. */
  readonly configFile?: string;
  /** More of `redis.conf`, for example `["--databases", "4"]`. */
  readonly args?: readonly string[];
}

/**
 * Becomes the server, and leaves beside it a shell that ends it when this process is gone: a test run that was
 * killed leaves no server behind.
 */
const endsWithUs = 'exec 3<&0; (read -r _ <&3 || kill -KILL $$) >/dev/null 2>&1 & exec "$@" 3<&- </dev/null';

/** A real Redis of this machine, on a free loopback port, which keeps nothing on disk. Throws one error that says what to install. */
export async function startRedis(options: RedisServerOptions = {}) {
  const binary = await requireProgram("redis-server");
  const password = options.password ?? null;
  const host = "127.0.0.1";
  const { child, port } = await launchOnFreePort();

  const inspector = new Redis({ host, port, ...(password === null ? {} : { password }), lazyConnect: true });
  inspector.on("error", () => undefined);

  return {
    host,
    port,
    password,
    /** With the password. */
    url: `redis://${password === null ? "" : `:${encodeURIComponent(password)}@`}${host}:${port}`,
    /** Sends one command on a new connection, to see the server from outside. */
    command: (name: string, ...args: readonly (string | number)[]): Promise<unknown> => inspector.call(name, ...args),
    /** Kills the process, a frozen one too. */
    async stop() {
      inspector.disconnect();
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exited = once(child, "exit");
      child.kill("SIGKILL");
      await exited;
    },
    /** `SIGSTOP` and `SIGCONT`: the connections stay, and nothing is answered. */
    freeze: () => void child.kill("SIGSTOP"),
    thaw: () => void child.kill("SIGCONT"),
  };

  /** Another process may take the port between the question and the start. */
  async function launchOnFreePort() {
    for (let attempt = 0; attempt < 5; attempt += 1) {
      const port = await freePort();
      try {
        return { child: await launch(port), port };
      } catch (error) {
        if (!String(error).includes("in use")) throw error;
      }
    }
    throw new Error("Cannot start redis-server: every port was taken");
  }

  async function launch(port: number): Promise<ChildProcess> {
    const file = options.configFile === undefined ? [] : [options.configFile];
    const keepNothing = options.configFile === undefined ? ["--save", "", "--appendonly", "no"] : [];
    const args = [...file, "--port", port, "--bind", host, ...keepNothing, "--dir", tmpdir()];
    if (password !== null) args.push("--requirepass", password);
    const command = [binary, ...args.map(String), ...(options.args ?? [])];
    const launched = spawn("/bin/sh", ["-c", endsWithUs, "sh", ...command], { stdio: ["pipe", "pipe", "inherit"] });
    // A line says that it ended by itself, and that another process may have its id by now.
    launched.once("exit", () => launched.stdin.end("\n"));
    launched.stdin.on("error", () => undefined);
    await untilLine(launched.stdout, /Ready to accept connections|Sentinel ID is/);
    return launched;
  }
}
