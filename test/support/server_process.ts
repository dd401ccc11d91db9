import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import packageJson from "../../package.json" with { type: "json" };
import { requestSharedService } from "./shared_services.ts";
import { denoProgram, wranglerEnvironment, wranglerProgram } from "./runtime_programs.ts";

/** A gateway on another runtime, in a process of its own. */
export interface ServerProcess {
  /** Without a slash at its end. */
  readonly url: string;
  /** Everything that was said. */
  readonly output: () => string;
  /** Resolves with the exit code. */
  readonly exited: Promise<number | null>;
  /** Sends SIGTERM, and resolves with the exit code. */
  stop(): Promise<number | null>;
}

export interface ServerProcessOptions {
  /** Default: the project's. */
  readonly cwd?: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Says that it listens; its group is the address. */
  readonly ready: RegExp;
  /** Receives what is said, as it comes. */
  readonly onOutput?: (text: string) => void;
}

/** Starts it. Rejects with everything that was said when it ends before it listens. */
export async function startServerProcess(
  [program = "", ...args]: readonly string[],
  { cwd = join(import.meta.dirname, "../.."), env, ready, onOutput }: ServerProcessOptions,
): Promise<ServerProcess> {
  const child = spawn(program, args, { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
  let said = "";
  const exited = once(child, "exit").then(([code]) => code as number | null);
  const url = await new Promise<string>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text: string) => {
        said += text;
        onOutput?.(text);
        const address = ready.exec(said)?.[1];
        if (address !== undefined) resolve(address);
      });
    }
    void exited.then((code) => reject(new Error(`The gateway ended with ${code} before it listened:\n${said}`)));
  });
  return {
    url,
    output: () => said,
    exited,
    stop() {
      child.kill();
      return exited;
    },
  };
}

/** The gateway on Deno, as `npm run start:deno` starts it, with the page. */
export async function startDenoGateway(environment: Readonly<Record<string, string>>): Promise<ServerProcess> {
  await requestSharedService("package");
  const [, args = ""] = packageJson.scripts["start:deno"].split(" && deno ");
  return startServerProcess([denoProgram(), ...args.split(" ")], {
    env: { PATH: process.env["PATH"], NO_COLOR: "1", PORT: "0", DRAIN_DELAY_SECONDS: "0", ...environment },
    ready: /The gateway listens on (http:\/\/\S+)/,
  });
}

export interface WranglerDevOptions extends Pick<ServerProcessOptions, "onOutput"> {
  readonly environment: Readonly<Record<string, string>>;
  readonly port?: number;
}

/** `wrangler dev` over `wrangler.toml` as it is, on loopback. */
export async function startWranglerDev(options: WranglerDevOptions): Promise<ServerProcess> {
  const { environment, port = 0, ...others } = options;
  const directory = await mkdtemp(join(tmpdir(), "scanstream-wrangler-"));
  const environmentFile = join(directory, "variables");
  const lines = Object.entries(environment).map(([name, value]) => `${name}='${value}'`);
  await writeFile(environmentFile, lines.join("\n"), { mode: 0o600 });
  const args = ["dev", "--ip", "127.0.0.1", "--port", String(port), "--inspector-port", "0"];
  args.push("--local", "--env-file", environmentFile, "--persist-to", join(directory, "state"), "--test-scheduled");
  args.push("--show-interactive-dev-session=false");
  const server = await startServerProcess([process.execPath, wranglerProgram(), ...args], {
    env: wranglerEnvironment(directory),
    ready: /Ready on (http:\/\/127\.0\.0\.1:\d+)/,
    ...others,
  });
  return {
    ...server,
    async stop() {
      const code = await server.stop();
      await rm(directory, { recursive: true, force: true });
      return code;
    },
  };
}
