import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { wranglerEnvironment, wranglerProgram } from "./runtime_programs.ts";

const root = join(import.meta.dirname, "../..");

/** `wrangler dev` over `wrangler.toml` as it is, on loopback. */
export interface WranglerDev {
  /** Without a slash at its end. */
  readonly url: string;
  /** Of wrangler, whose children are the runtime. */
  readonly pid: number;
  /** Everything that wrangler and the runtime said. */
  readonly output: () => string;
  /** Resolves when the process ends by itself. */
  readonly exited: Promise<void>;
  stop(): Promise<void>;
}

export interface WranglerDevOptions {
  readonly environment: Readonly<Record<string, string>>;
  readonly port?: number;
  /** Receives what is said, as it comes. */
  readonly onOutput?: (text: string) => void;
}

export async function startWranglerDev(options: WranglerDevOptions): Promise<WranglerDev> {
  const directory = await mkdtemp(join(tmpdir(), "scanstream-wrangler-"));
  const environmentFile = join(directory, "variables");
  const lines = Object.entries(options.environment).map(([name, value]) => `${name}='${value}'`);
  await writeFile(environmentFile, lines.join("\n"), { mode: 0o600 });
  const args = ["dev", "--ip", "127.0.0.1", "--port", String(options.port ?? 0), "--inspector-port", "0"];
  args.push("--local", "--env-file", environmentFile, "--persist-to", join(directory, "state"), "--test-scheduled");
  args.push("--show-interactive-dev-session=false");
  const child = spawn(process.execPath, [wranglerProgram(), ...args], {
    cwd: root,
    env: wranglerEnvironment(directory),
    stdio: ["ignore", "pipe", "pipe"],
  });
  const exited = once(child, "exit").then(() => undefined);
  let said = "";
  const url = await new Promise<string>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text: string) => {
        said += text;
        options.onOutput?.(text);
        const ready = /Ready on (http:\/\/127\.0\.0\.1:\d+)/.exec(said)?.[1];
        if (ready !== undefined) resolve(ready);
      });
    }
    void exited.then(() => reject(new Error(`wrangler dev did not start:\n${said}`)));
  });
  return {
    url,
    pid: child.pid ?? 0,
    output: () => said,
    exited,
    async stop() {
      child.kill("SIGTERM");
      await exited;
      await rm(directory, { recursive: true, force: true });
    },
  };
}
